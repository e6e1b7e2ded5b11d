"""Cells as the kernel reads them; cells.c does what is said."""

import subprocess

import pytest


@pytest.mark.spec("RI-2")
def test_cells_that_are_gone_are_never_waited_for(build):
    """However many are gone, and however often, what reads them goes on, and reads the others."""
    subprocess.run(build("cells.c", "cells"), check=True, timeout=60)
