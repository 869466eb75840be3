"""Perfect agents for the tape tasks, written as people would: they see observations and nothing else."""

from collections.abc import Generator

LEFT, RIGHT, UP, DOWN = range(4)
Agent = Generator[tuple[int, int, int], int, None]


def copy(seen: int) -> Agent:
    """Write what is under the head, go right."""
    while True:
        seen = yield RIGHT, 1, seen


def duplicated_input(seen: int) -> Agent:
    """The same, at every second cell."""
    while True:
        seen = yield RIGHT, 1, seen
        seen = yield RIGHT, 0, 0


def repeat_copy(seen: int, blank: int = 5) -> Agent:
    """Write to the right end, back to the left end, and to the right end again."""
    for direction in (RIGHT, LEFT, RIGHT):
        while seen != blank:
            seen = yield direction, 1, seen
        seen = yield (LEFT if direction == RIGHT else RIGHT), 0, 0


def reverse(seen: int, blank: int = 2) -> Agent:
    """Go to the right end without writing, write on the way back."""
    while seen != blank:
        seen = yield RIGHT, 0, 0
    seen = yield LEFT, 0, 0
    while True:
        seen = yield LEFT, 1, seen


def addition(rows: int):
    """Snake through the columns: down one, up the next; write at each column's last digit."""

    def agent(seen: int, blank: int = 3) -> Agent:
        vertical, carry = DOWN, 0
        while seen != blank:
            total = carry + seen
            for _ in range(rows - 1):
                total += yield vertical, 0, 0
            carry = total // 3
            seen = yield RIGHT, 1, total % 3
            vertical = UP if vertical == DOWN else DOWN
        yield RIGHT, 1, carry

    return agent
