"""Replay periods as if watched live: python jobs/monitor.py tcp --periods 2024-04-19..2024-04-21 --theta 0.8"""

from skyarchive.commands.submitting import submit_monitor

if __name__ == "__main__":
    submit_monitor()
