"""An abbreviation: how the values of an entry are laid out.

Runs of values of fixed length are decoded by one `Struct`, which steps over those that nothing
asks for.
"""

from __future__ import annotations

from _struct import Struct

from okld.base.errors import FormatError
from okld.syms.dwarf.codes import (
    AT_ABSTRACT_ORIGIN,
    AT_HIGH_PC,
    AT_LOW_PC,
    AT_RANGES,
    AT_SIBLING,
    NAMING,
    SCOPES,
    WANTED,
)
from okld.syms.dwarf.forms import (
    ADDRESS,
    BLOCK,
    CONSTANT,
    DYNAMIC,
    IMPLICIT_CONST,
    INDIRECT,
    KINDS,
    LEB,
    PREFIXES,
    SLEB,
    TEXT,
    WIDTHS,
)
from okld.syms.dwarf.leb import RULE, sleb, uleb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from okld.syms.dwarf.forms import Encoding

    Values = dict[int, "int | bytes | tuple[int, int | bytes]"]
    Unpack = Callable[[bytes, int], tuple[int | bytes, ...]]
    Part = tuple[tuple[int, ...], Unpack, int, int, int]
    """Attributes of a run, what decodes it, its length; then how long what follows is, and which
    attribute that is; 0: none."""

REF4 = 0x13
ENTRY = 8  # steps of work for an entry, beside those for each variable value
SCOPE = 8  # and for its addresses


class Abbrev:
    """
    One abbreviation.

    Attributes:
        tag: What kind of entry it is.
        children: Whether entries hang on it.
        cost: Steps of work to get over its values or to read them.
        forms: Attribute to form, of the attributes of `codes.WANTED`.
        scope: Whether it can have code and states addresses.
        low_and_size: Whether that is a lowest address, and how many bytes from there on.
        nameless: Whether it is an instance of another entry, and states no name of its own.
        size: Bytes of its values, where all lengths are fixed; else -1.
        sibling: Where among its values a four-byte sibling reference is; -1: nowhere fixed.
    """

    __slots__ = (
        "_constants",
        "_encoding",
        "_fields",
        "_parts",
        "_skips",
        "children",
        "cost",
        "forms",
        "low_and_size",
        "nameless",
        "scope",
        "sibling",
        "size",
        "tag",
    )

    def __init__(self, raw: bytes, encoding: Encoding) -> None:
        """
        Decode the abbreviation whose tag, children flag and attributes are in *raw*.

        Raises:
            FormatError: If a form is unknown (LIN-1).
        """
        self._encoding = encoding
        self.tag, at = uleb(raw, 0)
        self.children = raw[at] != 0
        self.forms: dict[int, int] = {}
        self.sibling = -1
        self._constants: Values = {}
        self._parts: list[Part] = []
        self.cost = ENTRY
        self._lay_out(raw, at + 1)
        forms = self.forms
        low, high = forms.get(AT_LOW_PC, 0), forms.get(AT_HIGH_PC, 0)
        self.scope = self.tag in SCOPES and (AT_RANGES in forms or bool(low and high))
        if self.scope:
            self.cost += SCOPE
        self.low_and_size = (
            KINDS[low] == ADDRESS and KINDS[high] == CONSTANT and AT_RANGES not in forms
        )
        self.nameless = AT_ABSTRACT_ORIGIN in forms and not forms.keys() & NAMING

    def _lay_out(self, raw: bytes, at: int) -> None:
        """Find out how long everything is; `_prepare` does the rest when values are asked for."""
        layout_of = self._encoding.layout
        fields: list[tuple[int, str | int]] = []
        skips: list[int] = []
        run = 0
        while at < len(raw):
            attribute, form = raw[at], raw[at + 1]
            at += 2
            if attribute > 0x7F or form > 0x7F:
                attribute, at = uleb(raw, at - 2)
                form, at = uleb(raw, at)
            wanted = attribute in WANTED
            if wanted:
                self.forms[attribute] = form
            if form == IMPLICIT_CONST:
                value, at = sleb(raw, at)
                if wanted:
                    self._constants[attribute] = value
                continue
            layout = layout_of(form)
            fields.append((attribute if wanted else 0, layout))
            if isinstance(layout, int):
                skips += (run, layout) if run else (layout,)
                run = 0
                continue
            if attribute == AT_SIBLING and form == REF4 and not skips:
                self.sibling = run
            run += WIDTHS[layout]
        self.size = -1 if skips else run
        self._skips = (*skips, run)
        self.cost += len(skips)
        self._fields = fields

    def _prepare(self) -> list[Part]:
        """Return the fields by runs of fixed length, each with the variable one behind it."""
        parts: list[Part] = []
        letters, size = self._encoding.order, 0
        keys: list[int] = []
        for key, layout in (*self._fields, (0, 0)):
            if isinstance(layout, int):
                parts.append((tuple(keys), Struct(letters).unpack_from, size, layout, key))
                letters, size, keys = self._encoding.order, 0, []
                continue
            width = WIDTHS[layout]
            size += width
            if key and width:
                letters += layout
                keys.append(key)
            elif key:
                self._constants[key] = 1
            else:
                letters += "x" * width
        self._parts = parts
        return parts

    def one_variable(self) -> tuple[int, bool, int] | None:
        """
        Return the bytes of values before the only variable one, whether that is a block (else a
        LEB128 number), and the bytes behind it; None where that is not what the values are like.
        """
        skips = self._skips
        before, kind = (0, skips[0]) if len(skips) == 2 else skips[:2]
        if len(skips) > 3 or before < 0 or kind not in (LEB, BLOCK):
            return None
        return before, kind == BLOCK, skips[-1]

    def read(self, data: bytes, at: int) -> tuple[Values, int]:
        """Return the wanted values at *at*, behind the entry's number, and where they end."""
        values: Values = {}
        for keys, unpack, size, layout, key in self._parts or self._prepare():
            if keys:
                values.update(zip(keys, unpack(data, at), strict=True))
            at += size
            if key:
                values[key], at = self._value(layout, data, at)
            elif layout:
                at = self._past(layout, data, at)
        if self._constants:
            values.update(self._constants)
        return values, at

    def typed(self, values: Values, attribute: int) -> tuple[int, int]:
        """Return a value's kind, of `forms`, and its number; kind 0 where there is none."""
        raw = values.get(attribute)
        if raw is None:
            return 0, 0
        form = self.forms[attribute]
        if isinstance(raw, tuple):
            form, raw = raw
        if isinstance(raw, bytes):
            raw = int.from_bytes(raw, "little" if self._encoding.order == "<" else "big")
        return KINDS[form], raw

    def skip(self, data: bytes, at: int) -> int:
        """Return where the values that begin at *at* end."""
        if self.size >= 0:
            return at + self.size
        for step in self._skips:
            if step >= 0:
                at += step
            elif step == LEB:
                if data[at] < 0x80:
                    at += 1
                elif data[at + 1] < 0x80:
                    at += 2
                else:
                    at = uleb(data, at)[1]
            elif step == BLOCK and data[at] < 0x80:
                at += 1 + data[at]
            else:
                at = self._past(step, data, at)
        return at

    def _past(self, layout: int, data: bytes, at: int) -> int:
        if layout in (LEB, SLEB):
            return uleb(data, at)[1]
        if layout == TEXT:
            end = data.find(b"\0", at)
            if end < 0:
                raise IndexError  # as whatever else ends past what was read: there may be more
            return end + 1
        if layout == DYNAMIC:
            return self._value(layout, data, at)[1]
        if layout == BLOCK:
            size, at = uleb(data, at)
            return at + size
        prefix = Struct(self._encoding.order + PREFIXES[layout])
        return at + prefix.size + int(prefix.unpack_from(data, at)[0])

    def _value(
        self, layout: int, data: bytes, at: int
    ) -> tuple[int | bytes | tuple[int, int | bytes], int]:
        """Return a variable value: a number; where a string begins; or with the form it has."""
        if layout == LEB:
            return uleb(data, at)
        if layout == SLEB:
            return sleb(data, at)
        if layout != DYNAMIC:
            return at, self._past(layout, data, at)
        form, at = uleb(data, at)
        if form in (INDIRECT, IMPLICIT_CONST):
            raise FormatError(RULE, "form of an attribute", got=form)
        inner = self._encoding.layout(form)
        if isinstance(inner, str):
            unpacked = Struct(self._encoding.order + inner).unpack_from(data, at)
            return (form, unpacked[0] if unpacked else 1), at + WIDTHS[inner]
        value, end = self._value(inner, data, at)
        assert not isinstance(value, tuple)
        return (form, value), end
