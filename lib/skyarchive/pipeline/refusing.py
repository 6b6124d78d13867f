"""Keeping why a step did not publish a period: Spark is not needed for it, and may be what failed."""

from collections.abc import Sequence
from datetime import UTC, datetime

from skyarchive.errors import SkyarchiveError
from skyarchive.pipeline.publishing import Outcome, Run
from skyarchive.pipeline.workshop import Workshop, code_version
from skyarchive.store.refusals import TABLE


def keep_refusals(workshop: Workshop, outcome: Outcome) -> None:
    """Add what a step refused to `refusals`. Where that cannot be written, the run's own words must do."""
    if not outcome.refused:
        return
    now = datetime.now(UTC)
    rows = [
        {
            "period": period,
            "step": outcome.step,
            "time": now,
            "sentence": why,
            "run_id": outcome.judged_by.get(period),
            "code_version": code_version(),
        }
        for period, why in outcome.refused.items()
    ]
    try:
        workshop.tables.note(TABLE, rows, Run(workshop, outcome.step, {}).commit(list(outcome.refused)))
    except Exception as error:  # whatever it is: the refusal itself must be told
        first = str(error).strip().split("\n")[0]
        workshop.progress.say(f"{workshop.archive}: `status` will not know of what was refused: {first}")


def keep_failure(workshop: Workshop, step: str, periods: Sequence[str], began: datetime, error: Exception) -> None:
    """The same for an error that ended a step; what it had published since it began is not concerned."""
    try:
        published = workshop.ledger().of(step)
    except Exception:  # the tables may be what cannot be read
        published = {}
    outcome = Outcome(step)
    outcome.refuse([p for p in periods if p not in published or published[p].started < began], _sentence(error))
    keep_refusals(workshop, outcome)


def _sentence(error: Exception) -> str:
    if isinstance(error, SkyarchiveError):
        return str(error)
    first = str(error).strip().split("\n")[0]
    return f"it failed with {type(error).__name__}{': ' if first else ''}{first}"
