"""Slow, obvious answers to compare the derivers with: whole archives at once, no carry, no Spark, nothing of
the library. Each function takes all the raw files of an archive and returns its `Derived` tables."""

from oracle.box_scores import nba
from oracle.common import Derived
from oracle.connections import tcp
from oracle.generic import full_snapshots, update_log
from oracle.prices import stocks

__all__ = ["Derived", "full_snapshots", "nba", "stocks", "tcp", "update_log"]
