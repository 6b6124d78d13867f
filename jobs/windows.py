"""Find when records were in the skyline of the last while: spark-submit --jars "$(skyarchive jars)" jobs/windows.py nba
--periods 2014"""

from skyarchive.commands.submitting import submit

if __name__ == "__main__":
    submit("windows")
