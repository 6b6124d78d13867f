"""A failed task tells a webhook, if one is set."""

import json
from typing import Any
from urllib.request import Request, urlopen

from skyarchive.settings import load_settings

_TIMEOUT = 10


def notify_failure(context: dict[str, Any]) -> None:
    """Posts what failed as JSON to SKYARCHIVE_WEBHOOK. That it cannot be reached is logged, and changes nothing."""
    webhook = load_settings().webhook
    if not webhook:
        return
    message = failure_message(context)
    request = Request(webhook, json.dumps(message).encode(), {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=_TIMEOUT):
            pass
    except OSError as error:
        print(f"The webhook could not be told of the failure: {error}")


def failure_message(context: dict[str, Any]) -> dict[str, Any]:
    """`text` is what chat services show; the rest is for programs."""
    ti, run = context["ti"], context["dag_run"]
    period = (context.get("params") or {}).get("period") or run.partition_key
    error = str(context.get("exception") or "no message")
    return {
        "text": f"{ti.dag_id}.{ti.task_id} failed for {period or run.run_id}: {error}",
        "dag": ti.dag_id,
        "task": ti.task_id,
        "run": run.run_id,
        "period": period,
        "error": error,
        "log": getattr(ti, "log_url", None),
    }
