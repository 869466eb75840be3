"""Evaluation: what a trained policy does with fresh instances, of lengths that it may never have seen."""

from urex.evaluation.capacities import MakeTask as MakeTask
from urex.evaluation.lengths import LengthResult as LengthResult
from urex.evaluation.lengths import evaluate_lengths as evaluate_lengths
from urex.evaluation.search import SearchLines as SearchLines
from urex.evaluation.search import search_lines as search_lines
from urex.evaluation.solved import solved as solved
from urex.evaluation.top_level import LevelResult as LevelResult
from urex.evaluation.top_level import evaluate_top_level as evaluate_top_level
from urex.evaluation.trace import Trace as Trace
from urex.evaluation.trace import trace_episode as trace_episode
from urex.evaluation.until_failure import Reach as Reach
from urex.evaluation.until_failure import until_failure as until_failure
