"""Print what we and others answer to each trap; the status is 1 where ours is wrong."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

from trap_question import Question
from trap_shop import Shop
from trap_table import TRAPS, ours
from trap_tools import TOOLS

from okld.base.units import SectionOffset

OURS = "okld"


def main() -> int:
    wanted = [int(word) for word in sys.argv[1:]] or sorted(TRAPS)
    wrong: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        shop = Shop(Path(place))
        for number in wanted:
            trap = TRAPS[number]
            print(f"\n{number:2}  {trap.title}")
            failed = set()
            for question in trap.build(shop):
                failed |= ask(question)
            wrong.update(failed)
    names = (OURS, *TOOLS)
    print(f"\nWrong, of {len(wanted)} traps: " + ", ".join(f"{n} {wrong[n]}" for n in names))
    return int(wrong[OURS] > 0)


def ask(question: Question) -> set[str]:
    """Print all answers to a question, and return who is wrong."""
    address = question.address
    section = f"{address.section}+" if isinstance(address, SectionOffset) else ""
    print(f"    {question.path.name} {section}{address:#x}: {question.want}")
    answers = {OURS: ours(question)}
    if question.tools:
        answers.update((name, tool(question)) for name, tool in TOOLS.items())
    failed = set()
    for name, answer in answers.items():
        right = answer.is_right(question.want)
        print(f"      {name:16} {'ok' if right else 'WRONG':6} {answer}")
        if not right:
            failed.add(name)
    return failed


if __name__ == "__main__":
    sys.exit(main())
