"""Settings: environment over `skyarchive.toml` over defaults."""

import math
import os
import re
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from skyarchive.errors import SettingError

CONFIG_FILE = "skyarchive.toml"
_MOST_UPDATES = 2**31 - 1
_LOCAL = r"local(\[(\*|[1-9]\d*)(, *[1-9]\d*)?\]|-cluster\[.+\])?"
_FORMS = {
    "master": (
        re.compile(rf"{_LOCAL}|(spark|sc|k8s)://.+|yarn"),
        "no Spark master: write local[*], local[2], spark://host:7077, sc://host:15002, yarn or k8s://https://host",
    ),
    "driver_memory": (re.compile(r"[1-9]\d{0,8}[kmgt]b?", re.IGNORECASE), "no amount of memory: write 3g or 2500m"),
}
"""What some settings must look like, as Spark itself would only say when it has started half."""
_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]


def schemas_folder() -> Path:
    """The archive definitions, table schemas and expectations: in the wheel, or beside `lib` in a checkout."""
    packaged = _PACKAGE / "schemas"
    return packaged if packaged.is_dir() else _CHECKOUT / "schemas"


def _default_jars() -> Path:
    in_checkout = (_CHECKOUT / "pyproject.toml").is_file()
    return _CHECKOUT / ".jars" if in_checkout else Path(sys.prefix) / "share" / "skyarchive" / "jars"


@dataclass(frozen=True)
class Settings:
    """Where things are and how Spark is reached. Every field is a key of `skyarchive.toml` and, as
    `SKYARCHIVE_<FIELD>`, an environment variable."""

    warehouse: str = "warehouse"
    """Folder (or URI) of the tables: <warehouse>/<archive>/<table>."""
    raw: str = "raw"
    """Folder with one subfolder of raw files per archive."""
    archives: str = ""
    """More folders of archive YAML, separated like PATH."""
    master: str = "local[*]"
    """Spark master URL, or a Spark Connect address (sc://host:port)."""
    driver_memory: str = "3g"
    """Memory of the local Spark JVM."""
    lock_wait: float = 600.0
    """Seconds a second writer of an archive waits before it gives up."""
    part_updates: int = 2_000_000
    """Updates that one call of the skyline kernel takes: its memory is bounded by them."""
    webhook: str = ""
    """Address that is told, with a JSON message, of every task that fails in Airflow."""
    log: str = "skyarchive.log"
    """File that takes Spark's own log lines, in the warehouse unless it is a path."""
    jars: str = str(_default_jars())
    """Folder of the Delta jars that set-up fetched."""

    @property
    def archive_folders(self) -> list[Path]:
        return [Path(folder) for folder in self.archives.split(os.pathsep) if folder]

    @property
    def raw_folder(self) -> Path:
        return Path(self.raw)

    @property
    def log_file(self) -> Path:
        log = Path(self.log)
        if log.is_absolute() or len(log.parts) > 1 or "://" in self.warehouse:
            return log
        return Path(self.warehouse) / log


def load_settings(config: Path | None = None) -> Settings:
    """The settings in force in this process. Folders are absolute from here on: Airflow, Spark and their workers are
    told them and work elsewhere. Those of a file are seen from its folder, all others from the working folder."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise SettingError("The working folder is no longer there: go to another one.") from None
    path = here / (config or CONFIG_FILE)
    values: dict[str, tuple[Any, str, Path]] = {f.name: (f.default, f.name, here) for f in fields(Settings)}
    if path.is_file():
        values |= {key: (value, f"{key} in {path}", path.parent) for key, value in _from_toml(path).items()}
    for key in values:
        name = f"SKYARCHIVE_{key.upper()}"
        if name in os.environ:
            values[key] = (os.environ[name], name, here)
    return Settings(
        **{key: _absolute(key, _typed(key, value, origin), at) for key, (value, origin, at) in values.items()}
    )


def _absolute(key: str, value: Any, folder: Path) -> Any:
    """A setting that names folders or files, as seen from this folder; any other as it is."""
    if key == "archives":
        return os.pathsep.join(str(folder / part) for part in value.split(os.pathsep) if part)
    if key == "log" and len(Path(value).parts) == 1:
        return value  # a name, for a file in the warehouse
    is_path = key in ("warehouse", "raw", "log", "jars") and "://" not in value
    return str(folder / value) if is_path else value


def _from_toml(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} is not valid TOML: {error}.") from error
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}. Give this user the right to it.") from error
    allowed = {field.name for field in fields(Settings)}
    unknown = sorted(set(content) - allowed)
    if unknown:
        raise SettingError(f"{path}: unknown setting {unknown[0]!r}; allowed are {', '.join(sorted(allowed))}.")
    return content


def _typed(key: str, value: Any, origin: str) -> Any:
    if key == "archives" and isinstance(value, list):
        return os.pathsep.join(map(str, value))
    if key == "lock_wait":
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            seconds = math.nan
        if isinstance(value, bool) or not 0 <= seconds < math.inf:
            raise SettingError(f"{origin}: {value!r} is not a number of seconds.")
        return seconds
    if key == "part_updates":
        if isinstance(value, bool) or not str(value).isdecimal() or not 1 <= int(value) <= _MOST_UPDATES:
            raise SettingError(f"{origin}: {value!r} is not a number of updates from 1 to {_MOST_UPDATES}.")
        return int(value)
    if key in _FORMS:
        form, written = _FORMS[key]
        if not isinstance(value, str) or not form.fullmatch(value):
            raise SettingError(f"{origin}: {value!r} is {written}.")
        return value
    if not isinstance(value, str) or (not value and key not in ("archives", "webhook")):
        raise SettingError(f"{origin}: {value!r} is no path or address (in a file: in quotes).")
    return unquote(value.removeprefix("file://")) if key == "warehouse" and value.startswith("file://") else value
