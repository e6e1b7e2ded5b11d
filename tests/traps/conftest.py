"""The traps' files, built once by each process that runs tests, and what is asked of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from trap_question import Question
from trap_shop import Shop
from trap_table import TRAPS, ours


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop(tmp_path_factory.mktemp("traps"))


@pytest.fixture
def right(shop: Shop) -> Callable[[int], list[Question]]:
    """Put every question of a trap, hold the answers right, and return the questions."""

    def put(number: int) -> list[Question]:
        questions = TRAPS[number].build(shop)
        for question in questions:
            said = ours(question)
            where = (question.path.name, hex(question.address), str(said))
            assert said.is_right(question.want), where
        return questions

    return put
