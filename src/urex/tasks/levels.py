"""What a task says about its curriculum: the range of levels and the rule of promotion."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Levels:
    """The levels `first` to `top`, and when an agent has earned the next one.

    An episode succeeds when its shortfall (see `Task.shortfall`) is at least `worst`. The agent is
    promoted when every episode of the window succeeded and their mean shortfall is at least
    `mean`. `window` is the length that the task was published with; a trainer may use another.
    `several` tells whether what is left of a batch after a promotion counts towards the next level; where it does
    not, episodes are judged by the level that they were drawn from alone.
    The task's reward threshold is judged from the level `judged` up; None: at the top one alone.
    """

    first: int = 0
    top: int = 0
    worst: float = 0.0
    mean: float = -math.inf
    window: int = 10
    several: bool = True
    judged: int | None = None

    @property
    def first_judged(self) -> int:
        """The lowest level whose episodes count towards the reward threshold."""
        return self.top if self.judged is None else self.judged
