"""The fields of an ELF64 image by their gABI names, to read and to change.

Broken images are made of good ones with it.

It knows nothing of okld, and trusts the image: it is only ever given good ones.
"""

from __future__ import annotations

import struct
from types import SimpleNamespace

PT = {
    "NULL": 0,
    "LOAD": 1,
    "DYNAMIC": 2,
    "INTERP": 3,
    "NOTE": 4,
    "SHLIB": 5,
    "PHDR": 6,
    "TLS": 7,
    "GNU_EH_FRAME": 0x6474E550,
    "GNU_STACK": 0x6474E551,
    "GNU_RELRO": 0x6474E552,
    "GNU_PROPERTY": 0x6474E553,
    "AARCH64_MEMTAG_MTE": 0x70000002,
    "RISCV_ATTRIBUTES": 0x70000003,
}
DT = {
    "NULL": 0,
    "NEEDED": 1,
    "PLTRELSZ": 2,
    "PLTGOT": 3,
    "HASH": 4,
    "STRTAB": 5,
    "SYMTAB": 6,
    "RELA": 7,
    "RELASZ": 8,
    "RELAENT": 9,
    "STRSZ": 10,
    "SYMENT": 11,
    "INIT": 12,
    "FINI": 13,
    "SONAME": 14,
    "RPATH": 15,
    "SYMBOLIC": 16,
    "REL": 17,
    "PLTREL": 20,
    "DEBUG": 21,
    "TEXTREL": 22,
    "JMPREL": 23,
    "BIND_NOW": 24,
    "INIT_ARRAY": 25,
    "FINI_ARRAY": 26,
    "INIT_ARRAYSZ": 27,
    "FINI_ARRAYSZ": 28,
    "RUNPATH": 29,
    "FLAGS": 30,
    "PREINIT_ARRAY": 32,
    "RELRSZ": 35,
    "RELR": 36,
    "RELRENT": 37,
    "GNU_HASH": 0x6FFFFEF5,
    "DEPAUDIT": 0x6FFFFEFB,
    "AUDIT": 0x6FFFFEFC,
    "VERSYM": 0x6FFFFFF0,
    "RELACOUNT": 0x6FFFFFF9,
    "FLAGS_1": 0x6FFFFFFB,
    "VERDEF": 0x6FFFFFFC,
    "VERNEED": 0x6FFFFFFE,
    "AUXILIARY": 0x7FFFFFFD,
    "FILTER": 0x7FFFFFFF,
}
R = {
    62: {"NONE": 0, "ABSOLUTE": 1, "COPY": 5, "RELATIVE": 8, "IRELATIVE": 37, "TPOFF": 18},
    183: {
        "NONE": 0,
        "ABSOLUTE": 257,
        "COPY": 1024,
        "RELATIVE": 1027,
        "IRELATIVE": 1032,
        "TPOFF": 1030,
    },
    243: {"NONE": 0, "ABSOLUTE": 2, "COPY": 4, "RELATIVE": 3, "IRELATIVE": 58, "TPOFF": 11},
}
NUMBERS = {
    **{f"PT_{name}": value for name, value in PT.items()},
    **{f"DT_{name}": value for name, value in DT.items()},
    "PF_X": 1,
    "PF_W": 2,
    "PF_R": 4,
    "SHN_ABS": 0xFFF1,
    "SHN_COMMON": 0xFFF2,
    "SHT_PROGBITS": 1,
    "PAGE": 0x10000,
    "STB_LOCAL": 0,
    "STB_GLOBAL": 1,
    "STB_WEAK": 2,
    "STB_GNU_UNIQUE": 10,
    "STT_OBJECT": 1,
    "STT_FUNC": 2,
    "STT_SECTION": 3,
    "STT_FILE": 4,
    "STT_COMMON": 5,
    "STT_TLS": 6,
    "STT_GNU_IFUNC": 10,
    "DF_ORIGIN": 1,
    "DF_SYMBOLIC": 2,
    "DF_TEXTREL": 4,
    "DF_BIND_NOW": 8,
    "DF_STATIC_TLS": 16,
    "DF_1_NOW": 1,
    "DF_1_GLOBAL": 2,
    "DF_1_NODELETE": 8,
    "DF_1_ORIGIN": 128,
    "DF_1_PIE": 0x8000000,
}


def _layout(fields: str) -> dict[str, tuple[str, int]]:
    """Return struct code and offset by name, of fields written "name:code name:code ..."."""
    layout, offset = {}, 0
    for field in fields.split():
        name, code = field.split(":")
        layout[name] = (code, offset)
        offset += struct.calcsize("<" + code)
    return layout


EHDR = _layout(
    "ei_mag:I ei_class:B ei_data:B ei_version:B ei_osabi:B ei_abiversion:B ei_pad:B ei_pad2:I "
    "ei_pad6:H e_type:H e_machine:H e_version:I e_entry:Q e_phoff:Q e_shoff:Q e_flags:I e_ehsize:H "
    "e_phentsize:H e_phnum:H e_shentsize:H e_shnum:H e_shstrndx:H"
)
PHDR = _layout("p_type:I p_flags:I p_offset:Q p_vaddr:Q p_paddr:Q p_filesz:Q p_memsz:Q p_align:Q")
SHDR = _layout(
    "sh_name:I sh_type:I sh_flags:Q sh_addr:Q sh_offset:Q sh_size:Q sh_link:I sh_info:I "
    "sh_addralign:Q sh_entsize:Q"
)
DYN = _layout("d_tag:Q d_val:Q")
SYM = _layout("st_name:I st_info:B st_other:B st_shndx:H st_value:Q st_size:Q")
RELA = _layout("r_offset:Q r_type:I r_sym:I r_addend:q")
WORD = _layout("value:Q")
HASH = _layout("nbucket:I nchain:I")
GNU_HASH = _layout("nbuckets:I symoffset:I bloom_size:I bloom_shift:I")
NOTE = _layout("n_namesz:I n_descsz:I n_type:I")


class Record:
    """One structure at one place: its fields are attributes, *at* is its file offset."""

    def __init__(self, data: bytearray, layout: dict[str, tuple[str, int]], at: int) -> None:
        self.__dict__.update(data=data, layout=layout, at=at)

    def __getattr__(self, name: str) -> int:
        code, offset = self.layout[name]
        return struct.unpack_from("<" + code, self.data, self.at + offset)[0]

    def __setattr__(self, name: str, value: int) -> None:
        code, offset = self.layout[name]
        value &= (1 << 8 * struct.calcsize("<" + code)) - 1
        struct.pack_into("<" + code.upper(), self.data, self.at + offset, value)


class Fields:
    """
    The structures of an image: ehdr, load, code, sym, rela, jmprel, relr, gnu_hash, and so on.

    Those of which there are several are lists; phdr and dyn have them by name, as phdr.NOTE.
    """

    def __init__(self, image: bytes) -> None:
        self.data = data = bytearray(image)
        self.ehdr = e = Record(data, EHDR, 0)
        self.segments = self._table(PHDR, e.e_phoff, e.e_phnum)
        self.phdr = self._named(self.segments, "p_type", PT)
        self.load = [p for p in self.segments if p.p_type == PT["LOAD"]]
        self.code = next(p for p in self.load if p.p_flags & 1)
        self.writable = [p for p in self.load if p.p_flags & 2]
        self.shdr = self._table(SHDR, e.e_shoff, e.e_shnum)
        self.symtab = next((s for s in self.shdr if s.sh_type == 2), None)
        dynamic = self.phdr.DYNAMIC
        self.dynamic = self._table(DYN, dynamic.p_offset, dynamic.p_filesz // 16)
        self.dyn = self._named(self.dynamic, "d_tag", DT)
        self._tables()
        self.note = self._notes()
        self.R = SimpleNamespace(**R[e.e_machine])

    def _table(self, layout: dict[str, tuple[str, int]], at: int, count: int) -> list[Record]:
        code, offset = list(layout.values())[-1]
        size = offset + struct.calcsize("<" + code)
        return [Record(self.data, layout, at + size * i) for i in range(count)]

    @staticmethod
    def _named(records: list[Record], field: str, names: dict[str, int]) -> SimpleNamespace:
        by_number = {}
        for record in records:
            by_number.setdefault(getattr(record, field), record)
        return SimpleNamespace(**{n: by_number[v] for n, v in names.items() if v in by_number})

    def offset(self, address: int) -> int:
        """Return where the file has the byte that is linked to go to *address*."""
        for p in self.load:
            if p.p_vaddr <= address < p.p_vaddr + p.p_filesz:
                return p.p_offset + address - p.p_vaddr
        raise ValueError(hex(address))

    def _tagged(
        self, layout: dict[str, tuple[str, int]], address: str, size: str, each: int
    ) -> list[Record]:
        if not hasattr(self.dyn, address) or not getattr(self.dyn, size).d_val:
            return []
        at = self.offset(getattr(self.dyn, address).d_val)
        return self._table(layout, at, getattr(self.dyn, size).d_val // each)

    def _tables(self) -> None:
        self.strtab = self.offset(self.dyn.STRTAB.d_val)
        self.rela = self._tagged(RELA, "RELA", "RELASZ", 24)
        self.jmprel = self._tagged(RELA, "JMPREL", "PLTRELSZ", 24)
        self.relr = self._tagged(WORD, "RELR", "RELRSZ", 8)
        self.init_array = self._tagged(WORD, "INIT_ARRAY", "INIT_ARRAYSZ", 8)
        self.fini_array = self._tagged(WORD, "FINI_ARRAY", "FINI_ARRAYSZ", 8)
        if hasattr(self.dyn, "HASH"):
            self.hash = Record(self.data, HASH, self.offset(self.dyn.HASH.d_val))
        if hasattr(self.dyn, "GNU_HASH"):
            self.gnu_hash = Record(self.data, GNU_HASH, self.offset(self.dyn.GNU_HASH.d_val))
        count = next(s.sh_size // 24 for s in self.shdr if s.sh_type == 11)
        self.sym = self._table(SYM, self.offset(self.dyn.SYMTAB.d_val), count)

    def _notes(self) -> list[Record]:
        notes = []
        for p in self.segments:
            at = p.p_offset
            while p.p_type == PT["NOTE"] and at < p.p_offset + p.p_filesz:
                note = Record(self.data, NOTE, at)
                notes.append(note)
                align = 8 if p.p_align == 8 else 4
                at += -(-(12 + note.n_namesz) // align) * align
                at += -(-note.n_descsz // align) * align
        return notes

    def name(self, symbol: Record) -> str:
        """Return the name of a dynamic *symbol*."""
        start = self.strtab + symbol.st_name
        return self.data[start : self.data.index(0, start)].decode()

    def symbol(self, name: str) -> Record:
        """Return the dynamic symbol called *name*."""
        return next(s for s in self.sym if self.name(s) == name)

    def u32(self, at: int) -> Record:
        """Return the 32-bit word at file offset *at*, as .value."""
        return Record(self.data, {"value": ("I", 0)}, at)

    def u64(self, at: int) -> Record:
        """Return the 64-bit word at file offset *at*, as .value."""
        return Record(self.data, WORD, at)

    def u32_set(self, at: int, value: int) -> None:
        """Set the 32-bit word at file offset *at*."""
        self.u32(at).value = value

    def u64_set(self, at: int, value: int) -> None:
        """Set the 64-bit word at file offset *at*."""
        self.u64(at).value = value

    def cut(self, size: int) -> None:
        """Cut the image to its first *size* bytes."""
        del self.data[size:]

    def edit(self, statements: str) -> bytes:
        """
        Return the image after the Python *statements*.

        The attributes of this object and the standards' numbers are names in them.
        """
        names = {name: getattr(self, name) for name in dir(self) if not name.startswith("_")}
        exec(statements, {**NUMBERS, **names})
        return bytes(self.data)
