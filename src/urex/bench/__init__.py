"""How fast training runs on this machine, beside what the machine could do."""

from urex.bench.measure import EPISODES as EPISODES
from urex.bench.measure import Throughput as Throughput
from urex.bench.measure import check as check
from urex.bench.measure import measure as measure
