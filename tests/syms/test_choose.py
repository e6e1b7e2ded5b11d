"""The rules of choice, on symbols that exist nowhere else."""

from __future__ import annotations

import pytest

from okld.syms.choose import Symbol, choose

LOCAL, GLOBAL, WEAK = 0x00, 0x10, 0x20
NOTYPE, OBJECT, FUNC, TLS, IFUNC = 0, 1, 2, 6, 10
TEXT, UNDEF, ABS, COMMON, XINDEX = 1, 0, 0xFFF1, 0xFFF2, 0xFFFF


def symbols(*rows: tuple[str, int, int, int], section: int = TEXT) -> list[Symbol]:
    return [
        Symbol(index=i, name=name, value=value, size=size, info=info, section=section)
        for i, (name, value, size, info) in enumerate(rows, 1)
    ]


def names(address: int, rows: list[Symbol], limit: int = 1 << 64) -> list[str]:
    return [symbol.name for symbol in choose(address, rows, lambda _: limit)]


@pytest.mark.spec("SYM-2")
@pytest.mark.parametrize("section", [UNDEF, ABS, COMMON])
def test_a_symbol_outside_every_section_is_no_answer(section):
    """An undefined, absolute or common symbol is none, though its value fits."""
    assert names(0x10, symbols(("f", 0x10, 4, FUNC), section=section)) == []


@pytest.mark.spec("SYM-2")
@pytest.mark.parametrize("section", [TEXT, 0xFEFF, XINDEX])
def test_a_symbol_in_a_section_is_an_answer(section):
    """So it is for every index below the reserved ones, and for one that is kept elsewhere."""
    assert names(0x10, symbols(("f", 0x10, 4, FUNC), section=section)) == ["f"]


@pytest.mark.spec("SYM-2")
@pytest.mark.parametrize("info", [TLS, 3, 4, 5, 13])
def test_a_type_that_has_no_address_is_no_answer(info):
    """The value of a thread-local symbol is an offset; a section or file names no place."""
    assert names(0x10, symbols(("t", 0x10, 4, info))) == []


@pytest.mark.spec("SYM-2")
@pytest.mark.parametrize("name", ["$x", "$d", "$a", "$t", "$x.17", "$d.realdata", ""])
def test_mapping_symbols_and_the_nameless_are_no_answer(name):
    """Nor do they end what is before them."""
    rows = symbols(("asm", 0x10, 0, FUNC), (name, 0x18, 0, NOTYPE))
    assert names(0x1C, rows) == ["asm"]


@pytest.mark.spec("SYM-2")
@pytest.mark.parametrize("name", ["$xyz", "x", "$", "$e"])
def test_names_that_only_look_like_mapping_symbols_are_answers(name):
    """A mapping symbol is two characters, alone or before a dot."""
    assert names(0x18, symbols((name, 0x18, 4, FUNC))) == [name]


@pytest.mark.spec("SYM-3")
@pytest.mark.parametrize(
    ("address", "want"),
    [
        (0x0F, []),
        (0x10, ["outer"]),
        (0x14, ["inner"]),
        (0x17, ["inner"]),
        (0x18, ["outer"]),
        (0x28, ["outer"]),
        (0x29, []),
    ],
)
def test_the_innermost_holder_wins_and_the_outer_one_comes_back(address, want):
    """After an inner symbol ends the outer one holds again, and padding is nobody's."""
    rows = symbols(("outer", 0x10, 25, FUNC), ("inner", 0x14, 4, FUNC))
    assert names(address, rows) == want


@pytest.mark.spec("SYM-3")
def test_of_one_start_the_shortest_holder_wins():
    """The size decides where the value does not."""
    rows = symbols(("long", 0x10, 32, FUNC), ("short", 0x10, 8, FUNC))
    assert (names(0x12, rows), names(0x18, rows)) == (["short"], ["long"])


@pytest.mark.spec("SYM-4")
def test_a_symbol_of_size_0_reaches_to_the_next():
    """It is of unknown size, not empty."""
    rows = symbols(("asm", 0x10, 0, FUNC), ("next", 0x20, 4, FUNC))
    assert [names(a, rows) for a in (0x10, 0x1F, 0x20, 0x24)] == [["asm"], ["asm"], ["next"], []]


@pytest.mark.spec("SYM-4")
def test_a_symbol_of_size_0_reaches_no_further_than_its_limit():
    """Where its section ends it ends."""
    rows = symbols(("asm", 0x10, 0, FUNC))
    assert (names(0x1F, rows, limit=0x20), names(0x20, rows, limit=0x20)) == (["asm"], [])


@pytest.mark.spec("SYM-4")
def test_a_label_inside_a_sized_symbol_is_no_answer():
    """Neither inside it nor behind it; a function of size 0 there is one, behind it."""
    label = symbols(("outer", 0x10, 8, FUNC), ("label", 0x14, 0, NOTYPE))
    function = symbols(("outer", 0x10, 8, FUNC), ("asm", 0x14, 0, FUNC))
    assert [names(a, label) for a in (0x14, 0x16, 0x18)] == [["outer"], ["outer"], []]
    assert [names(a, function) for a in (0x14, 0x16, 0x18)] == [["outer"], ["outer"], ["asm"]]


@pytest.mark.spec("SYM-5")
@pytest.mark.parametrize(
    ("rows", "want"),
    [
        pytest.param(
            [("zz", LOCAL | FUNC), ("aa", WEAK | FUNC), ("mm", GLOBAL | FUNC)],
            ["mm", "aa", "zz"],
            id="binding",
        ),
        pytest.param(
            [("n", GLOBAL), ("o", GLOBAL | OBJECT), ("i", GLOBAL | IFUNC), ("f", GLOBAL | FUNC)],
            ["f", "i", "o", "n"],
            id="type",
        ),
        pytest.param([("__a", FUNC), ("_a", FUNC), ("z", FUNC)], ["z", "_a", "__a"], id="dashes"),
        pytest.param([("gb", FUNC), ("ga", FUNC)], ["gb", "ga"], id="index"),
        pytest.param([("f", LOCAL | FUNC), ("n", GLOBAL)], ["n", "f"], id="binding-before-type"),
    ],
)
def test_equals_have_one_order(rows, want):
    """Binding, then type, then leading underscores, then the place in the table."""
    equals = symbols(*((name, 0x10, 4, info) for name, info in rows))
    assert names(0x12, equals) == want
    assert names(0x12, symbols(*((name, 0x10, 0, info) for name, info in rows))) == want
