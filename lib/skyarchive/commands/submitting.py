"""What the entry points in `jobs/` share: arguments, one step, exit code."""

import argparse
import sys

from skyarchive.definition.catalog import Catalog
from skyarchive.definition.selection import Selection
from skyarchive.errors import SkyarchiveError
from skyarchive.pipeline.failures import failures_told
from skyarchive.pipeline.running import raise_refusals, run_steps
from skyarchive.pipeline.workshop import Workshop
from skyarchive.settings import load_settings


def submit_monitor() -> None:
    """Replay the archive and periods of the command line as if watched live; exit 1 with a sentence if refused."""
    from skyarchive.studies.monitoring import Parameters, study_archive

    default = Parameters()
    parser = argparse.ArgumentParser(description="What would it cost to watch an archive live? Kept in `monitoring`.")
    parser.add_argument("archive")
    parser.add_argument("--periods", help="2014 or 2010..2014; all if left out")
    parser.add_argument("--theta", default=default.theta)
    parser.add_argument("--window", type=int, default=default.window)
    parser.add_argument("--epsilon", type=float, default=default.epsilon)
    parser.add_argument("--delta", type=float, default=default.delta)
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--absent", type=float, help="value of every attribute of an object that is not there")
    given = parser.parse_args()
    parameters = Parameters(given.theta, given.window, given.epsilon, given.delta, given.seed, given.absent)
    try:
        settings = load_settings()
        with failures_told(settings):
            workshop = Workshop(settings, Catalog(settings).get(given.archive), verbose=True)
            workshop.progress.say(study_archive(workshop, Selection(given.periods), parameters).reason)
    except SkyarchiveError as error:
        sys.exit(str(error))


def submit(step: str) -> None:
    """Run one step for the archive and periods of the command line; exit 1 with a sentence if refused."""
    parser = argparse.ArgumentParser(description=f"Run the step {step} of an archive.")
    parser.add_argument("archive")
    parser.add_argument("--periods", help="2014, 2010..2014 or 2010,2012; all if left out")
    arguments = parser.parse_args()
    try:
        settings = load_settings()
        with failures_told(settings):
            workshop = Workshop(settings, Catalog(settings).get(arguments.archive), verbose=True)
            raise_refusals(run_steps(workshop, Selection(arguments.periods), [step]))
    except SkyarchiveError as error:
        sys.exit(str(error))
