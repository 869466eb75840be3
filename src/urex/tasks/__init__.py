"""The tasks, their contract and their registry."""

from urex.tasks.addition import reversed_addition as reversed_addition
from urex.tasks.addition import reversed_addition3 as reversed_addition3
from urex.tasks.addition import reversed_addition3_extended as reversed_addition3_extended
from urex.tasks.binary_search import BinarySearch as BinarySearch
from urex.tasks.contract import check_contract as check_contract
from urex.tasks.copying import copy as copy
from urex.tasks.copying import duplicated_input as duplicated_input
from urex.tasks.copying import repeat_copy as repeat_copy
from urex.tasks.copying import reverse as reverse
from urex.tasks.levels import Levels as Levels
from urex.tasks.registry import get as get
from urex.tasks.registry import names as names
from urex.tasks.registry import register as register
from urex.tasks.tape import Rules as Rules
from urex.tasks.tape import TapeTask as TapeTask
from urex.tasks.task import SizedTask as SizedTask
from urex.tasks.task import Task as Task
from urex.tasks.task import absorb as absorb
