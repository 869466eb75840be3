"""How a batch is cut for the fused kernels."""

from typing import NamedTuple


class Tile(NamedTuple):
    """The lanes that one program of a kernel works on, and with what."""

    warps: int = 8
    stages: int = 1
    """How far ahead of its use data is fetched, in loops where the compiler does that."""


class Tiles(NamedTuple):
    """A configuration of the three kernels. All cut the batch alike, since every tile has its own length."""

    lanes: int = 32
    """Lanes of a tile; a power of 2, at least 16."""
    resident: bool = True
    """Whether the recurrent weights stay on the chip for the whole episode, or are read again at every step."""
    forward: Tile = Tile()
    backward: Tile = Tile()
    weights: Tile = Tile(stages=3)
    splits: int = 4
    """Programs that share the weights' gradient of one gate; each takes every so-manieth tile."""

    def count(self, lanes: int) -> int:
        """How many tiles it takes."""
        return -(-lanes // self.lanes)


CANDIDATES = (Tiles(), Tiles(lanes=16, resident=False, forward=Tile(4), backward=Tile(4), weights=Tile(4, 2)))
"""In the order in which they are tried. The second needs little memory on the chip."""


def power_of_2(size: int) -> int:
    """The least that is no less than `size`, and large enough for a matrix product."""
    return max(16, 1 << (size - 1).bit_length())
