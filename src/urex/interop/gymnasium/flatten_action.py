"""One integer for an action, for libraries that take no tuples."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorActionWrapper, VectorEnv
from gymnasium.vector.utils import batch_space

from urex.errors import UserError


class FlattenAction(gymnasium.ActionWrapper[Any, np.int64, Any]):
    """The product of the sub-actions as one `Discrete` space, the last sub-action running fastest."""

    def __init__(self, env: gymnasium.Env[Any, Any]):
        super().__init__(env)
        self._sizes = _sizes(env.action_space)
        self.action_space = spaces.Discrete(int(np.prod(self._sizes)))

    def action(self, action: np.int64) -> tuple[np.integer, ...]:
        """The sub-actions of a joint action."""
        return split(action, self._sizes)


class VectorFlattenAction(VectorActionWrapper):
    """The same for a vector environment."""

    def __init__(self, env: VectorEnv[Any, Any, Any]):
        super().__init__(env)
        self._sizes = _sizes(env.single_action_space)
        self.single_action_space = spaces.Discrete(int(np.prod(self._sizes)))
        self.action_space = batch_space(self.single_action_space, env.num_envs)

    def actions(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        """The sub-actions of joint actions."""
        return split(actions, self._sizes)


def split(action: Any, sizes: tuple[int, ...]) -> Any:
    """The sub-actions of a joint action, or `UserError`."""
    try:
        return np.unravel_index(action, sizes)
    except (ValueError, TypeError):
        raise UserError(f"action {action}: it must be an integer from 0 to {np.prod(sizes) - 1}") from None


def _sizes(space: spaces.Space[Any]) -> tuple[int, ...]:
    if not isinstance(space, spaces.Tuple) or not all(isinstance(part, spaces.Discrete) for part in space):
        raise UserError(f"action space {space}: only a Tuple of Discrete spaces can be flattened to one integer")
    return tuple(int(part.n) for part in space)
