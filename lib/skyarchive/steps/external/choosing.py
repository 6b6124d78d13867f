"""Which plan: a rule on what a look at some rows lets expect."""
from pyspark.sql import DataFrame

from skyarchive.steps.external.workers import Question


def chosen_plan(rows: DataFrame, question: Question):
    return "tree"
