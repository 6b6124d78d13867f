"""Changes as they are published: a line of JSON for each, for as long as somebody reads them."""

import json
import sys
import time
from collections.abc import Iterator

from skyarchive.answers.questions import Answer
from skyarchive.answers.values import json_value
from skyarchive.definition.model import Definition
from skyarchive.settings import Settings
from skyarchive.steps.windows.questions import WindowQuestions

_PATIENCE = 2.0
"""Seconds between two looks."""


def follow(settings: Settings, definition: Definition, query: str | None, patience: float = _PATIENCE) -> None:
    """Prints the changes of every period that is published from now on, until it is interrupted."""
    for change in new_changes(settings, definition, query, patience):
        sys.stdout.write(change + "\n")
        sys.stdout.flush()


def new_changes(settings: Settings, definition: Definition, query: str | None, patience: float) -> Iterator[str]:
    """What happens after the last record that is known now."""
    known = WindowQuestions(settings, definition, query).extents[-1].period
    while True:
        # Each look is one at what is published then: whoever writes goes on meanwhile.
        questions = WindowQuestions(settings, definition, query)
        last = questions.extents[-1].period
        if last > known:
            yield from _lines(questions.changes_after(known))
            known = last
        time.sleep(patience)


def _lines(answer: Answer) -> Iterator[str]:
    for row in answer.rows:
        values = {name: json_value(value) for name, value in zip(answer.columns, row, strict=True)}
        yield json.dumps(values, ensure_ascii=False)
