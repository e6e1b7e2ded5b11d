"""Memory of the native host: code, mapped files, reserved addresses."""

import subprocess

import pytest


@pytest.mark.spec("EXEC-1", "EXEC-2", "EXEC-3", "EXEC-4")
def test_code_is_never_writable(build):
    """What is published runs and cannot be written; nothing but a region of code is published."""
    subprocess.run(build("kal_exec.c", "kal/exec", "kal/ranges"), check=True)


@pytest.mark.spec("MAP-1", "MAP-2", "MAP-3", "MAP-4")
def test_a_mapping_is_the_files_bytes(build):
    """Changes go where the access says, and nothing that the file does not have is mapped."""
    subprocess.run(build("kal_map.c", "kal/map", "kal/ranges", "kal/handle"), check=True)


@pytest.mark.spec("REG-1", "REG-2", "REG-3", "REG-4")
def test_addresses_come_before_memory(build):
    """What is committed reads 0 and is memory, what is not faults, to the page."""
    subprocess.run(build("kal_region.c", "kal/region", "kal/ranges"), check=True)
