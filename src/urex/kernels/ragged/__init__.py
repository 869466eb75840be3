"""The kernel for CPUs: loops that get narrower as episodes end, over a tape that is made once."""

from urex.kernels.ragged.kernel import RAGGED as RAGGED
