"""What the entry points in `jobs/` share: arguments, one step, exit code."""

import argparse
import sys

from skyarchive.catalog import Catalog
from skyarchive.errors import SkyarchiveError
from skyarchive.running import raise_refusals, run_steps
from skyarchive.selection import Selection
from skyarchive.settings import load_settings
from skyarchive.workshop import Workshop


def submit(step: str) -> None:
    """Run one step for the archive and periods of the command line; exit 1 with a sentence if refused."""
    parser = argparse.ArgumentParser(description=f"Run the step {step} of an archive.")
    parser.add_argument("archive")
    parser.add_argument("--periods", help="2014, 2010..2014 or 2010,2012; all if left out")
    arguments = parser.parse_args()
    try:
        settings = load_settings()
        workshop = Workshop(settings, Catalog(settings).get(arguments.archive), verbose=True)
        raise_refusals(run_steps(workshop, Selection(arguments.periods), [step]))
    except SkyarchiveError as error:
        sys.exit(str(error))
