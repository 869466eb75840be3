"""Offsets within the K samples of an instance: taken from all of them alike, they leave their comparison as it was."""

from jaxtyping import Array, Float


def below_best(x: Float[Array, "*instances K"]) -> Float[Array, "*instances K"]:
    """x - max_K x. Rewards only matter relative to each other, and so they lose no digits to a common offset."""
    return x - x.max(axis=-1, keepdims=True)


def less_mean(x: Float[Array, "*instances K"]) -> Float[Array, "*instances K"]:
    """x - mean_K x: the paper's baseline, which the sample itself is part of.

    Equal values give exactly 0, as they should where nothing is to be learnt: an optimiser that
    divides by the gradient's size would make steps of what rounding leaves of them.
    """
    relative = below_best(x)  # the mean of K equal numbers is not that number once rounded, except for 0
    return relative - relative.mean(axis=-1, keepdims=True)
