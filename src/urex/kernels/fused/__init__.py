"""Sampling and its backward pass in three GPU kernels, written in Pallas."""

from urex.kernels.fused.kernel import fused as fused
from urex.kernels.fused.target import INTERPRETER as INTERPRETER
from urex.kernels.fused.target import TRITON as TRITON
from urex.kernels.fused.tile import CANDIDATES as CANDIDATES
from urex.kernels.fused.tile import Tiles as Tiles
