"""Training: updates, their curriculum and their metrics, as pure functions of explicit state."""

from urex.training.chunk import Limits as Limits
from urex.training.chunk import advance as advance
from urex.training.loop import Chunk as Chunk
from urex.training.loop import chunks as chunks
from urex.training.loop import compiled as compiled
from urex.training.many import Many as Many
from urex.training.many import train_many as train_many
from urex.training.state import TrainState as TrainState
from urex.training.state import init as init
from urex.training.success import NEVER as NEVER
from urex.training.success import Success as Success
from urex.training.update import Metrics as Metrics
from urex.training.update import update as update
