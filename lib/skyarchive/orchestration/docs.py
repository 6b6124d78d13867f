"""What Airflow's pages say of DAGs and tasks."""

INGEST = """\
### {title}: raw files to the update log

For one period: `ingest`, then what stands on it and on nothing that another DAG waits for. The period is the run's
partition key, or the parameter `period` of a run started by hand. A period without raw files is skipped with a
sentence: they may still come.

When the updates are published, the asset `skyarchive://{archive}/updates` is told with the period as partition key,
and `{archive}_compute` starts for it.

- A range of periods: `skyarchive backfill {archive} --periods A..B`, or a backfill of this DAG.
- Where everything stands: `skyarchive status {archive}`
"""

COMPUTE = """\
### {title}: what follows from the updates

Starts for every period whose updates were published (asset `skyarchive://{archive}/updates`) and computes who was
unbeaten, when, and for how long. Then `refresh` computes again what became stale: a correction of an old period
changes what the later ones start from.

A step waits for those of its period that it stands on, and for no other: what one of them refuses stops nothing beside
it. Steps of the archive: {steps}.
"""

MAINTENANCE = """\
### Care of all tables

Per archive: small files are made into larger ones, files that no version within the retention needs are deleted
(results stay reproducible for ten years; a shorter retention is refused), and the sizes of the tables are written
to `runs`. Readers notice nothing.
"""

AUDIT = """\
### Are the published skylines right?

Per archive: random snapshots are computed again from `updates` by comparing everybody with everybody, and
compared with `skyline`. A difference fails the task with the snapshots and objects, and stands in `quality`.
"""

REFRESH = """\
Computes again what became stale or was left unfinished in `{archive}`, earliest period first, and stops as soon as a
period ends as it did before. Waits for the last of several ingest runs: while others are queued it is skipped, and
the last one refreshes for all.
"""

MAINTAIN = "Compacts and vacuums the tables of `{archive}` and notes their sizes."
AUDIT_ONE = "Computes random snapshots of `{archive}` again by brute force: `skyarchive audit {archive}`."
