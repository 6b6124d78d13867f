"""All steps from raw files to results, each in a room of its own; each comes after those it stands on."""

from skyarchive.steps.derive.step import DERIVE
from skyarchive.steps.external.step import EXTERNAL
from skyarchive.steps.frequent.step import FREQUENT
from skyarchive.steps.ingest.step import INGEST
from skyarchive.steps.skyline.step import SKYLINE
from skyarchive.steps.uncertain.step import UNCERTAIN
from skyarchive.steps.windows.step import WINDOWS

STEPS = (INGEST, DERIVE, SKYLINE, FREQUENT, EXTERNAL, WINDOWS, UNCERTAIN)
