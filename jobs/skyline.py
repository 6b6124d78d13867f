"""Compute periods' skylines: spark-submit --jars "$(skyarchive jars)" jobs/skyline.py nba --periods 2014"""

from skyarchive.commands.submitting import submit

if __name__ == "__main__":
    submit("skyline")
