"""Answering what lines ask: modules become files, each opened once. Source: LOG-4, LOG-17."""

from __future__ import annotations

from okld.base.errors import OkError, printable
from okld.base.units import FileOffset, ImageOffset, LinkAddr
from okld.syms.answer import Found, Miss
from okld.syms.logs.program import Program
from okld.syms.logs.query import ANY, FILE, IMAGE, LINK, PERF, SYMBOL
from okld.syms.options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okld.syms.logs.query import Query
    from okld.syms.modules import Modules

MAX_OPEN = 32  # files that are held open with their tables; a process uses some dozens
MAX_ANSWERS = 1 << 14  # that are remembered; traces of one program repeat each other
MAX_KEY = 1 << 10  # bytes of names in a question that is remembered; longer ones are rare
MAX_NOTES = 32  # modules that a note is written of; who has more of them has seen why

NOT_FOUND = "no file of it is here (--module NAME=FILE names one)"
NO_RELEASE = "the log has not told the kernel's release (--module vmlinux=FILE names a file)"
NO_MAP = "no map of the process in the log says whose it is (--module =FILE names a program)"
OTHER_BUILD = "the file here is of another build"
NO_BUILD = "what the log states is no build id: it has an odd number of digits"
KERNEL_ID = 40  # digits that kernels print of every build id, zeros behind a shorter one
OPEN_ENDED = "the address can be read in two ways"
NO_SYMBOL = "no such symbol"
NOTHING = "nothing is known of the address"


class Resolver:
    """
    Answers queries, and holds the files open that they lead to; a context manager.

    Attributes:
        modules: Finds the files.
    """

    def __init__(
        self,
        modules: Modules,
        *,
        options: Options | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """
        Have nothing open.

        Args:
            modules: Finds the files.
            options: Where debug files are, and who may be asked.
            say: Is given a line for each module that has no answers, once.
        """
        self.modules = modules
        self._options = options or Options()
        self._say = say
        self._told: set[str] = set()
        self._programs: dict[tuple[object, ...], Program | Miss] = {}
        self._answers: dict[tuple[object, ...], Sequence[Found] | Miss] = {}

    def __enter__(self) -> Resolver:
        """Return the same."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every file."""
        self.close()

    def close(self) -> None:
        """Close every file; what was answered stays valid."""
        for program in self._programs.values():
            if isinstance(program, Program):
                program.close()
        self._programs.clear()

    def resolve(self, query: Query) -> Sequence[Found] | Miss:
        """Return what the query's address belongs to: more than one where that is open."""
        if len(query.module) + len(query.symbol) > MAX_KEY:
            return self._resolve(query)
        key = query.key()
        answer = self._answers.get(key)
        if answer is None:
            answer = self._resolve(query)
            if len(self._answers) >= MAX_ANSWERS:
                self._answers.clear()
            self._answers[key] = answer
        return answer

    def is_trampoline(self, query: Query) -> bool:
        """Say whether the query's address is where a signal's handler returns to."""
        program = self._program(query)
        if isinstance(program, Miss) or (query.space == SYMBOL and query.offset):
            return False
        try:
            places = _places(program, query)
            return not isinstance(places, Miss) and any(map(program.is_trampoline, places))
        except OkError:
            return False

    def _resolve(self, query: Query) -> Sequence[Found] | Miss:
        program = self._program(query)
        if isinstance(program, Miss):
            return program
        try:
            places = _places(program, query)
            if isinstance(places, Miss):
                return places
            answers = [program.lookup(place, back=query.is_return) for place in places]
            found = [answer for answer in answers if isinstance(answer, Found)]
            return found or Miss(NOTHING)
        except OkError as error:
            self._note(query, str(error))
            return Miss(str(error))

    def _program(self, query: Query) -> Program | Miss:
        key = (query.module, query.build_id, query.arch, query.kernel, query.release)
        program = self._programs.pop(key, None)
        if program is None:
            program = self._open(query)
            if len(self._programs) >= MAX_OPEN:
                oldest = self._programs.pop(next(iter(self._programs)))
                if isinstance(oldest, Program):
                    oldest.close()
        self._programs[key] = program
        return program

    def _open(self, query: Query) -> Program | Miss:
        place = self.modules.find(query)
        if place is None or len(query.build_id) % 2:
            reason = NO_BUILD if len(query.build_id) % 2 else _why_nowhere(query)
            self._note(query, reason)
            return Miss(reason)
        path, is_given = place
        try:
            program = Program(path, self._options, build_id=query.build_id, arch=query.arch)
        except OkError as error:
            self._note(query, str(error))
            return Miss(str(error))
        if not _is_build(program.build_id, query, is_given):
            program.close()
            self._note(query, f"{OTHER_BUILD}: {path}")
            return Miss(OTHER_BUILD)
        return program

    def _note(self, query: Query, what: str) -> None:
        """Say of a module why it has no answers, once."""
        name = query.module or "an address without a module"
        if name not in self._told and len(self._told) < MAX_NOTES:
            self._told.add(name)
            self._say(f"{printable(name)}: {printable(what)}")


def _is_build(found: str, query: Query, is_given: bool) -> bool:
    """Say whether a file of build id *found* can be the query's module."""
    if not query.build_id or not found:
        return is_given or not query.build_id
    padded = found.ljust(KERNEL_ID, "0") if query.kernel else found
    return query.build_id in (found, padded)


def _why_nowhere(query: Query) -> str:
    if not query.module:
        return NO_MAP
    return NO_RELEASE if query.kernel and not query.release else NOT_FOUND


def _places(program: Program, query: Query) -> Sequence[int] | Miss:
    """Return the addresses that the query means: several only where a name is one of several."""
    address = query.address
    if query.space == LINK:
        return (LinkAddr(address),)
    if query.space == IMAGE:
        return (ImageOffset(address),)
    if query.space == FILE:
        return (FileOffset(address),)
    if query.space == ANY:
        return (program.guess(address),)
    if query.space == SYMBOL:
        return program.of_symbol(query.symbol, query.offset, query.size) or Miss(NO_SYMBOL)
    if query.kernel:
        return Miss(NO_MAP)
    places: list[int] = []
    if query.space == PERF:
        in_file = program.file_offset_of_code(address)
        places += [] if in_file is None else [in_file]
        places += [] if query.mapped is None else [FileOffset(query.mapped)]
    if program.is_fixed and query.mapped is None and program.has_code_at(address):
        places.append(LinkAddr(address))
    if len({program.link_of(place) for place in places}) == 1:
        return places[:1]
    if query.symbol:
        return program.of_symbol(query.symbol, query.offset, 0) or Miss(NO_SYMBOL)
    return Miss(OPEN_ENDED if places else NO_MAP)
