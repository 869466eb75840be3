"""A trial as people ask for it, in names and numbers: what the command line takes, and `config.json` holds."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Recipe:
    """One trial, but for its task. What is None is left to `trial.prepare`, which knows the paper's settings."""

    objective: str | None = None
    """How episodes are weighed: urex (default), ment, reinforce, raml or rwr."""
    tau: float | None = None
    """The objective's temperature (default: 0.1, for ment 0.01, for reinforce 0)."""
    learning_rate: float | None = None
    """Adam's (default: 0.01, for additions 0.001)."""
    clip_norm: float | None = None
    """Longer gradients are shortened to this norm (default: 40)."""
    num_updates: int | None = None
    """Updates to make in all (default: the paper's for the task)."""
    seed: int | None = None
    """Decides everything that is left to chance (default: 0)."""
    until_solved: bool = False
    """Stop as soon as the task's reward threshold is reached."""
    instances: int | None = None
    """N, the instances drawn for an update (default: the paper's, 40, for copy 20)."""
    samples: int | None = None
    """K, the episodes sampled of each instance (default: 10)."""
    max_length: int | None = None
    """The largest instance in training (default: the task's)."""
    time_limit: str | None = None
    """Steps allowed on a tape of w cells, such as 3w+4 (default: the task's)."""
    window: int | None = None
    """Episodes in a row that must succeed for the next level (default: 100)."""
    centred: bool = False
    """Subtract the mean of the objective's coefficients over the K samples."""
    hidden: int | None = None
    """Units of the LSTM (default: 128)."""
    first_layer: str | None = None
    """Its form: embedding (default) or one-hot."""
    init_scale: float | None = None
    """The scale of the first layer's initial parameters (default: 0.3)."""
    adam_epsilon: float | None = None
    """Adam's, in TensorFlow's form (default: 1e-8)."""
    kernel: str | None = None
    """What samples and differentiates: auto (default: the fastest here), xla (anywhere), ragged (CPU), fused (GPU)."""
    cores: int | None = None
    """CPU cores that share the episodes of an update (default: 2 where there are, for small updates 1)."""
    learner: str | None = None
    """policy-gradient (default) or double-q."""
    exploration: float | None = None
    """Double Q-learning: the chance of a random action at first (default: 0.3)."""
    exploration_decay: float | None = None
    """Double Q-learning: the factor of that chance at every update (default: 0.98)."""
    sync_every: int | None = None
    """Double Q-learning: updates between renewals of the target network (default: 10)."""

    def given(self) -> dict[str, Any]:
        """What it says, without what it leaves open."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in fields.items() if value is not None and value is not False}
