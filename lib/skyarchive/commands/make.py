"""Making raw data to try things on: generate."""

from pathlib import Path
from typing import Annotated, Literal

import typer
import yaml

from skyarchive.answers.options import IN_MEMORY, SEED
from skyarchive.definition.catalog import RAW_DEFINITION, Catalog, load_definition
from skyarchive.definition.model import Definition
from skyarchive.errors import SettingError
from skyarchive.generators.options import LONGEST_BLOCK, MOST_ATTRIBUTES
from skyarchive.progress import message
from skyarchive.settings import Settings, load_settings, schemas_folder
from skyarchive.wording import counted

Generated = Literal["nba", "stocks", "tcp", "synthetic"]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command()(generate)


def generate(
    archive: Annotated[Generated, typer.Argument(help="The archive to make raw files for.", show_default=False)],
    periods: Annotated[
        str | None, typer.Option("--periods", help="2010..2014 or 2010,2012; a sensible few if left out.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Equal seeds give equal files.")] = 0,
    size: Annotated[float, typer.Option(help="Scale: 1 is a demo, 10 has ten times the rows.")] = 1.0,
    dirt: Annotated[
        float,
        typer.Option(help="Share of faulty and odd rows to add, such as 0.01; each kind at least once."),
    ] = 0.0,
    flavour: Annotated[
        Literal["zeek", "plain", "lbl"], typer.Option(help="tcp: which kind of connection log.")
    ] = "zeek",
    objects: Annotated[
        int | None, typer.Option("--objects", "-N", min=1, max=IN_MEMORY, help="synthetic: objects at the start.")
    ] = None,
    attributes: Annotated[
        int, typer.Option("--attributes", "-m", min=1, max=MOST_ATTRIBUTES, help="synthetic: coordinates per object.")
    ] = 3,
    snapshots: Annotated[
        int, typer.Option("--snapshots", "-T", min=1, max=IN_MEMORY, help="synthetic: steps in all.")
    ] = 3000,
    moves: Annotated[float, typer.Option(help="synthetic: share of the objects that moves each step.")] = 0.025,
    births: Annotated[float, typer.Option(help="synthetic: new objects per step, as a share.")] = 0.0,
    deaths: Annotated[float, typer.Option(help="synthetic: share of the objects that goes each step.")] = 0.0,
    block: Annotated[int, typer.Option(min=1, max=LONGEST_BLOCK, help="synthetic: steps per period.")] = 1000,
) -> None:
    """Make seeded raw files in exactly the real formats, at any size, with dirt on request.

    Example: skyarchive generate nba --periods 2012..2014 --dirt 0.01

    Example: skyarchive generate synthetic -N 50000 -m 3 -T 10000
    """
    from skyarchive.generators import GenerateOptions, default_periods
    from skyarchive.generators import generate as generate_files

    settings = load_settings()
    _assert_its_own(settings, archive)
    options = GenerateOptions(
        seed=seed, size=size, dirt=dirt, flavour=flavour, objects=objects, attributes=attributes,
        snapshots=snapshots, moves=moves, births=births, deaths=deaths, block=block,
        periods=_periods(periods, archive),
    )  # fmt: skip
    names = list(options.periods) if options.periods else default_periods(archive, options)
    message(f"{archive}: making raw files for {counted(len(names), 'period', 'periods')} ...")
    folder = settings.raw_folder / archive
    paths = generate_files(archive, folder, options)
    if archive == "synthetic":
        _describe(settings, attributes, block)
    size_in_mb = sum(path.stat().st_size for path in paths) / 1e6
    message(
        f"{archive}: {counted(len(paths), 'file', 'files')}, {size_in_mb:.1f} MB in {folder}; "
        f"next: skyarchive run {archive}"
    )


def _periods(text: str | None, archive: str) -> list[str] | None:
    """Named periods; a range of years or days is written out."""
    from skyarchive.generators.ranges import written_out

    return None if text is None else written_out(text, archive)


def _assert_its_own(settings: Settings, archive: str) -> None:
    """Refuse a folder whose files a definition of the user describes: ours would be taken for its, and spoil it."""
    definition, built_in = Catalog(settings).get(archive), load_definition(_built_in_file(archive))
    if not definition.is_built_in and (archive != "synthetic" or definition.title != built_in.title):
        path = settings.raw_folder / archive / RAW_DEFINITION
        raise SettingError(
            f"{path} describes {archive} in its own way, and generated files are for the built-in definition: "
            "set SKYARCHIVE_RAW to another folder for them."
        )


def _built_in_file(archive: str) -> Path:
    return schemas_folder() / "archives" / f"{archive}.yaml"


def _describe(settings: Settings, attributes: int, block: int) -> None:
    """A definition beside the raw files, where the built-in one has another number of attributes or block size."""
    built_in = load_definition(_built_in_file("synthetic"))
    path = settings.raw_folder / "synthetic" / RAW_DEFINITION
    if len(built_in.attributes) == attributes and built_in.period.size == block:
        path.unlink(missing_ok=True)
        return
    content = built_in.model_dump(mode="json", exclude_none=True, exclude_unset=True)
    names = [f"x{i}" for i in range(attributes)]
    content["period"]["size"] = block
    fixed = {name: spec for name, spec in content["columns"].items() if name not in built_in.attributes}
    content["columns"] = fixed | {name: {"type": "double"} for name in names}
    content["attributes"] = {name: {"better": "lower"} for name in names}
    content["external"] = {"attributes": {name: {"better": "lower"} for name in names}}
    for query in content["windows"]:
        query["attributes"] = {name: {"better": "lower"} for name in names}
    Definition.model_validate(content)
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
