"""Whose key a signature is by: the file ``allowed_signers``. Source: TRU-1 to TRU-4.

A line, as ssh-keygen(1) has it under "ALLOWED SIGNERS"::

    principals [option[,option...]] kind-of-key base64-of-key [comment]

*principals* is a list of patterns with commas between, in double quotes where it has spaces; an
option is ``namespaces="patterns"``, ``valid-after="time"`` or ``valid-before="time"``. Empty lines
and lines that begin with ``#`` say nothing.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from attrs import frozen

from okld.base.errors import FormatError, OkError
from okld.bundle.public_key import PublicKey, read_key_text
from okld.bundle.sshsig import NAMESPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.bundle.signing import Signature

_SPACE = " \t\r"
_KEY_PREFIXES = ("ssh-", "ecdsa-", "sk-", "rsa-", "webauthn-")


@frozen(kw_only=True)
class Entry:
    """
    One line of a trust file.

    Attributes:
        line: Its number, from 1 on.
        principals: Who holds the key: names or patterns, those with a leading ``!`` excluded.
        key: The key.
        namespaces: The patterns of namespaces that the key is for, or None: for all.
        valid_after: From when on the key is valid, in seconds since 1970, or None.
        valid_before: Until when, that second included, or None.
        comment: What else the line says.
    """

    line: int
    principals: tuple[str, ...]
    key: PublicKey
    namespaces: tuple[str, ...] | None
    valid_after: int | None
    valid_before: int | None
    comment: str

    def objection(self, now: int) -> str:
        """Return why this line does not make its key a trusted one at *now*, or ""."""
        if self.namespaces is not None and not _matches(NAMESPACE, self.namespaces):
            return f"the key is not for the namespace {NAMESPACE}"
        if self.valid_after is not None and now < self.valid_after:
            return f"the key is not valid before {shown_time(self.valid_after)}"
        if self.valid_before is not None and now > self.valid_before:
            return f"the key was valid until {shown_time(self.valid_before)}"
        if all(name.startswith("!") for name in self.principals):
            return "the line names nobody"
        return ""


@frozen(kw_only=True)
class Trusted:
    """
    A signature by somebody who is trusted.

    Attributes:
        principal: Who, as the trust file says; several with commas between.
        until: The last second, since 1970, at which this is so, or None.
    """

    principal: str
    until: int | None


@frozen(kw_only=True)
class Unknown:
    """
    A signature by nobody who is trusted.

    Attributes:
        reason: Why, in one line.
    """

    reason: str


def who(signature: Signature, trust: tuple[Entry, ...], now: int) -> Trusted | Unknown:
    """Return whose key made a signature, by *trust*, at *now* in seconds since 1970."""
    found = [entry for entry in trust if entry.key.blob == signature.key.blob]
    for entry in found:
        if not entry.objection(now):
            return Trusted(principal=",".join(entry.principals), until=entry.valid_before)
    if found:
        line = found[0].line
        return Unknown(reason=f"line {line} of the trust file: {found[0].objection(now)}")
    return Unknown(reason="no line of the trust file has this key")


def parse_trust(data: bytes) -> tuple[Entry, ...]:
    """
    Return the lines of a trust file that name a key, in order.

    Raises:
        FormatError: TRU-1 or TRU-2, with the line's number, if any line is of another form.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise FormatError("TRU-1", "trust file is not in UTF-8") from None
    entries = []
    for number, line in enumerate(lines, 1):
        text = line.strip(_SPACE)
        if text and not text.startswith("#"):
            entries.append(_entry(text, number))
    return tuple(entries)


def parse_line(line: str) -> Entry:
    """
    Return what a line says that is to go into a trust file; its number is 0.

    Raises:
        FormatError: TRU-1 or TRU-2, if it is none that names a key.
    """
    if "\n" in line or line.strip(_SPACE).startswith("#"):
        raise _wrong("TRU-1", 0, "is not one that names a key")
    try:
        line.encode()
    except UnicodeEncodeError:  # bytes of a command line that are not text
        raise _wrong("TRU-1", 0, "is not in UTF-8") from None
    return _entry(line.strip(_SPACE), 0)


def _entry(text: str, number: int) -> Entry:
    if "\0" in text:
        raise _wrong("TRU-1", number, "has a NUL")
    names, rest = _principals(text, number)
    word, rest = _word(rest)
    options: dict[str, str] = {}
    if rest and not word.startswith(_KEY_PREFIXES):
        options = dict(_options(word, number))
        word, rest = _word(rest)
    encoded, comment = _word(rest)
    if not encoded:
        raise _wrong("TRU-1", number, "has no key")
    try:
        key = read_key_text(word, encoded)
    except OkError as error:
        raise _wrong("TRU-1", number, f"has no key: {_bare(error)}") from None
    after = _moment(options, "valid-after", number)
    before = _moment(options, "valid-before", number)
    if after is not None and before is not None and before <= after:
        raise _wrong("TRU-2", number, "has a valid-before that is not after its valid-after")
    return Entry(
        line=number,
        principals=names,
        key=key,
        namespaces=tuple(options["namespaces"].split(",")) if "namespaces" in options else None,
        valid_after=after,
        valid_before=before,
        comment=comment,
    )


def _principals(text: str, number: int) -> tuple[tuple[str, ...], str]:
    """Return the names with which a line begins, and the rest of it."""
    if text.startswith('"'):
        names, quote, rest = text[1:].partition('"')
        if not quote or rest[:1].strip(_SPACE):
            raise _wrong("TRU-1", number, "has a quote without its end")
    else:
        names, rest = _word(text)
    parts = tuple(names.split(","))
    if '"' in names or not all(part.removeprefix("!") for part in parts):
        raise _wrong("TRU-1", number, "has an empty name or a quote in its names")
    return parts, rest.lstrip(_SPACE)


def _word(text: str) -> tuple[str, str]:
    """Return the first word of *text*, which may have spaces in double quotes, and the rest."""
    quoted = False
    for at, char in enumerate(text):
        if char == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        elif char in _SPACE and not quoted:
            return text[:at], text[at:].strip(_SPACE)
    return text, ""


def _options(word: str, number: int) -> Iterator[tuple[str, str]]:
    """Yield each option of a line once, its name in lower case, its value without the quotes."""
    seen = set()
    rest = word
    while True:
        name, equals, value = rest.partition("=")
        name = name.lower()
        if name.partition(",")[0] == "cert-authority":
            raise _wrong("TRU-2", number, "is a cert-authority, and certificates are not supported")
        if not equals or name not in ("namespaces", "valid-after", "valid-before"):
            raise _wrong("TRU-2", number, f"has the unknown option {name[:64] or 'of no name'}")
        if name in seen:
            raise _wrong("TRU-2", number, f"has {name} twice")
        seen.add(name)
        text, quote, rest = value[1:].partition('"')
        if not value.startswith('"') or not quote or "\\" in text:
            raise _wrong("TRU-2", number, f"has a {name} that is not in double quotes")
        yield name, text
        if not rest:
            return
        if not rest.startswith(","):
            raise _wrong("TRU-2", number, f"has something after the value of {name}")
        rest = rest[1:]


def _moment(options: dict[str, str], name: str, number: int) -> int | None:
    """Return the time that an option gives, in seconds since 1970. Source: TRU-4."""
    text = options.get(name)
    if text is None:
        return None
    digits = text.removesuffix("Z")
    try:
        if len(digits) not in (8, 12, 14) or not (digits.isascii() and digits.isdecimal()):
            raise ValueError
        month, day, hour, minute, second = (
            int(digits[at : at + 2] or "0") for at in range(4, 14, 2)
        )
        date = datetime(int(digits[:4]), month, day, hour, minute, second, tzinfo=UTC)
        # Without a Z it is local time; standard time also in summer, as ssh-keygen has it.
        local = time.mktime((*date.timetuple()[:8], 0)) if digits == text else None
        seconds = int(date.timestamp() if local is None else local)
    except (ValueError, OverflowError):
        seconds = 0
    if seconds <= 0:
        raise _wrong("TRU-4", number, f"has a {name} that is no time (got {text[:64]})")
    return seconds


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a list of patterns has *name*: one matches, and none with a ``!`` does."""
    excluded = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    if any(_match(name, pattern) for pattern in excluded):
        return False
    return any(_match(name, pattern) for pattern in patterns)


def _match(name: str, pattern: str) -> bool:
    """Return whether a pattern of ``*``, ``?`` and other characters is one of *name*."""
    ends = {0}  # how many characters of the name the pattern, so far, may have taken
    for char in pattern:
        if char == "*":
            ends = {at for at in range(len(name) + 1) if any(end <= at for end in ends)}
        else:
            ends = {at + 1 for at in ends if at < len(name) and char in ("?", name[at])}
    return len(name) in ends


def shown_time(seconds: int) -> str:
    """Return a time, in seconds since 1970, for people: in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _wrong(rule: str, number: int, what: str) -> FormatError:
    place = f"line {number} of the trust file" if number else "the line"
    return FormatError(rule, f"{place} {what}")


def _bare(error: OkError) -> str:
    return str(error).removesuffix(f" [{error.rule}]")
