"""
Debug files from debuginfod servers, which give them by build id.

Only a server that the user names is asked. What it sends is a stranger's bytes: bounded in size, in
time and in where it may come from, and kept only if it has the build id that was asked for.

Source: DBG-12 to DBG-14; debuginfod(8).
"""

from __future__ import annotations

import http.client
import io
import os
import tempfile
import urllib.error
import urllib.request
from contextlib import suppress
from time import monotonic

from okld.base.errors import FormatError, OkError, Unreadable, printable
from okld.base.limits import MAX_DOWNLOAD
from okld.base.place import cache_dir, is_elevated
from okld.image.open import OpenFile, open_file
from okld.syms.build_id import build_id
from okld.syms.elf_file import ElfFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from okld.syms.options import Options

SILENCE = 10.0  # seconds without a byte
PATIENCE = 60.0  # seconds that an answer may take, and one more for each SLOWEST bytes of it
SLOWEST = 1 << 16  # bytes a second; a modem for one's house
REDIRECTIONS = 3
CHUNK = 1 << 16


def downloaded(wanted: str, options: Options, notes: list[str]) -> OpenFile | None:
    """
    Return the debug file of build id *wanted*, open: from the user's cache, else from the first
    server of *options* that has it; or None, and why in *notes*.

    Source: DBG-12 to DBG-14.
    """
    place = _cache() if options.cache else None
    if place is not None:
        kept = _kept(f"{place}/{wanted}.debug", wanted)
        if kept is not None:
            return kept
    for url in options.debuginfod:
        try:
            return _from_server(url, wanted, place)
        except OkError as error:
            notes.append(str(error))
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            notes.append(f"debuginfod: {printable(url)}: {printable(str(reason))} [DBG-13]")
    return None


def _from_server(url: str, wanted: str, place: str | None) -> OpenFile:
    if not url.startswith(("http://", "https://")):
        raise FormatError("DBG-12", f"debuginfod: {url}: only http and https are asked")
    fd, name = tempfile.mkstemp(prefix=wanted[:16], suffix=".part", dir=place)
    try:
        with open(fd, "wb", closefd=False) as out:
            _receive(f"{url.rstrip('/')}/buildid/{wanted}/debuginfo", url, out)
        file = OpenFile(url, fd, os.fstat(fd).st_size)
        if not _is_build(file, wanted):
            raise FormatError("DBG-14", f"debuginfod: {url}: sent another file than {wanted}")
        if place is not None:
            file.path = f"{place}/{wanted}.debug"
            os.replace(name, file.path)
        return file
    except BaseException:
        os.close(fd)
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _receive(address: str, url: str, out: BinaryIO) -> None:
    """Write the body of the answer to a GET of *address* to *out*."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _Http(),
        _Https(),
        _Redirect(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    request = urllib.request.Request(address, headers={"User-Agent": "okimage"})
    got = 0
    with opener.open(request, timeout=SILENCE) as answer:
        stated = answer.headers.get("Content-Length")
        while data := answer.read1(CHUNK):
            got += len(data)
            if got > MAX_DOWNLOAD:
                raise FormatError("DBG-13", f"debuginfod: {url}: sends more", limit=MAX_DOWNLOAD)
            out.write(data)
    if stated is not None and got != int(stated):
        raise http.client.IncompleteRead(b"", int(stated) - got)


def _kept(path: str, wanted: str) -> OpenFile | None:
    """Return a file that was downloaded before, if it is still what it was."""
    try:
        file = open_file(path)
    except Unreadable:
        return None
    if _is_build(file, wanted):
        return file
    file.close()
    return None


def _is_build(file: OpenFile, wanted: str) -> bool:
    try:
        elf = ElfFile(file.view, file.path)
        return not elf.damage and build_id(elf) == wanted
    except (FormatError, Unreadable):
        return False


def _cache() -> str | None:
    """Return the directory of downloaded files, which is made; None where there can be none."""
    place = cache_dir("okld", elevated=is_elevated())
    if place is None:
        return None
    place = f"{place}/debuginfod"
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
    except OSError:
        return None
    return place


class _Hurried(io.RawIOBase):
    """The bytes of a connection, which must come fast enough: header and body alike."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._end = monotonic() + PATIENCE

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read some bytes, or give up."""
        if monotonic() > self._end:
            raise TimeoutError("answers too slowly")
        got: int | None = self._raw.readinto(buffer)
        self._end += (got or 0) / SLOWEST
        return got

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fp: Any = io.BufferedReader(_Hurried(self.fp.detach()))


class _Connection(http.client.HTTPConnection):
    response_class = _Response


class _SecureConnection(http.client.HTTPSConnection):
    response_class = _Response


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, req)


class _Redirect(urllib.request.HTTPRedirectHandler):
    max_redirections = max_repeats = REDIRECTIONS

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Follow to http and https only, and never from a protected connection to an open one."""
        allowed = ("https://",) if req.type == "https" else ("http://", "https://")
        if not newurl.lower().startswith(allowed):
            raise urllib.error.URLError("leads elsewhere than to http or https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
