"""The demo: three small archives from generated raw files to who was unbeaten, when, and for how long."""

import os
import shlex
import shutil
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from skyarchive.answers.output import render
from skyarchive.answers.questions import Answer
from skyarchive.definition.catalog import Catalog
from skyarchive.definition.frequent import asked_query
from skyarchive.errors import SettingError
from skyarchive.generators import GenerateOptions, generate
from skyarchive.orchestration.backfilling import Outcome, Request, run_backfill
from skyarchive.orchestration.local_airflow import LocalAirflow
from skyarchive.orchestration.naming import compute_id, ingest_id
from skyarchive.pipeline.session import SHORT_LIVED_JVM
from skyarchive.pipeline.status import period_statuses
from skyarchive.progress import Progress
from skyarchive.settings import Settings, load_settings
from skyarchive.steps.frequent.questions import FrequentQuestions
from skyarchive.steps.skyline.pictures import draw_reigns
from skyarchive.steps.skyline.questions import SkylineQuestions
from skyarchive.store.lake import Lake

_MARK = ".made-by-skyarchive-demo"
_PERIODS = {
    "nba": ["2013", "2014"],
    "stocks": ["2010", "2011"],
    "tcp": ["2024-04-19"],
}
_SEED = 7
_DIRT = 0.01
_SIZES = {"nba": 4.0}
"""Seasons of 80 games a club: a player counts after more than 30, so the first season has skylines from January on."""
_OFTEN = asked_query("0.8", 200)
_NOTHING_NEW = {"AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "600"}
"""No definition changes while the demo runs: DAGs need not be parsed again and again."""
_REFUSED = """
select archive, reason, count(*) as rows, min(file || ' row ' || row) as example from (
    select 'nba' as archive, * from nba.quarantine union all
    select 'stocks', * from stocks.quarantine union all
    select 'tcp', * from tcp.quarantine)
group by all order by archive, rows desc, reason
"""
_QUERIES = {
    "Which stocks were unbeaten on most days?": """
select object, sum(snapshots) as days, count(*) as reigns, min(first_time)::date as first, max(last_time)::date as last
from stocks.reigns group by object order by days desc, object limit 5""",
    "Which networks were unbeaten longest, and with how many connections at the end?": """
select r.object, snapshots, last_time, web, mail, shell, other
from tcp.reigns r asof join tcp.updates u on r.object = u.object and last_snapshot >= snapshot
order by snapshots desc, r.object limit 5""",
}


def run_demo(folder: Path) -> None:
    """Everything the project does so far, on data it makes itself, through an Airflow of its own."""
    began = time.monotonic()
    console = Console(highlight=False, soft_wrap=True)
    settings = _fresh(folder)
    _headline(console, "1. Raw files, with 1 % dirt")
    for archive, periods in _PERIODS.items():
        options = GenerateOptions(periods=periods, seed=_SEED, dirt=_DIRT, size=_SIZES.get(archive, 1.0))
        for path in generate(archive, folder / "raw" / archive, options):
            console.print(f"  {path}  {path.stat().st_size / 1000:,.0f} kB", markup=False)
    _headline(console, "2. A backfill of every period by Airflow's scheduler, each checked before it is published")
    os.environ.setdefault("JDK_JAVA_OPTIONS", SHORT_LIVED_JVM)
    airflow = LocalAirflow(folder / "airflow", settings, extra=_NOTHING_NEW)
    try:
        with Progress().phase("starting a private Airflow and Spark (about a minute)"):
            airflow.start()
        _backfill(airflow)
    finally:
        airflow.stop()
    lake = Lake(settings)
    _headline(console, "3. What was refused, and why")
    _answer(lake, _REFUSED)
    _headline(console, "4. Where everything stands (skyarchive status)")
    statuses = [s for archive in _PERIODS for s in period_statuses(settings, Catalog(settings).get(archive))]
    columns = ["archive", "period", "state", *statuses[0].counts, "why"]
    render(columns, [(s.archive, s.period, s.state, *s.counts.values(), s.why) for s in statuses], "table")
    _headline(console, "5. Questions")
    nba = Catalog(settings).get("nba")
    questions, often = SkylineQuestions(settings, nba), FrequentQuestions(settings, nba)
    longest = questions.reigns(10)
    at_the_end = questions.changes("2014-03-15", "2014-07-01")
    for title, answer in (
        ("Which players were unbeaten longest?", Answer(longest.columns, longest.rows[:5])),
        ("Who replaced whom at the end of the last season?", at_the_end),
        (
            "Who was unbeaten after at least 80 % of the last 200 games?",
            often.frequent_at(_OFTEN, None),
        ),
    ):
        console.print(f"\n[bold]{title}[/bold]")
        render(answer.columns, answer.rows, "table")
    for question, sql in _QUERIES.items():
        console.print(f"\n[bold]{question}[/bold]")
        _answer(lake, sql)
    picture = folder / "reigns.svg"
    draw_reigns(questions, longest, picture)
    console.print(f"The longest reigns are drawn in {picture}.", markup=False)
    _farewell(console, folder, airflow, time.monotonic() - began)


def _backfill(airflow: LocalAirflow) -> None:
    """All archives at once, as nightly runs would: each has a writer's slot of its own."""
    os.environ.update(airflow.environment)
    airflow.unpause([name(archive) for archive in _PERIODS for name in (ingest_id, compute_id)])
    catalog, progress = Catalog(airflow.settings), Progress()

    def backfill(archive: str, periods: list[str], outcome: "Future[Outcome]") -> None:
        try:
            request = Request(f"{periods[0]}..{periods[-1]}")
            outcome.set_result(run_backfill(catalog.get(archive), request, progress))
        except BaseException as error:
            outcome.set_exception(error)

    outcomes: list[Future[Outcome]] = []
    for archive, periods in _PERIODS.items():
        outcomes.append(Future())
        # Daemons, unlike a pool's threads: whoever interrupts the demo does not wait for runs that never end now.
        threading.Thread(target=backfill, args=(archive, periods, outcomes[-1]), daemon=True).start()
    for outcome in outcomes:
        outcome.result().raise_failures(Lake(airflow.settings))


def _fresh(folder: Path) -> Settings:
    """Settings of the demo's own folder, emptied if an earlier demo made it."""
    if folder.exists():
        if not (folder / _MARK).exists():
            raise SettingError(f"{folder} is there and no demo made it; name another --folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / _MARK).touch()
    here = folder.absolute()
    return replace(load_settings(), warehouse=str(here / "warehouse"), raw=str(here / "raw"), archives="")


def _headline(console: Console, text: str) -> None:
    console.print(f"\n[bold cyan]{text}[/bold cyan]")


def _answer(lake: Lake, sql: str) -> None:
    result = lake.query(sql)
    render(result.columns, result.rows, "table")


def _farewell(console: Console, folder: Path, airflow: LocalAirflow, seconds: float) -> None:
    _headline(console, f"Done in {seconds:.0f} s. To go on:")
    lines = [
        "export " + " ".join(f"SKYARCHIVE_{it.upper()}={shlex.quote(f'{folder}/{it}')}" for it in ("warehouse", "raw")),
        "skyarchive skyline nba --at 2014-06-01",
        "skyarchive reigns stocks --top 10 --plot reigns.svg",
        "skyarchive frequent nba --theta 0.5 --window 300 --plot frequent.svg",
        'skyarchive sql "select reason, count(*) from nba.quarantine group by reason"',
        "skyarchive history nba.updates",
        "skyarchive docs nba",
        f"skyarchive airflow --folder {shlex.quote(str(airflow.folder))}   # the grid of these runs, in the browser",
    ]
    for line in lines:
        console.print(f"  {line}", markup=False)
