"""What watching live would cost: monitor. It needs no Spark."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skyarchive.answers.options import COUNT, IN_MEMORY, SEED, FormatOption, VerboseOption, workshop_for
from skyarchive.answers.output import render
from skyarchive.errors import SettingError
from skyarchive.progress import message

if TYPE_CHECKING:
    from skyarchive.studies.monitoring import Study

Data = Literal["independent", "correlated", "anticorrelated"]


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command()(monitor)


def monitor(
    archive: Annotated[
        str | None, typer.Argument(metavar="ARCHIVE", help="The archive to replay.", show_default=False)
    ] = None,
    periods: Annotated[
        str | None,
        typer.Option("--periods", help="Consecutive ones: 2014, 2010..2014, 2010.. or ..2014; all if left out."),
    ] = None,
    data: Annotated[
        Data | None, typer.Option("--data", help="Instead of an archive, the paper's synthetic data.")
    ] = None,
    objects: Annotated[int, typer.Option("--objects", "-N", min=1, max=IN_MEMORY, help="--data: how many.")] = 2500,
    dimensions: Annotated[int, typer.Option("--dimensions", "-m", min=1, max=16, help="--data: attributes.")] = 2,
    uncertainty: Annotated[
        float, typer.Option("--uncertainty", "-u", min=0, max=1, help="--data: half the edge of an object's box.")
    ] = 0.08,
    snapshots: Annotated[int, typer.Option("--snapshots", "-T", min=1, max=IN_MEMORY, help="--data: how many.")] = 2000,
    theta: Annotated[str, typer.Option(help="Share of a window's snapshots that makes an object frequent.")] = "0.8",
    window: Annotated[int, typer.Option(min=1, max=COUNT, help="Snapshots of a window.")] = 1000,
    epsilon: Annotated[float, typer.Option(help="Error that Sampling and Hybrid may make in the share.")] = 0.2,
    delta: Annotated[float, typer.Option(help="With this doubt, at most (twice).")] = 0.1,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Of the samples, and of --data.")] = 0,
    absent: Annotated[
        float | None,
        typer.Option(
            "--absent",
            help="Objects that are not there take part with this value everywhere, as in the paper's study of TCP "
            "connections: 0 of each kind. If left out, they take no part.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the comparison into this file (.svg, .png or .pdf).")
    ] = None,
    format: FormatOption = "table",
    verbose: VerboseOption = False,
) -> None:
    """Replay an archive as if it were watched live, and compare what that costs.

    Every object is a client that reports to a server: at every snapshot (naive), when something changes (changes), when
    it leaves a filter or is asked (filter), at random snapshots (sampling), or as suits it best (hybrid). Shows
    messages, CPU time and how good the answers are to: who was in the skyline of at least theta of the last --window
    snapshots? An archive's results are kept in its table `monitoring`.

    Example: skyarchive monitor tcp --periods 2024-04-19..2024-04-21 --plot monitoring.svg

    Example: skyarchive monitor tcp --absent 0

    Example: skyarchive monitor --data independent --objects 2500 --dimensions 4 --uncertainty 0.08
    """
    from skyarchive.studies.monitoring import Parameters, study_archive, study_workload

    if (archive is None) == (data is None):
        raise SettingError("Give an ARCHIVE to replay, or --data, and not both.")
    if plot is not None:
        from skyarchive.answers.pictures import check_picture

        check_picture(plot)
    parameters = Parameters(theta, window, epsilon, delta, seed, absent)
    if archive is not None:
        from skyarchive.definition.selection import Selection

        study = study_archive(workshop_for(archive, verbose), Selection(periods), parameters)
    else:
        from skyarchive.kernels.monitoring.workloads import Workload
        from skyarchive.progress import Progress

        for name, given in (("periods", periods), ("absent", absent)):
            if given is not None:
                raise SettingError(f"--{name} goes with an ARCHIVE; --data has none.")
        workload = Workload(data or "independent", objects, dimensions, uncertainty, snapshots, seed)
        study = study_workload(workload, parameters, Progress())
    _show(study, plot, format)


def _show(study: "Study", plot: Path | None, format: FormatOption) -> None:
    found = study.replay
    message(
        f"{study.title}: {found.snapshots} snapshots, {found.sampled} of them sampled (rate {study.rate:.3f}); "
        f"{found.objects:,} objects, {found.lived / found.snapshots:,.1f} of them there on average."
    )
    message(f"Recommended: {study.reason}")
    if plot is not None:
        from skyarchive.studies.monitoring_pictures import draw_study

        draw_study(study, plot)
        message(f"Drawn into {plot}.")
    rows = study.rows
    render(list(rows[0]), [tuple(row.values()) for row in rows], format)
