"""Streams of randomness: one for each purpose, and none of them another's."""

import jax
import numpy as np

from urex.streams import Stream, key_of


def test_purposes_and_seeds_have_keys_of_their_own() -> None:
    keys = [jax.random.key_data(key_of(seed, stream)).tolist() for seed in range(50) for stream in Stream]
    assert len({tuple(key) for key in keys}) == len(keys)


def test_they_do_not_meet_after_being_split_or_folded() -> None:
    """What training and evaluation do with theirs."""
    made = []
    for stream in Stream:
        key = key_of(0, stream)
        made += [*jax.random.split(key, 4), *(jax.random.fold_in(key, i) for i in range(200))]
    data = np.array([jax.random.key_data(key) for key in made])
    assert len(np.unique(data, axis=0)) >= len(Stream) * 200
