"""Stages: their widths, and lanes that are moved and put back."""

import jax.numpy as jnp
import numpy as np
import pytest

from urex.kernels.ragged.stages import live_first, pick, put_back, widths


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        (1, (1,)),
        (23, (23,)),
        (24, (24, 12)),
        (25, (25, 13)),
        (100, (100, 50, 25, 13)),
        (400, (400, 200, 100, 50)),
    ],
)
def test_each_is_half_the_one_before_and_none_too_narrow(lanes: int, expected: tuple[int, ...]) -> None:
    assert widths(lanes) == expected


def test_live_lanes_stand_first_in_their_order() -> None:
    over = jnp.array([True, False, True, False, False])
    order, rank = live_first(over)
    assert order.tolist() == [1, 3, 4, 0, 2]
    assert rank.tolist() == [3, 0, 4, 1, 2]


def test_what_is_put_back_stands_where_it_was_picked() -> None:
    order, rank = live_first(jnp.array([True, False, True, False, False]))
    wide = (jnp.arange(5.0), jnp.arange(10.0).reshape(5, 2))
    narrow = pick(wide, order[:3])
    assert narrow[0].tolist() == [1, 3, 4]
    back = put_back((narrow[0] + 10, narrow[1] + 10), rank, wide)
    assert back[0].tolist() == [0, 11, 2, 13, 14]
    np.testing.assert_array_equal(back[1], [[0, 1], [12, 13], [4, 5], [16, 17], [18, 19]])
