"""Find when records were in the skyline of the last while with at least a probability: spark-submit
--jars "$(skyarchive jars)" jobs/uncertain.py nba --periods 2014"""

from skyarchive.commands.submitting import submit

if __name__ == "__main__":
    submit("uncertain")
