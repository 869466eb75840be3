"""Objectives: from the rewards and log-probabilities of K samples to the coefficients of a policy gradient."""

from urex.objectives.objectives import Objective as Objective
from urex.objectives.objectives import centred as centred
from urex.objectives.objectives import constant as constant
from urex.objectives.objectives import ment as ment
from urex.objectives.objectives import raml as raml
from urex.objectives.objectives import reinforce as reinforce
from urex.objectives.objectives import rwr as rwr
from urex.objectives.objectives import urex as urex
from urex.objectives.optimal import optimal_policy as optimal_policy
from urex.objectives.optimal import urex_optimal_policy as urex_optimal_policy
from urex.objectives.registry import OBJECTIVES as OBJECTIVES
from urex.objectives.registry import check_temperature as check_temperature
from urex.objectives.registry import get as get
from urex.objectives.registry import name_of as name_of
from urex.objectives.registry import register as register
from urex.objectives.weights import effective_sample_size as effective_sample_size
from urex.objectives.weights import importance_weight_variance as importance_weight_variance
from urex.objectives.weights import importance_weights as importance_weights
