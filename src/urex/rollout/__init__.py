"""Rollouts: episodes of a policy, what the backward pass needs of them, and the backward pass."""

from urex.rollout.episodes import Episodes as Episodes
from urex.rollout.episodes import Outcome as Outcome
from urex.rollout.episodes import Residuals as Residuals
from urex.rollout.outputs import OutputRule as OutputRule
from urex.rollout.outputs import log_probability as log_probability
from urex.rollout.outputs import value as value
from urex.rollout.play import play as play
from urex.rollout.pull_back import pull_back as pull_back
from urex.rollout.randomness import Uniforms as Uniforms
from urex.rollout.randomness import draw_uniforms as draw_uniforms
from urex.rollout.randomness import of_all_steps as of_all_steps
from urex.rollout.replay import replay as replay
from urex.rollout.sample import sample as sample
