"""Which kernel a trial runs on: the one that is asked for, or the fastest that can run its task on this device."""

import warnings
from functools import cache

import jax

from urex.errors import UserError, shortened, unknown
from urex.kernels.kernel import Kernel
from urex.kernels.ragged import RAGGED
from urex.kernels.xla import XLA
from urex.tasks.task import Task

KERNELS = ("auto", "xla", "ragged", "fused")
LARGEST_INPUTS = 256
"""Observations and actions that a fused kernel's table may have rows for."""
HIDDEN_SIZES = (16, 32, 64, 128)
"""Numbers of units that a fused kernel takes: powers of 2 whose weights find room on the chip."""


def choose(name: str, task: Task, hidden: int) -> Kernel:
    """The kernel of this name; of "auto", the one for this device, with a warning if it had to be passed over."""
    if name not in KERNELS:
        raise unknown("kernel", name, KERNELS)
    if name == "ragged" or (name == "auto" and jax.default_backend() == "cpu"):
        return RAGGED
    if name == "xla" or (name == "auto" and jax.default_backend() != "gpu"):
        return XLA
    reason = unfit(task, hidden)
    if reason is None:
        kernel, reason = verified(task, hidden)
        if kernel is not None:
            return kernel
        if name == "auto":
            warnings.warn(f"kernel 'fused' is passed over for 'xla': {reason}", stacklevel=2)
    if name == "fused":
        raise UserError(f"kernel 'fused': {reason}; take 'xla', which runs everywhere")
    return XLA


def unfit(task: Task, hidden: int) -> str | None:
    """Why no fused kernel can run this here, if none can; nothing is compiled for it."""
    from urex.kernels.fused.packing import inputs_of, readable

    if jax.default_backend() != "gpu":
        return f"it runs on GPUs, and JAX's device here is {jax.default_backend()!r}"
    if hidden not in HIDDEN_SIZES:
        return f"it is written for {', '.join(map(str, HIDDEN_SIZES))} hidden units and not for {hidden}"
    if inputs_of(task) > LARGEST_INPUTS:
        return f"the task has {inputs_of(task)} observations and actions, and it takes at most {LARGEST_INPUTS}"
    return readable(task)


@cache
def verified(task: Task, hidden: int) -> tuple[Kernel | None, str | None]:
    """The first configuration that agrees with the reference on this device, or why there is none."""
    from urex.kernels.fused import CANDIDATES, fused
    from urex.kernels.fused.verify import disagreement

    reasons = []
    for tiles in CANDIDATES:
        try:
            found = disagreement(task, hidden, tiles)
        except Exception as error:
            reasons.append(shortened(f"{type(error).__name__}: {error}"))
        else:
            if found.accepted():
                return fused(tiles), None
            reasons.append(f"it does not agree with the reference here ({found})")
    return None, "; ".join(reasons)
