"""Whether numbers are known yet."""

import jax
from jax.core import Tracer


def is_traced(tree: object) -> bool:
    """Whether any leaf is being traced by a JAX transformation, so that its numbers cannot be looked at."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(tree))
