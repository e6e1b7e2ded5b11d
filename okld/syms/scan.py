"""One address in one pass over the columns of a table: the symbols that can decide."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.part import Part
    from okld.syms.plt import Stubs

NEAR = (0x1000, 0x10000)  # bytes below an address in which the symbol that holds it mostly begins


def candidates(part: Part | Stubs, address: int) -> list[int]:
    """
    Return indices of symbols of *part* that can be an answer, as `choose` wants to be given them:
    all of the innermost that hold *address*; without one the nearest below and one that holds it.
    """
    values = part.values
    for distance in NEAR:
        low = address - distance
        near = part.answers([i for i, v in enumerate(values) if low < v <= address])
        holders = [index for index in near if address < values[index] + part.size(index)]
        if holders:
            break
    else:
        columns = zip(values, part.sizes, strict=True)
        held = [i for i, (v, size) in enumerate(columns) if v <= address < v + size]
        holders = part.answers(held)
    if holders:
        inner = max(values[index] for index in holders)
        return [index for index in holders if values[index] == inner]
    if not near:
        near = [index for index in part.all_answers() if values[index] <= address]
    last = max((values[index] for index in near), default=-1)
    nearest = [index for index in near if values[index] == last and not part.size(index)]
    if nearest:
        columns = zip(values, part.sizes, strict=True)
        around = [i for i, (v, size) in enumerate(columns) if v <= last < v + size]
        nearest += part.answers(around)[:1]
    return nearest or [index for index in near if values[index] == last][:1]
