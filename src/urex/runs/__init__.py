"""Runs: one trial trained to its end, and what it leaves on disk to be gone on with."""

from urex.runs.checkpoint import DamagedCheckpoint as DamagedCheckpoint
from urex.runs.progress import Progress as Progress
from urex.runs.result import Result as Result
from urex.runs.run import load_policy as load_policy
from urex.runs.run import run_in_memory as run_in_memory
from urex.runs.run import run_on_disk as run_on_disk
from urex.runs.train import resume as resume
from urex.runs.train import train as train
