"""Watch an agent that acts at random, through Gymnasium.

python examples/random_episode.py urex/ReversedAddition-v0 --seed 3
"""

import argparse

import gymnasium

import urex  # noqa: F401  registers the environments


def main() -> None:
    """Play one episode and print every moment of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", nargs="?", default="urex/Copy-v0")
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()

    env = gymnasium.make(arguments.environment, render_mode="ansi", level=3)
    env.action_space.seed(arguments.seed)
    env.reset(seed=arguments.seed)
    print(env.render())
    over = False
    while not over:
        _, _, over, _, _ = env.step(env.action_space.sample())
        print(f"\n{env.render()}")


if __name__ == "__main__":
    main()
