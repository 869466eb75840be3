"""The manifest: what stands in it, and that nothing in it changes unnoticed."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from urex import UserError
from urex.runs import manifest
from urex.runs.durable import Damage

FACTS = {"env_steps": 123456789012, "wall_s": 1.5, "config": {"task": "copy", "actions": [2, 2, 5], "note": None}}
DATA = b"the arrays"
MANIFEST = manifest.describe(500, "0000000500.safetensors", DATA, FACTS)


def sealed(fields: dict[str, Any]) -> str:
    """The text of a manifest, by the rule as it is told, whatever the program makes of it."""
    text = json.dumps({name: fields[name] for name in sorted(fields)}, sort_keys=True).replace(", ", ",")
    digest = hashlib.sha256(text.replace(": ", ":").encode()).hexdigest()
    return json.dumps({"manifest_sha256": digest, **fields})


def test_it_says_what_the_arrays_must_be() -> None:
    fields = json.loads(manifest.encode(MANIFEST))
    assert fields.pop("urex")
    assert len(fields.pop("manifest_sha256")) == 64
    assert fields == {
        "schema": 1,
        "update": 500,
        "arrays": "0000000500.safetensors",
        "size": 10,
        "sha256": hashlib.sha256(DATA).hexdigest(),
        "facts": FACTS,
    }


def test_it_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "0000000500.json"
    path.write_bytes(manifest.encode(MANIFEST))
    assert manifest.read(path) == MANIFEST
    path.write_text(sealed(MANIFEST._asdict()))
    assert manifest.read(path) == MANIFEST


def test_no_bit_of_it_changes_unnoticed(tmp_path: Path) -> None:
    path, text = tmp_path / "0000000500.json", manifest.encode(MANIFEST)
    for position in range(8 * len(text)):
        flipped = bytearray(text)
        flipped[position // 8] ^= 1 << position % 8
        path.write_bytes(flipped)
        with pytest.raises(Damage, match=r"0000000500\.json is "):
            manifest.read(path)


def test_no_part_of_it_passes_for_all(tmp_path: Path) -> None:
    path, text = tmp_path / "0000000500.json", manifest.encode(MANIFEST)
    for length in range(len(text) - 1):  # the last byte ends the line
        path.write_bytes(text[:length])
        with pytest.raises(Damage, match="is no JSON"):
            manifest.read(path)


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"schema": 1}', '{"manifest_sha256": "0"}', "\udc80"])
def test_other_json_is_damage(tmp_path: Path, text: str) -> None:
    path = tmp_path / "0000000500.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(Damage):
        manifest.read(path)


def test_another_schema_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "0000000500.json"
    path.write_text(sealed({"schema": 2, "urex": "7.1", "something": "new"}))
    with pytest.raises(UserError) as caught:
        manifest.read(path)
    assert f"{path}: it is of schema 2, and urex " in str(caught.value)
    assert "reads schema 1; use urex 7.1 that wrote it, or start anew in another directory" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("0000000900.safetensors", DATA, "is not what its manifest describes, which is 0000000500.safetensors"),
        ("0000000500.safetensors", DATA[:-1], "has 9 bytes and not 10 as its manifest says"),
        ("0000000500.safetensors", b"The arrays", "its sha256 differs from its manifest's"),
    ],
)
def test_arrays_other_than_those_described_are_damage(name: str, data: bytes, sentence: str) -> None:
    manifest.check(MANIFEST, Path("0000000500.safetensors"), DATA)
    with pytest.raises(Damage, match=sentence):
        manifest.check(MANIFEST, Path(name), data)


@pytest.mark.parametrize("fact", [float("nan"), float("inf"), {1, 2}])
def test_facts_that_json_does_not_have_are_refused(fact: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        manifest.encode(MANIFEST._replace(facts={"fact": fact}))


def test_it_works_uninstalled(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise manifest.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(manifest.importlib.metadata, "version", missing)
    assert manifest.describe(0, "", b"", {}).urex == "unknown"
