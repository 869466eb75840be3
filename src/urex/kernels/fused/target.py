"""What the kernels are written in that is not the same on a GPU and in the interpreter."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int


class Target(NamedTuple):
    """Where a kernel runs."""

    interpret: bool
    tanh: Callable[[Array], Array]
    barrier: Callable[[], None]
    """After it, every thread of a program sees what the others wrote before it."""

    def sigmoid(self, x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """By the hyperbolic tangent, which is one instruction."""
        return 0.5 * self.tanh(0.5 * x) + 0.5


TRITON = Target(False, triton.approx_tanh, triton.debug_barrier)
INTERPRETER = Target(True, jnp.tanh, lambda: None)
"""Runs on any device, slowly: for tests."""


def apart(t: Int[Array, ""], place: int, compute: Callable[[], Any]) -> Any:
    """`compute()`, in a branch of its own that is always taken.

    Triton lays out a matrix product by the products it feeds, as far as it can see within a branch; a
    product that feeds another has its rows dealt to the warps, and with fewer rows than the warps can take, some
    of them do the same work again. The compiler must not be able to tell that the branch is always taken, so
    it depends on the step, and nested ones take different places.
    """
    shapes = jax.eval_shape(compute)
    return jax.lax.cond(t >= -place, compute, lambda: jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes))


def dot(a: Float[Array, "n k"], b: Float[Array, "k m"]) -> Float[Array, "n m"]:
    """The product of two matrices of bfloat16, added up in 32 bits."""
    return jnp.dot(a, b, preferred_element_type=jnp.float32)
