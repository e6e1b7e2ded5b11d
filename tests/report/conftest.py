"""A good report, and edits of it."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from reporting import (  # noqa: F401 - fixtures
    begin_report,
    counted,
    encoded,
    good,
    make_report,
    write_report,
)
