"""What holds for all tests: every annotated shape is checked, and ranks are never promoted in silence."""

import jaxtyping

# Before anything of urex is imported: the hook rewrites modules as they load.
jaxtyping.install_import_hook(["urex", "examples"], "beartype.beartype")

import jax  # noqa: E402
from hypothesis import settings  # noqa: E402

import tests.builtin  # noqa: E402, F401

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_num_cpu_devices", 2)  # as two cores, however many there are

# The first example compiles, so a deadline for one example says nothing about the code.
settings.register_profile("urex", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("urex")
