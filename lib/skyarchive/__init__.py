"""Skyline Archive: who was unbeaten, when, and for how long."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skyarchive.dataframes.skylines import register_sql, skyline

__version__ = "0.1.0"
__all__ = ["__version__", "register_sql", "skyline"]


def __getattr__(name: str) -> Any:
    """The functions for Spark, imported when they are asked for: Airflow imports this package at every parse."""
    if name in ("register_sql", "skyline"):
        return getattr(import_module("skyarchive.dataframes.skylines"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
