"""What must be the same however a run came to its end."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from urex.runs import manifest
from urex.runs.manifest import Manifest

TIMES = ("wall_s", "compile_s", "env_steps_per_s")


class Outcome(NamedTuple):
    """All that a run left behind, but for the times it took."""

    metrics: list[dict[str, Any]]
    arrays: str
    """The digest of the last checkpoint's arrays."""
    facts: dict[str, Any]
    result: dict[str, Any]


def outcome(run: Path) -> Outcome:
    """Of a run that is done."""
    last = newest(run)
    text = (run / "metrics.jsonl").read_text()
    assert text.endswith("\n")
    facts = {name: value for name, value in last.facts.items() if name != "metrics_bytes"}
    result = json.loads((run / "result.json").read_text())
    return Outcome(
        [_timeless(json.loads(line)) for line in text.splitlines()], last.sha256, _timeless(facts), _timeless(result)
    )


def newest(run: Path) -> Manifest:
    """What is known of the last checkpoint."""
    return manifest.read(max((run / "checkpoint").glob("*.json")))


def _timeless(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in TIMES}
