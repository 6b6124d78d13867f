"""What Airflow's pages say of DAGs and tasks."""

INGEST = """\
### {title}: raw files to the update log

For one period, `ingest` then `derive`. The period is the run's partition key, or the parameter `period` of a
run started by hand. A period without raw files is skipped with a sentence: they may still come.

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

Steps of an archive, in their order: {steps}.
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

STEPS = {
    "ingest": """\
Reads the period's raw files into `{archive}.raw`. Rows with a fault go to `{archive}.quarantine` with the reason;
too many of them stop the period.

**If it fails:** the log names the file, the rows and the expectation. Nothing was published and the last good
version stays. Correct the file and clear this task. `skyarchive docs {archive}` shows every check in the browser.

**If it is skipped:** there is no raw file for the period yet.
""",
    "derive": """\
Makes the period's timeline from `{archive}.raw`: `snapshots`, `updates`, `objects`, and `carry`, which the next period
starts from.

**If it fails:** the log names the expectation and a sample of the rows. Nothing was published, and nothing after it
runs.
""",
    "skyline": """\
Computes the intervals during which nobody beat an object, at every snapshot of the period: `{archive}.skyline`.
A sample of snapshots is checked by brute force before it is published.

**If it is skipped:** an earlier period was published in the meantime, so its updates start from something else now;
`refresh` computes both again.

Look at it: `skyarchive reigns {archive} --top 20`, `skyarchive skyline {archive} --at TIME`
""",
    "frequent": """\
Computes, for every query (theta, window) of the archive's definition, the intervals during which an object was
unbeaten in at least theta of the last snapshots: `{archive}.frequent`. Windows reach back into earlier periods, as many
as they span. A sample of snapshots is counted again in `{archive}.skyline` before it is published.

**If it is skipped:** the skylines of a period that it looks back into are not there yet, or no longer fit; `refresh`
computes it when they are.

Look at it: `skyarchive frequent {archive} --theta 0.8 --window 100 --at TIME`, for any theta and window
""",
    "external": """\
Finds the records that no other record ever seen up to the end of the period beats: `{archive}.external`. It starts from
those of the period before (which it computes first, if they are not there) and the period's raw rows. Samples of the
rows are compared by brute force before it is published.

**If it fails:** the log names the expectation or the expression of the definition that cannot be computed. Nothing was
published, and the last good version stays.

Look at it: `skyarchive external {archive}`
""",
}

REFRESH = """\
Computes again what became stale or was left unfinished in `{archive}`, earliest period first, and stops as soon as a
period ends as it did before. Waits for the last of several ingest runs: while others are queued it is skipped, and
the last one refreshes for all.
"""

MAINTAIN = "Compacts and vacuums the tables of `{archive}` and notes their sizes."
AUDIT_ONE = "Computes random snapshots of `{archive}` again by brute force: `skyarchive audit {archive}`."
