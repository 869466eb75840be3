"""The tasks that urex itself registers. The root `conftest` imports this before any test can register more."""

from urex import tasks

NAMES = tasks.names()
