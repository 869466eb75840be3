"""The tasks as Gymnasium environments; importing `urex` registers them."""

from urex.interop.gymnasium.curriculum import CurriculumWrapper as CurriculumWrapper
from urex.interop.gymnasium.curriculum import VectorCurriculumWrapper as VectorCurriculumWrapper
from urex.interop.gymnasium.env import TaskEnv as TaskEnv
from urex.interop.gymnasium.env import make_env as make_env
from urex.interop.gymnasium.flatten_action import FlattenAction as FlattenAction
from urex.interop.gymnasium.flatten_action import VectorFlattenAction as VectorFlattenAction
from urex.interop.gymnasium.vector import TaskVectorEnv as TaskVectorEnv
from urex.interop.gymnasium.vector import make_vector_env as make_vector_env
