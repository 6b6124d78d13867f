"""Find periods' unbeaten records: spark-submit --jars "$(skyarchive jars)" jobs/external.py nba --periods 2014"""

from skyarchive.commands.submitting import submit

if __name__ == "__main__":
    submit("external")
