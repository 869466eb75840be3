"""One integer for an action, for libraries that take no tuples."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorActionWrapper, VectorEnv
from gymnasium.vector.utils import batch_space

from urex.errors import UserError, shortened


class FlattenAction(gymnasium.ActionWrapper[Any, np.int64, Any], RecordConstructorArgs):
    """The product of the sub-actions as one `Discrete` space, the last sub-action running fastest."""

    def __init__(self, env: gymnasium.Env[Any, Any]):
        RecordConstructorArgs.__init__(self)  # so that `env.spec` can make it again
        super().__init__(env)
        self._sizes = _sizes(env.action_space)
        self.action_space = spaces.Discrete(int(np.prod(self._sizes)))

    def action(self, action: Any) -> tuple[np.integer, ...]:
        """The sub-actions of a joint action."""
        return split(action, self._sizes, ())


class VectorFlattenAction(VectorActionWrapper):
    """The same for a vector environment."""

    def __init__(self, env: VectorEnv[Any, Any, Any]):
        super().__init__(env)
        self._sizes = _sizes(env.single_action_space)
        self.single_action_space = spaces.Discrete(int(np.prod(self._sizes)))
        self.action_space = batch_space(self.single_action_space, env.num_envs)

    def actions(self, actions: Any) -> tuple[np.ndarray, ...]:
        """The sub-actions of joint actions."""
        return split(actions, self._sizes, (self.num_envs,))


def split(action: Any, sizes: tuple[int, ...], batch: tuple[int, ...]) -> Any:
    """The sub-actions of a joint action, or of a batch of them, or `UserError`."""
    try:
        parts = np.unravel_index(action, sizes)
        fits = parts[0].shape == batch
    except (ValueError, TypeError):
        parts, fits = None, False
    if not fits:
        wanted = f"integers of shape {batch}, each" if batch else "an integer"
        raise UserError(f"action {shortened(str(action))}: it must be {wanted} from 0 to {np.prod(sizes) - 1}")
    return parts


def _sizes(space: spaces.Space[Any]) -> tuple[int, ...]:
    if not isinstance(space, spaces.Tuple) or not all(isinstance(part, spaces.Discrete) for part in space):
        raise UserError(f"action space {space}: only a Tuple of Discrete spaces can be flattened to one integer")
    return tuple(int(part.n) for part in space)
