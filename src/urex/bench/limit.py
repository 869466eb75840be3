"""The arithmetic limit: the operations of a training step, and how fast the machine multiplies matrices."""

import statistics
import time

import jax
import jax.numpy as jnp

from urex.config import Config

SECONDS = 0.5
"""How long the machine's rate is measured."""


def flop_per_step(config: Config, actions: int) -> float:
    """Floating-point operations of one step of one episode, forward and backward.

    With H units and A actions: 2 H 4H of the recurrent product and 2 H A of the readout; what goes in is one-hot, so it
    costs nothing. The backward pass has each product twice: for what comes back, and for the weights.
    """
    recurrent, readout = 2 * config.hidden * 4 * config.hidden, 2 * config.hidden * actions
    return 3.0 * (recurrent + readout)


def matrix_rate(kernel: str) -> float:
    """Operations a second of a large product of matrices, in the numbers in which the kernel multiplies: the median."""
    on_gpu = jax.default_backend() == "gpu"
    size, dtype = (8192, jnp.bfloat16) if kernel == "fused" else (8192 if on_gpu else 2048, jnp.float32)
    matrix = jax.random.normal(jax.random.key(0), (size, size)).astype(dtype)
    multiply = jax.jit(lambda a: a @ a)
    multiply(matrix).block_until_ready()
    seconds, begun = [], time.perf_counter()
    while len(seconds) < 5 or time.perf_counter() - begun < SECONDS:
        started = time.perf_counter()
        multiply(matrix).block_until_ready()
        seconds.append(time.perf_counter() - started)
    return 2 * size**3 / statistics.median(seconds)
