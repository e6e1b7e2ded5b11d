"""Runs ok images, and measures them.

Public names: `run` starts an image as a child process and waits for it; `record` runs any command
and returns the reports of the images that it started; `__version__`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okrun.process import run as run
    from okrun.recording import record as record

__all__ = ["__version__", "record", "run"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: a start of an image needs none of them."""
    if name == "run":
        from okrun.process import run

        return run
    if name == "record":
        from okrun.recording import record

        return record
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
