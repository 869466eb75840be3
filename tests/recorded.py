"""The recorded behaviour of the original environments; `data/README.md` says what is in it."""

import json
import lzma
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"
NAMES = {
    "Copy-v0": "copy",
    "DuplicatedInput-v0": "duplicated-input",
    "RepeatCopy-v0": "repeat-copy",
    "Reverse-v0": "reverse",
    "ReversedAddition-v0": "reversed-addition",
    "ReversedAddition3-v0": "reversed-addition3",
}
"""The originals' names and ours."""


def _text(name: str) -> str:
    return lzma.decompress((DATA / name).read_bytes()).decode()


@cache
def episodes() -> list[dict]:
    """All recorded episodes."""
    return [json.loads(line) for line in _text("golden_public.jsonl.xz").splitlines()]


@cache
def resets() -> list[dict]:
    """All recorded sequences of resets of one environment."""
    return json.loads(_text("golden_curriculum.json.xz"))


@cache
def shared_resets() -> list[dict]:
    """All recorded rounds of resets of environments that share a curriculum."""
    return json.loads(_text("golden_curriculum_shared.json.xz"))
