"""Why a record is as probable as it is at a moment."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from skyarchive.answers.questions import Answer
from skyarchive.arrivals.moments import Moment, time_of
from skyarchive.errors import SettingError
from skyarchive.steps.uncertain.replaying import Living, living_at

if TYPE_CHECKING:
    from skyarchive.steps.uncertain.questions import UncertainQuestions

_COSTLY = 3
"""Records that cost it most are shown."""
_FILE_ROW = re.compile(r"(.+):(\d{1,18})")


def reasons(questions: "UncertainQuestions", moment: Moment, who: str) -> Answer:
    """One row for the record, and one each for those that cost it most."""
    living = living_at(questions, moment)
    at = _asked_for(questions, living, moment, who)
    beating = living.beaten_by(at)
    chance = living.chance
    older, younger = beating[beating < at], beating[beating > at]
    products = float(np.prod(1 - chance[older])), float(np.prod(1 - chance[younger]))
    own = float(chance[at])
    probability = own * products[0] * products[1]
    costly = sorted(beating.tolist(), key=lambda other: (-chance[other], other))[:_COSTLY]
    names = questions.called([questions.described(living, place)[1] for place in (at, *costly)])

    def row(place: int, what: str, *numbers: float | None) -> tuple[Any, ...]:
        group, item, _, *values = questions.described(living, place)
        file, number, time = living.records.name_of(place)
        named = names.get(item, item)
        return (what, group, item, named, *values, float(chance[place]), *numbers, time_of(time), file, number)

    rows = [row(at, "asked for", *products, probability)]
    rows += [row(other, "older" if other < at else "younger", None, None, None) for other in costly]
    columns = ["what", "group_key", "object", "name", *questions.query.attributes, "own", "older", "younger",
               "probability", "arrived", "file", "row"]  # fmt: skip
    name = rows[0][3]
    remark = (
        f"{name}: {probability:.6g} at {moment} = {own:.6g} its own x {products[0]:.6g} that none of {len(older)} "
        f"older ones that beat it exists x {products[1]:.6g} that none of {len(younger)} younger ones does."
    )
    return questions.answer(columns, rows, remark)


def _asked_for(questions: "UncertainQuestions", living: Living, moment: Moment, who: str) -> int:
    """The place of a record among the living: by file and row, or the most probable of an object."""
    records = living.records
    found = _FILE_ROW.fullmatch(who)
    if found:
        known = records.file.names.to_pylist()
        if found[1] in known:
            places = np.flatnonzero((records.file.codes == known.index(found[1])) & (records.row == int(found[2])))
            if len(places):
                return int(places[0])
    item, _ = questions.objects_called(who)
    objects = records.object.names.to_pylist()
    places = np.flatnonzero(records.object.codes == objects.index(item)) if item in objects else np.zeros(0, np.int64)
    if not len(places):
        raise SettingError(
            f"{questions.definition.name} has no record of {who!r} that counts at {moment} (query "
            f"{questions.query.name}): give FILE:ROW, an object or its name."
        )
    return max(places.tolist(), key=lambda place: (_probability(living, place), -place))


def _probability(living: Living, at: int) -> float:
    return float(living.chance[at] * np.prod(1 - living.chance[living.beaten_by(at)]))
