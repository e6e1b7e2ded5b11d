"""`okld.describe`: ELF, PE and Mach-O files whose fields a YAML text fixes."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from pathlib import Path

import pytest

from okld.base.errors import FormatError, OkError, Unreadable
from okld.image.model import ProgramFile, Section, Segment
from okld.image.open import describe

ELF = """
--- !ELF
FileHeader: {Class: ELFCLASS32, Data: ELFDATA2MSB, Type: ET_DYN, Machine: EM_MIPS, Entry: 0x10010}
ProgramHeaders:
  - {Type: PT_INTERP, Flags: [PF_R], VAddr: 0x11000, FirstSec: .interp, LastSec: .interp}
  - {Type: PT_LOAD, Flags: [PF_R, PF_X], VAddr: 0x10000, FirstSec: .text, LastSec: .text}
  - {Type: PT_LOAD, Flags: [PF_R, PF_W], VAddr: 0x11000, FirstSec: .interp, LastSec: .note,
     MemSize: 0x800}
  - {Type: PT_NOTE, Flags: [PF_R], VAddr: 0x11020, FirstSec: .note, LastSec: .note}
Sections:
  - Name: .text
    Type: SHT_PROGBITS
    Flags: [SHF_ALLOC, SHF_EXECINSTR]
    Address: 0x10000
    AddressAlign: 0x1000
    Size: 0x20
  - Name: .interp
    Type: SHT_PROGBITS
    Flags: [SHF_ALLOC, SHF_WRITE]
    Address: 0x11000
    AddressAlign: 0x1000
    Content: "2f6c69622f6c642e736f00"
  - Name: .note
    Type: SHT_NOTE
    Flags: [SHF_ALLOC]
    Address: 0x11020
    AddressAlign: 0x20
    Notes: [{Name: GNU, Desc: 00112233445566778899aabbccddeeff00112233, Type: 3}]
"""

PE = """
--- !COFF
OptionalHeader:
  AddressOfEntryPoint: 4100
  ImageBase: 5368709120
  SectionAlignment: 4096
  FileAlignment: 512
  MajorOperatingSystemVersion: 6
  MinorOperatingSystemVersion: 0
  MajorImageVersion: 0
  MinorImageVersion: 0
  MajorSubsystemVersion: 6
  MinorSubsystemVersion: 0
  Subsystem: IMAGE_SUBSYSTEM_WINDOWS_CUI
  DLLCharacteristics: [ ]
  SizeOfStackReserve: 1048576
  SizeOfStackCommit: 4096
  SizeOfHeapReserve: 1048576
  SizeOfHeapCommit: 4096
header:
  Machine: IMAGE_FILE_MACHINE_ARM64
  Characteristics: [ IMAGE_FILE_EXECUTABLE_IMAGE, IMAGE_FILE_LARGE_ADDRESS_AWARE ]
sections:
  - Name: .text
    Characteristics: [ IMAGE_SCN_CNT_CODE, IMAGE_SCN_MEM_EXECUTE, IMAGE_SCN_MEM_READ ]
    VirtualAddress: 4096
    VirtualSize: 16
    SectionData: 'C0035FD6C0035FD6'
symbols: []
"""

MACHO = """
--- !mach-o
FileHeader:
  magic: 0xFEEDFACF
  cputype: 0x0100000C
  cpusubtype: 0x00000000
  filetype: 0x00000002
  ncmds: 5
  sizeofcmds: 288
  flags: 0x00200085
  reserved: 0x00000000
LoadCommands:
  - cmd: LC_SEGMENT_64
    cmdsize: 152
    segname: __TEXT
    vmaddr: 4294967296
    vmsize: 16384
    fileoff: 0
    filesize: 16384
    maxprot: 5
    initprot: 5
    nsects: 1
    flags: 0
    Sections:
      - sectname: __text
        segname: __TEXT
        addr: 0x0000000100003F00
        size: 8
        offset: 0x00003F00
        align: 2
        reloff: 0x00000000
        nreloc: 0
        flags: 0x80000400
        reserved1: 0x00000000
        reserved2: 0x00000000
        reserved3: 0x00000000
        content: C0035FD6C0035FD6
  - cmd: LC_UUID
    cmdsize: 24
    uuid: 00112233-4455-6677-8899-AABBCCDDEEFF
  - cmd: LC_MAIN
    cmdsize: 24
    entryoff: 16128
    stacksize: 0
  - cmd: LC_LOAD_DYLINKER
    cmdsize: 32
    name: 12
    Content: '/usr/lib/dyld'
    ZeroPadBytes: 7
  - cmd: LC_LOAD_DYLIB
    cmdsize: 56
    dylib:
      name: 24
      timestamp: 2
      current_version: 85917696
      compatibility_version: 65536
    Content: '/usr/lib/libSystem.B.dylib'
    ZeroPadBytes: 6
"""

MACHO_CODE = Segment(
    name="__TEXT",
    type="LC_SEGMENT_64",
    offset=0,
    vaddr=0x100000000,
    filesz=0x4000,
    memsz=0x4000,
    flags="r-x",
)
MACHO_WANT = ProgramFile(
    format="mach-o",
    arch="aarch64",
    bits=64,
    byte_order="little",
    type="MH_EXECUTE",
    entry=0x3F00,
    segments=(MACHO_CODE,),
    sections=(Section(name="__TEXT,__text", offset=0x3F00, vaddr=0x100003F00, size=8),),
    needed=("/usr/lib/libSystem.B.dylib",),
    build_id="00112233445566778899aabbccddeeff",
    interpreter="/usr/lib/dyld",
)


def made(directory: Path, text: str) -> Path:
    path = directory / "made"
    subprocess.run(["yaml2obj", "-o", path, "-"], input=text.encode(), check=True)
    return path


@pytest.mark.spec("CLI-4")
def test_a_big_endian_elf_file_of_32_bits(tmp_path):
    """Every field is what the YAML says."""
    path = made(tmp_path, ELF)
    got = describe(path)
    code, data = got.segments[1:3]
    assert (got.format, got.arch, got.bits, got.byte_order) == ("elf", "mips", 32, "big")
    assert (got.type, got.entry, got.interpreter) == ("ET_DYN", 0x10010, "/lib/ld.so")
    assert got.build_id == "00112233445566778899aabbccddeeff00112233"
    assert [s.type for s in got.segments] == ["PT_INTERP", "PT_LOAD", "PT_LOAD", "PT_NOTE"]
    assert (code.vaddr, code.filesz, code.memsz, code.flags) == (0x10000, 0x20, 0x20, "r-x")
    assert (data.vaddr, data.memsz, data.flags) == (0x11000, 0x800, "rw-")
    assert [(s.name, s.vaddr, s.size) for s in got.sections if s.name == ".text"] == [
        (".text", 0x10000, 0x20)
    ]


@pytest.mark.spec("CLI-4")
def test_a_pe_file(tmp_path):
    """Every field is what the YAML says; the file's alignment makes 512 of 8 bytes."""
    text = Segment(
        name=".text",
        type="IMAGE_SECTION_HEADER",
        offset=0x200,
        vaddr=0x1000,
        filesz=0x200,
        memsz=0x10,
        flags="r-x",
    )
    assert describe(made(tmp_path, PE)) == ProgramFile(
        format="pe",
        arch="aarch64",
        bits=64,
        byte_order="little",
        type="EXE",
        entry=0x1004,
        segments=(text,),
        sections=(Section(name=".text", offset=0x200, vaddr=0x1000, size=0x200),),
    )


@pytest.mark.spec("CLI-4")
def test_a_macho_file(tmp_path):
    """Every field is what the YAML says."""
    assert describe(made(tmp_path, MACHO)) == MACHO_WANT


def fat(slices: list[bytes], wide: bool) -> bytes:
    """Return a fat file of *slices*, with a table of 64-bit offsets if *wide*."""
    data = struct.pack(">II", 0xCAFEBABF if wide else 0xCAFEBABE, len(slices)).ljust(0x4000, b"\0")
    for number, part in enumerate(slices):
        cpu = struct.unpack_from("<II", part, 4)
        row = struct.pack(
            ">IIQQII" if wide else ">IIIII", *cpu, len(data), len(part), 14, *[0] * wide
        )
        at = 8 + len(row) * number
        data = data[:at] + row + data[at + len(row) :]
        data += part.ljust(0x8000, b"\0")
    return data


@pytest.mark.spec("CLI-4")
@pytest.mark.parametrize("wide", [False, True])
def test_a_fat_file_has_every_slice(tmp_path, wide):
    """In the file's order, each with its own processor."""
    other = MACHO.replace("cputype: 0x0100000C", "cputype: 0x01000007")
    slices = [made(tmp_path, text).read_bytes() for text in (MACHO, other)]
    path = tmp_path / "fat"
    path.write_bytes(fat(slices, wide))
    got = describe(path)
    assert (got.format, got.arch, got.segments) == ("mach-o-fat", None, ())
    assert [part.arch for part in got.slices] == ["aarch64", "x86_64"]
    assert got.slices[0] == MACHO_WANT


@pytest.mark.spec("CLI-4", "ERR-1")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"#!/bin/sh\n", id="script"),
        pytest.param(b"\x7fELF", id="magic-only"),
        pytest.param(b"MZ" + bytes(62), id="dos"),
        pytest.param(bytes.fromhex("cafebabe0000003d"), id="java-class"),
        pytest.param(bytes.fromhex("cffaedfe"), id="macho-magic-only"),
    ],
)
def test_other_bytes_are_refused(tmp_path, data):
    """By the clause, with what was found."""
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises(FormatError) as refusal:
        describe(path)
    assert refusal.value.rule == "CLI-4"


@pytest.mark.spec("ERR-1")
@pytest.mark.parametrize("text", [ELF, PE, MACHO], ids=["elf", "pe", "mach-o"])
def test_mutants_are_described_or_refused_in_silence(tmp_path, capfd, text):
    """No foreign exception, and not a word from the library that reads them."""
    path = made(tmp_path, text)
    good = path.read_bytes()
    chance = random.Random(1)
    for _ in range(400):
        data = bytearray(good)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(min(len(data), 0x400))] = chance.choice((0, 1, 0x7F, 0xFF))
        path.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.1 else data)
        rule = "CLI-4"
        try:
            describe(path)
        except OkError as error:
            rule = error.rule
        assert rule == "CLI-4"
    assert capfd.readouterr() == ("", "")


@pytest.mark.spec("CLI-1")
def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    """A FIFO, a directory, a device and a name that is not there are unreadable at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, "/dev/zero", tmp_path / "absent", "nul\0"):
        with pytest.raises(Unreadable):
            describe(path)
