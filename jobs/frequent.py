"""Compute who was often unbeaten: spark-submit --jars "$(skyarchive jars)" jobs/frequent.py nba --periods 2014"""

from skyarchive.commands.submitting import submit

if __name__ == "__main__":
    submit("frequent")
