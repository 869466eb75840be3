"""The laws hold exactly, so they are tested in double precision; what is meant for single precision says so."""

from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield
