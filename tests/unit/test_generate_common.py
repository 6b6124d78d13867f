"""What holds for every generator: equal options give equal bytes, bad options are refused, dirt is added."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skyarchive.errors import SettingError, SkyarchiveError
from skyarchive.generators import ARCHIVES, GenerateOptions, default_periods, generate
from skyarchive.generators.files import write_atomically

KINDS = [
    ("nba", "zeek"),
    ("stocks", "zeek"),
    ("tcp", "zeek"),
    ("tcp", "plain"),
    ("tcp", "lbl"),
    ("synthetic", "zeek"),
]
SMALL: dict[str, Any] = {
    "size": 0.2,
    "objects": 60,
    "snapshots": 60,
    "block": 20,
    "births": 0.01,
    "deaths": 0.01,
}


def contents(paths: list[Path]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.parametrize(("archive", "flavour"), KINDS)
@pytest.mark.parametrize("dirt", [False, True])
def test_equal_options_give_equal_bytes_and_another_seed_does_not(
    tmp_path: Path, archive: str, flavour: str, dirt: bool
) -> None:
    options = GenerateOptions(seed=7, flavour=flavour, dirt=dirt, **SMALL)
    first = contents(generate(archive, tmp_path / "a", options))
    again = contents(generate(archive, tmp_path / "b", options))
    other = contents(generate(archive, tmp_path / "c", GenerateOptions(seed=8, flavour=flavour, dirt=dirt, **SMALL)))
    assert len(first) == 3
    assert first == again
    assert all(first[name] != other[name] for name in first)


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from skyarchive.generators import *\n"
        "for name in ARCHIVES: generate(name, Path(sys.argv[1]), GenerateOptions(seed=7, size=0.05, dirt=True))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "12345"}
    subprocess.run([sys.executable, "-c", script, tmp_path / "other"], check=True, env=environment)
    options = GenerateOptions(seed=7, size=0.05, dirt=True)
    here = [path for name in ARCHIVES for path in generate(name, tmp_path / "here", options)]
    assert contents(here) == contents(list((tmp_path / "other").iterdir()))


@pytest.mark.parametrize(("archive", "flavour"), KINDS)
@pytest.mark.parametrize("dirt", [False, 0.02])
def test_a_period_is_the_same_alone_and_among_others(tmp_path: Path, archive: str, flavour: str, dirt: float) -> None:
    together = GenerateOptions(seed=3, flavour=flavour, dirt=dirt, **SMALL)
    all_files = contents(generate(archive, tmp_path / "all", together))
    middle = default_periods(archive, together)[1]
    alone = GenerateOptions(seed=3, flavour=flavour, dirt=dirt, periods=[middle], **SMALL)
    [path] = generate(archive, tmp_path / "one", alone)
    assert middle in path.name
    assert path.read_bytes() == all_files[path.name]


@pytest.mark.parametrize("archive", ARCHIVES)
def test_only_whole_files_are_left(tmp_path: Path, archive: str) -> None:
    folder = tmp_path / "raw" / archive
    written = generate(archive, folder, GenerateOptions(**SMALL))
    assert sorted(folder.iterdir()) == sorted(written)


@pytest.mark.parametrize(
    ("archive", "period"),
    [("nba", "2010-11"), ("nba", "12"), ("nba", "٢٠١٠"), ("stocks", "1850"), ("tcp", "2024-02-30"),
     ("tcp", "2024"), ("tcp", "20240419"), ("synthetic", "00003"), ("synthetic", "0"), ("nba", "../../etc"),
     ("tcp", "x'; drop table")],
)  # fmt: skip
def test_a_period_the_archive_cannot_have_is_refused(tmp_path: Path, archive: str, period: str) -> None:
    with pytest.raises(SettingError, match="is not a period"):
        generate(archive, tmp_path, GenerateOptions(periods=[period]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong",
    [{"size": 0}, {"seed": -1}, {"dirt": 0.9}, {"flavour": "pcap"}, {"objects": 0}, {"attributes": 0},
     {"snapshots": 0}, {"moves": 1.5}, {"births": -0.1}, {"deaths": 2}, {"block": 0}, {"size": float("nan")}],
)  # fmt: skip
def test_an_option_out_of_range_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=f"{next(iter(wrong))} is .*; it must be"):
        GenerateOptions(**wrong)


def test_an_unknown_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="there is one for nba, stocks, tcp, synthetic"):
        generate("nfl", tmp_path, GenerateOptions())


def test_no_periods_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no periods"):
        generate("nba", tmp_path, GenerateOptions(periods=[]))


def test_a_folder_that_cannot_be_is_an_explained_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SkyarchiveError, match="could not be written"):
        generate("tcp", tmp_path / "file", GenerateOptions(size=0.1))


def test_a_write_that_fails_leaves_the_file_that_was(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("whole")

    def half(hidden: Path) -> None:
        assert hidden.name.startswith(".") and hidden.parent == tmp_path
        hidden.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(SkyarchiveError, match=r"file could not be written: No space left on device"):
        write_atomically(target, half)
    assert target.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]
