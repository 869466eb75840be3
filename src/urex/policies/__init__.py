"""Policies: recurrent networks over what was seen and done, and their choice of the next action."""

from urex.policies.actions import ActionRule as ActionRule
from urex.policies.actions import categorical as categorical
from urex.policies.actions import epsilon_greedy as epsilon_greedy
from urex.policies.actions import greedy as greedy
from urex.policies.actions import joint_actions as joint_actions
from urex.policies.actions import split_action as split_action
from urex.policies.first_layer import FIRST_LAYERS as FIRST_LAYERS
from urex.policies.policy import HIDDEN as HIDDEN
from urex.policies.policy import Folded as Folded
from urex.policies.policy import Policy as Policy
from urex.policies.policy import fold as fold
from urex.policies.policy import init as init
