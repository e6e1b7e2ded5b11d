"""Tables of abbreviations, and how a walk gets over most entries without looking at them.

Most entries of a unit are of no interest: `Abbrevs.steps` and `Abbrevs.hops` lead past them by a
number or by what they state as their sibling.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_ABBREVIATION, MAX_ABBREVIATIONS
from okld.syms.dwarf.abbreviation import Abbrev
from okld.syms.dwarf.codes import BLOCKS, CODELESS, CODELESS_IN_C, SPACES
from okld.syms.dwarf.forms import IMPLICIT_CONST
from okld.syms.dwarf.leb import PAST_THE_END, RULE, uleb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.forms import Encoding
    from okld.syms.dwarf.source import Source

FIRST_READ = 1 << 11  # bytes of a table; half of them are shorter
DECLARATION = 12  # steps of work for one that is stepped over
KEPT = 1 << 16  # decoded abbreviations of one encoding; a kernel's thousands of units share 3,000


class Abbrevs:
    """
    The abbreviations of a unit, each decoded when it is met.

    Attributes:
        steps: For each one-byte number the length of the entry; 0: look closer.
        lengths: For each one-byte number the length of the entry alone; 0: look closer.
        variables: For each one-byte number what `Abbrev.one_variable` says of the entry, with the
            number counted; None: look closer.
        nests: For each one-byte number how much deeper the next entry is: 1, 0, or -1 where the
            number ends what hangs on an entry.
        far: The same three, for each known number of two bytes: lengths, variables, nests.
        hops: For each one-byte number where in the entry a sibling is stated that leads past all
            that hangs on it, where no code of its own, of a block's or a namespace's function can
            be among that; 0: look closer.
        inner_hops: The same, where no function at all can be among that.
        inner_hops_in_c: The same, in C.
    """

    __slots__ = (
        "_at",
        "_data",
        "_encoding",
        "_known",
        "_offset",
        "_raw",
        "_source",
        "far",
        "hops",
        "inner_hops",
        "inner_hops_in_c",
        "lengths",
        "nests",
        "steps",
        "variables",
    )

    def __init__(self, source: Source, offset: int, encoding: Encoding) -> None:
        """Stand before the table at *offset* of the abbreviations' section."""
        self._source = source
        self._offset = offset
        self._encoding = encoding
        self._data = b""
        self._at = 0  # where in the data the next declaration begins; -1: there is none
        self._raw: dict[int, bytes] = {}
        self._known: dict[int, Abbrev] = {}
        self.steps = [0] * 256
        self.lengths = [1] + [0] * 255
        self.nests = [-1] + [0] * 255
        self.variables: list[tuple[int, bool, int] | None] = [None] * 256
        self.far: dict[int, tuple[int, tuple[int, bool, int] | None, int]] = {}
        self.hops = [0] * 256
        self.inner_hops = [0] * 256
        self.inner_hops_in_c = [0] * 256

    def at(self, data: bytes, at: int) -> tuple[Abbrev, int]:
        """
        Return the abbreviation that the entry at *at* names, and where its values begin.

        Raises:
            FormatError: If the table has none of that number, or it cannot be decoded (LIN-1).
        """
        code = data[at]
        at += 1
        if code > 0x7F:
            code, at = uleb(data, at - 1)
        known = self._known.get(code)
        return (known or self._learn(code)), at

    def _learn(self, code: int) -> Abbrev:
        raw = self._raw.get(code)
        while raw is None:
            if not self._declare():
                raise FormatError(RULE, "number of an abbreviation", got=code)
            raw = self._raw.get(code)
        shared = self._encoding.abbrevs
        abbrev = shared.get(raw)
        if abbrev is None:
            self._source.spend(DECLARATION + len(raw))
            if len(shared) >= KEPT:
                shared.clear()
            abbrev = shared[raw] = Abbrev(raw, self._encoding)
        self._known[code] = abbrev
        width = 1 if code < 0x80 else 2
        length = width + abbrev.size if abbrev.size >= 0 else 0
        variable = None if length else abbrev.one_variable()
        if variable:
            variable = width + variable[0], *variable[1:]
        if width == 1:
            self.nests[code] = int(abbrev.children)
            self.lengths[code] = length
            self.variables[code] = variable
        elif code < 1 << 14:
            self.far[code] = length, variable, int(abbrev.children)
        plain = code < 0x80 and not abbrev.scope and abbrev.tag not in SPACES
        if plain and not abbrev.children and abbrev.size >= 0:
            self.steps[code] = 1 + abbrev.size
        elif plain and abbrev.sibling >= 0 and abbrev.tag not in BLOCKS:
            self.hops[code] = 1 + abbrev.sibling
            if abbrev.tag in CODELESS:
                self.inner_hops[code] = 1 + abbrev.sibling
            if abbrev.tag in CODELESS_IN_C:
                self.inner_hops_in_c[code] = 1 + abbrev.sibling
        return abbrev

    def _declare(self) -> bool:
        """Read one more declaration of the table; say whether there was one."""
        if self._at < 0:
            return False
        while True:
            try:
                code, raw, at = _declaration(self._data, self._at)
                break
            except PAST_THE_END:
                self._extend()
        self._source.spend(DECLARATION)
        if not code or len(self._raw) >= MAX_ABBREVIATIONS:
            self._at = -1
            return False
        self._raw.setdefault(code, raw)
        self._at = at
        return True

    def _extend(self) -> None:
        have = len(self._data)
        self._data = self._source.ahead("abbrev", self._offset, have * 8 or FIRST_READ)
        if len(self._data) == have:
            raise FormatError(RULE, "a table of abbreviations does not end", at=self._offset)


def _declaration(data: bytes, at: int) -> tuple[int, bytes, int]:
    """Return the number declared at *at* (0: the end), the rest of it, and where that ends."""
    code, at = uleb(data, at)
    if not code:
        return 0, b"", at
    start = at
    _, at = uleb(data, at)
    end = data.find(b"\0\0", at + 1)
    size = (end if end >= 0 else len(data)) - start
    if size > MAX_ABBREVIATION:
        raise FormatError("LIN-14", "an abbreviation", got=size, limit=MAX_ABBREVIATION)
    if end < 0 or not data[end + 2]:
        end = _end(data, at + 1)
    return code, data[start:end], end + 2


def _end(data: bytes, at: int) -> int:
    """Return where a declaration ends: its last value may be a constant that ends in 0."""
    while True:
        start = at
        attribute, at = uleb(data, at)
        form, at = uleb(data, at)
        if form == IMPLICIT_CONST:
            _, at = uleb(data, at)
        if not attribute and not form:
            return start
