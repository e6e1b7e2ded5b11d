"""Debug files from the network: a real server, and some that are not what they should be."""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
import ssl
import stat
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from okld.syms import debuginfod
from okld.syms.debugfiles import Trail, find
from okld.syms.options import Options

Behave = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """Give each test a cache of its own, and no proxy."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("OKLD_CACHE_DIR", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache/okld/debuginfod"


@pytest.fixture
def server() -> Iterator[Callable[..., str]]:
    """Return what serves requests on this machine in a given way, and says at which URL."""
    servers = []

    def serve(behave: Behave, context: ssl.SSLContext | None = None) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                try:
                    behave(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        asked: list[str] = []
        made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        made.daemon_threads = True
        if context is not None:
            made.socket = context.wrap_socket(made.socket, server_side=True)
        servers.append(made)
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        serve.asked = asked
        return f"http{'s' if context else ''}://127.0.0.1:{made.server_port}"

    yield serve
    for made in servers:
        made.shutdown()
        made.server_close()


def sends(body: bytes, **headers: str) -> Behave:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def fetched(elf, *urls: str, trail: Trail | None = None, cache: bool = True) -> list[bytes]:
    """Return the contents of all debug files that are found of a file, none being installed."""
    options = Options(debug_dirs=(), debuginfod=urls, cache=cache)
    contents = []
    for found in find(elf, options, trail):
        assert found.how == "debuginfod"
        contents.append(bytes(found.elf.view.window(0, found.elf.view.size, "", "")))
        found.close()
    return contents


@pytest.mark.spec("DBG-12", "DBG-14")
def test_a_real_server_gives_the_debug_file(stripped, opened, tmp_path, cache, monkeypatch):
    """Debian's debuginfod serves the file; the second answer is the cache's."""
    monkeypatch.delenv("DEBUGINFOD_URLS", raising=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = ["debuginfod", "-F", "-p", str(port), "-d", str(tmp_path / "db"), "-t", "1"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([*command, str(tmp_path / "made")], stdout=log, stderr=log)
        try:
            address = f"{url}/buildid/{stripped.build_id}/debuginfo"
            for _ in range(600):  # it scans the directory first
                try:
                    urllib.request.urlopen(address, timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.1)
            trail = Trail()
            expected = [stripped.debug.read_bytes()]
            assert fetched(opened(stripped.program), url, trail=trail) == expected
            assert trail.notes == []
        finally:
            process.terminate()
            process.wait()
    assert fetched(opened(stripped.program), url) == expected
    kept = cache / f"{stripped.build_id}.debug"
    assert [kept] == list(cache.iterdir())
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


@pytest.mark.spec("DBG-12")
def test_nobody_is_asked_unless_a_server_is_named(stripped, opened, monkeypatch):
    """No name is resolved and no connection made; what the environment says is for others."""
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")

    def refused(*_: object) -> None:
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    assert fetched(opened(stripped.program)) == []


@pytest.mark.spec("DBG-12")
def test_nobody_is_asked_when_the_file_is_here(stripped, opened, tmp_path, server):
    """What is installed comes first, and who takes it asks no more."""
    url = server(sends(b""))
    path = stripped.in_tree(tmp_path / "tree")
    options = Options(debug_dirs=(str(tmp_path / "tree"),), debuginfod=(url,))
    found = next(find(opened(stripped.program), options))
    found.close()
    assert (found.elf.path, server.asked) == (str(path), [])


@pytest.mark.spec("DBG-12")
@pytest.mark.parametrize("url", ["file:///etc", "ftp://127.0.0.1", "127.0.0.1", ""])
def test_only_web_servers_are_asked(url, stripped, opened):
    """Another kind of address is told to be none."""
    trail = Trail()
    assert fetched(opened(stripped.program), url, trail=trail) == []
    assert len(trail.notes) == 1
    assert trail.notes[0].endswith("[DBG-12]")


@pytest.mark.spec("DBG-13")
def test_a_server_that_is_not_there_is_a_note(stripped, opened):
    """One line with the address and the reason, and the next server is asked."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    trail = Trail()
    assert fetched(opened(stripped.program), url, trail=trail) == []
    assert trail.notes == [f"debuginfod: {url}: [Errno 111] Connection refused [DBG-13]"]


@pytest.mark.spec("DBG-13")
@pytest.mark.parametrize("status", [404, 500])
def test_a_server_that_has_nothing_is_a_note(status, stripped, opened, server):
    """The server's answer is in it; the next server answers."""
    first = server(lambda handler: handler.send_error(status, "no such thing"))
    second = server(sends(stripped.debug.read_bytes()))
    trail = Trail()
    found = fetched(opened(stripped.program), first, second, trail=trail)
    assert found == [stripped.debug.read_bytes()]
    assert trail.notes == [f"debuginfod: {first}: no such thing [DBG-13]"]


@pytest.mark.spec("DBG-14")
@pytest.mark.parametrize("what", ["another build", "no ELF file", "cut", "of no length"])
def test_another_file_is_thrown_away(what, stripped, opened, server, cache, tmp_path, run):
    """Only the file of that build id is taken, whole, and nothing else is left in the cache."""
    body = stripped.debug.read_bytes()
    if what == "another build":
        (tmp_path / "b.c").write_text("int main(void) { return 5; }")
        run("gcc", "-g", "-Wl,--build-id=sha1", "b.c", "-o", "other")
        behave = sends((tmp_path / "other").read_bytes())
    elif what == "no ELF file":
        behave = sends(b"<html>log in</html>")
    elif what == "cut":
        behave = sends(body, Content_Length=str(len(body) + 1))
    else:
        behave = sends(body[: len(body) - 100])
    trail = Trail()
    assert fetched(opened(stripped.program), server(behave), trail=trail) == []
    assert len(trail.notes) == 1
    assert list(cache.iterdir()) == []


@pytest.mark.spec("DBG-14")
def test_a_broken_file_in_the_cache_is_fetched_again(stripped, opened, server, cache):
    """What is kept is checked each time it is used."""
    url = server(sends(stripped.debug.read_bytes()))
    elf = opened(stripped.program)
    kept = cache / f"{stripped.build_id}.debug"
    (found,) = find(elf, Options(debug_dirs=(), debuginfod=(url,)))
    assert (found.elf.path, os.fstat(found.file.fd).st_ino) == (str(kept), kept.stat().st_ino)
    found.close()
    expected = fetched(elf, url)
    for broken in (b"", b"text", stripped.debug.read_bytes()[:-100]):
        kept.write_bytes(broken)
        assert fetched(elf, url) == expected
    assert len(server.asked) == 4
    assert fetched(elf, url) == expected
    assert len(server.asked) == 4


@pytest.mark.spec("DBG-14")
@pytest.mark.parametrize("why", ["told so", "no place"])
def test_without_a_cache_nothing_is_kept(why, stripped, opened, server, cache, monkeypatch):
    """The file is used all the same."""
    if why == "no place":
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc/no")
    monkeypatch.setenv("TMPDIR", str(cache.parents[2]))
    before = set(os.listdir(cache.parents[2]))
    url = server(sends(stripped.debug.read_bytes()))
    found = fetched(opened(stripped.program), url, cache=why != "told so")
    assert found == [stripped.debug.read_bytes()]
    assert set(os.listdir(cache.parents[2])) == before


@pytest.mark.spec("DBG-13")
def test_an_endless_body_is_cut_off(stripped, opened, server, cache, monkeypatch):
    """At a named limit, whatever length the server states."""
    monkeypatch.setattr(debuginfod, "MAX_DOWNLOAD", 1 << 20)

    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(bytes(1 << 16))

    trail = Trail()
    assert fetched(opened(stripped.program), server(endless), trail=trail) == []
    assert len(trail.notes) == 1
    assert "limit 0x100000" in trail.notes[0]
    assert list(cache.iterdir()) == []


@pytest.mark.spec("DBG-13")
@pytest.mark.parametrize("part", ["nothing", "status", "headers", "body"])
def test_a_slow_server_is_left(part, stripped, opened, server, monkeypatch):
    """Whether it says nothing at all, or a byte now and then, in whatever part of its answer."""
    monkeypatch.setattr(debuginfod, "SILENCE", 0.5)
    monkeypatch.setattr(debuginfod, "PATIENCE", 0.5)
    left = threading.Event()

    def slow(handler: BaseHTTPRequestHandler) -> None:
        head = {"nothing": b"", "status": b"HTTP/1.0 200 ", "headers": b"HTTP/1.0 200 OK\r\nX: "}
        handler.wfile.write(head.get(part, b"HTTP/1.0 200 OK\r\n\r\n"))
        while not left.wait(0.05):
            if part != "nothing":
                handler.wfile.write(b"x")

    trail = Trail()
    assert fetched(opened(stripped.program), server(slow), trail=trail) == []
    left.set()
    assert len(trail.notes) == 1
    assert "timed out" in trail.notes[0] or "too slowly" in trail.notes[0]


@pytest.mark.spec("DBG-13")
def test_a_redirection_is_followed(stripped, opened, server):
    """Servers hand requests on."""
    end = server(sends(stripped.debug.read_bytes()))

    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", end + handler.path)
        handler.end_headers()

    expected = [stripped.debug.read_bytes()]
    assert fetched(opened(stripped.program), server(redirect)) == expected


@pytest.mark.spec("DBG-13")
@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "", "/on"]
)
def test_a_redirection_elsewhere_is_not_followed(target, stripped, opened, server):
    """Not to files of this machine, nor for ever."""

    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"/on{len(asked)}" if target == "/on" else target)
        asked.append(handler.path)
        handler.end_headers()

    asked: list[str] = []
    trail = Trail()
    assert fetched(opened(stripped.program), server(redirect), trail=trail) == []
    assert len(trail.notes) == 1
    assert trail.notes[0].endswith("[DBG-13]")
    assert len(asked) <= 1 + debuginfod.REDIRECTIONS


def certificate(directory: Path) -> Path:
    """Write a certificate of this machine's address, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    private = key.private_bytes(Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path = directory / "certificate.pem"
    path.write_bytes(made.public_bytes(Encoding.PEM) + private)
    return path


@pytest.mark.spec("DBG-13")
def test_a_protected_connection_stays_one(stripped, opened, server, tmp_path, monkeypatch):
    """A server is asked over TLS if its certificate is trusted, and leads to no open connection."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    path = certificate(tmp_path)
    context.load_cert_chain(path)
    body = stripped.debug.read_bytes()
    secure = server(sends(body), context)
    trail = Trail()
    assert fetched(opened(stripped.program), secure, trail=trail, cache=False) == []
    assert "CERTIFICATE_VERIFY_FAILED" in trail.notes[0]
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    assert fetched(opened(stripped.program), secure, cache=False) == [body]
    plain = server(sends(body))

    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", plain + handler.path)
        handler.end_headers()

    trail = Trail()
    assert fetched(opened(stripped.program), server(redirect, context), trail=trail) == []
    assert "leads elsewhere" in trail.notes[0]


@pytest.mark.spec("DBG-13")
def test_what_is_no_answer_is_a_note(stripped, opened, server):
    """Bytes that are no HTTP, and control bytes in a message, do no harm."""
    trail = Trail()
    for data in (
        b"\0\xff\r\n\r\n",
        b"HTTP/1.0 500 \x1b[31m\r\n\r\n",
        b"HTTP/1.0 200\r\nContent-Length: x\r\n\r\n",
    ):
        url = server(lambda handler, data=data: handler.wfile.write(data))
        assert fetched(opened(stripped.program), url, trail=trail) == []
    assert len(trail.notes) == 3
    assert all(note.isprintable() for note in trail.notes)
