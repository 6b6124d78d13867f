"""Derive periods of an archive: spark-submit --jars "$(skyarchive jars)" jobs/derive.py nba --periods 2014"""

from skyarchive.commands.submitting import submit

if __name__ == "__main__":
    submit("derive")
