"""Where an environment's episodes begin: drawn some at a time, since a call costs more than a drawing."""

import numpy as np
from jaxtyping import Int

from urex.interop.gymnasium import programs
from urex.tasks.request import Request, draw_level
from urex.tasks.task import Task

BLOCK = 32
"""Episodes drawn ahead. They depend on the seed, their number and the level, not on the block."""


class Beginnings:
    """The packed beginnings of the episodes of one environment, in order."""

    def __init__(self, task: Task):
        self._task = task
        self._level: int | None = None

    def seed(self, generator: np.random.Generator) -> None:
        """Begin again at episode 0, with new randomness."""
        self._key_data = programs.fresh_key_data(generator)
        self._number = 0
        self._level = None

    def of_level(self, level: int) -> Int[np.ndarray, " words"]:
        """The next episode, drawn from a level."""
        if level != self._level or not self._number < self._first + BLOCK:
            start_block = programs.starter(self._task, draw_level, BLOCK)
            self._block = np.asarray(start_block(self._key_data, np.int32(self._number), np.int32(level)))
            self._first, self._level = self._number, level
        words = self._block[self._number - self._first]
        self._number += 1
        return words

    def asked_for(self, request: Request) -> Int[np.ndarray, " words"]:
        """The next episode, drawn as the options of a reset ask for."""
        draw, argument = request
        start_one = programs.starter(self._task, draw, 1)
        words = np.asarray(start_one(self._key_data, np.int32(self._number), argument))[0]
        self._number += 1
        return words
