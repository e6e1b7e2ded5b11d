"""`okld verify FILE.okb`: whether all that a bundle says is true. Source: OKB-27."""

from __future__ import annotations

import time

from okld.bundle.policy import POLICIES
from okld.bundle.trust import parse_trust
from okld.bundle.trust_file import read_trust_file
from okld.bundle.verify import verify
from okld.cli import render_bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

    from okld.bundle.trust import Entry


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "--allowed-signers", metavar="TRUST", help="a file of trusted keys, as ssh-keygen reads it"
    )
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        default=POLICIES[0],
        help="what is asked of the signature: that it is not wrong, that there is one, or that "
        "its key is trusted",
    )


def run(args: Namespace, out: TextIO) -> int:
    """Say of each check what it found; end with 1 unless all are right."""
    trust: tuple[Entry, ...] = ()
    if args.allowed_signers is not None:
        trust = parse_trust(read_trust_file(args.allowed_signers, required=True))
    found = []
    for finding in verify(args.file, now=time.time(), policy=args.policy, trust=trust):
        found.append(finding)
        if not args.json:
            out.write(render_bundle.finding(args.file, finding))
    if args.json:
        out.write(render_bundle.findings(args.file, found))
    return int(any(finding.error for finding in found))
