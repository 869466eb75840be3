"""Kernels: implementations of sampling and its backward pass, and the choice among them."""

from urex.kernels.choose import KERNELS as KERNELS
from urex.kernels.choose import choose as choose
from urex.kernels.kernel import Kernel as Kernel
from urex.kernels.kernel import Sampled as Sampled
from urex.kernels.kernel import Sizes as Sizes
from urex.kernels.kernel import Space as Space
from urex.kernels.kernel import Work as Work
from urex.kernels.xla import XLA as XLA
