"""Where okrun's own files are: what is trusted, and what was admitted before."""

from __future__ import annotations

import os

from okld.base import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

APPLICATION = "okrun"


def config_dir(environ: Mapping[str, str] = os.environ) -> str | None:
    """
    Return the directory of the user's own settings and of the keys that the user trusts, or None.

    Source: CAC-9, ADM-8.
    """
    return places(environ)[0]


def cache_dir(environ: Mapping[str, str] = os.environ) -> str | None:
    """
    Return the directory of what can be found out again, or None where there is to be none.

    Source: CAC-9, CAC-10.
    """
    return places(environ)[1]


def places(environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return `config_dir` and `cache_dir`."""
    elevated = place.is_elevated()
    return (
        place.config_dir(APPLICATION, environ, elevated=elevated),
        place.cache_dir(APPLICATION, environ, elevated=elevated),
    )
