"""Keys that an ssh-agent holds, over its socket. Source: SIG-12; draft-ietf-sshm-ssh-agent."""

from __future__ import annotations

import os
import socket

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.base.limits import MAX_AGENT_MESSAGE
from okld.bundle.public_key import RSA, PublicKey, read_public_key
from okld.bundle.wire import Wire, string

_REQUEST_IDENTITIES, _IDENTITIES = 11, 12
_SIGN_REQUEST, _SIGNATURE = 13, 14
_RSA_SHA2_512 = 4  # a flag of a sign request

PATIENCE = 120
"""Seconds that an agent may take: it may ask a person to touch something, or to say yes."""


class AgentKey:
    """
    A private key that the agent at *path* holds.

    Attributes:
        blob: Its public half, as it stands on the wire.
        public: The same, read.
        comment: What the agent calls it.
    """

    __slots__ = ("_path", "blob", "comment", "public")

    def __init__(self, path: str, public: PublicKey, comment: str) -> None:
        self._path = path
        self.blob = public.blob
        self.public = public
        self.comment = comment

    def sign(self, data: bytes) -> bytes:
        """
        Return what the agent makes of *data* with this key, as it stands on the wire.

        Raises:
            Refusal: SIG-12, if the agent does not sign.
            FormatError: SIG-12, if it answers something else.
            Unreadable: If it cannot be reached.
        """
        flags = _RSA_SHA2_512 if self.public.kind == RSA else 0
        request = string(self.blob) + string(data) + flags.to_bytes(4, "big")
        answer = _ask(self._path, _SIGN_REQUEST, request, _SIGNATURE)
        signature = answer.string()
        answer.end()
        return signature


def agent_keys() -> tuple[AgentKey, ...]:
    """
    Return the keys of the agent that SSH_AUTH_SOCK names, of the kinds that are checked.

    Raises:
        OkError: If the variable names none.
        Refusal, FormatError, Unreadable: As `AgentKey.sign`.
    """
    path = os.environ.get("SSH_AUTH_SOCK", "")
    if not path:
        raise OkError("no ssh-agent: SSH_AUTH_SOCK is not set")
    answer = _ask(path, _REQUEST_IDENTITIES, b"", _IDENTITIES)
    keys = []
    for _ in range(answer.u32()):
        blob, comment = answer.string(), answer.string()
        try:
            public = read_public_key(blob)
        except OkError:
            continue  # an agent may hold keys for other uses
        keys.append(AgentKey(path, public, comment.decode("utf-8", "surrogateescape")))
    answer.end()
    return tuple(keys)


def agent_key(fingerprint: str) -> AgentKey:
    """
    Return the key with a *fingerprint* as ``ssh-add -l`` shows it.

    Raises:
        Refusal: SIG-12, if the agent has no such key.
        OkError: As `agent_keys`.
    """
    for key in agent_keys():
        if key.public.fingerprint == fingerprint:
            return key
    raise Refusal("SIG-12", f"ssh-agent has no key {fingerprint}; ssh-add -l lists what it has")


def _ask(path: str, kind: int, body: bytes, wanted: int) -> Wire:
    """Send one request and return what follows the answer's kind, which is to be *wanted*."""
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(PATIENCE)
            channel.connect(path)
            channel.sendall(string(bytes((kind,)) + body))
            size = int.from_bytes(_receive(channel, 4), "big")
            if not 1 <= size <= MAX_AGENT_MESSAGE:
                raise FormatError(
                    "SIG-12",
                    "ssh-agent's answer has no such size",
                    got=size,
                    limit=MAX_AGENT_MESSAGE,
                )
            answer = Wire(_receive(channel, size), "ssh-agent's answer", "SIG-12")
    except OSError as error:
        raise Unreadable("ssh-agent", path, error) from None
    if answer.byte() != wanted:
        raise Refusal("SIG-12", "ssh-agent refused")
    return answer


def _receive(channel: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = channel.recv(size - len(data))
        if not more:
            raise FormatError(
                "SIG-12", "ssh-agent's answer is cut short", got=len(data), limit=size
            )
        data += more
    return data
