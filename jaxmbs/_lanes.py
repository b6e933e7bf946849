"""From public leaves `(*batch, elements, ...)` to kernel leaves `(elements, ..., lanes)` and back.

A lane is one instance of the batch. Leaves without a batch axis get one lane and are broadcast by arithmetic, so
shared parameters are stored and read once.
"""

import math
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


_Tree = TypeVar("_Tree")


def core_shapes(tree: object) -> tuple[tuple[int, ...], ...]:
    """The shape of every array leaf, taken as the unbatched one."""
    return tuple(leaf.shape for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_array)))


def check_shapes(tree: object, shapes: tuple[tuple[int, ...], ...]) -> None:
    """Check that every array leaf has its unbatched shape, after any batch axes.

    **Raises** `ValueError` naming the first leaf that has not.
    """
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    for (path, leaf), shape in zip(leaves, shapes, strict=True):
        if leaf.shape[max(0, leaf.ndim - len(shape)) :] != shape:
            name = jax.tree_util.keystr(path, simple=True, separator=".")
            raise ValueError(
                f"{name} has the shape {leaf.shape}, but needs {shape} after any batch axes; for one value per "
                f"instance, give it the shape {('instances', *shape)}"
            )


def batch_shape(tree: object, ndims: tuple[int, ...]) -> tuple[int, ...]:
    """The common batch shape of the leaves.

    **Raises** `ValueError` when a leaf has lost axes or the batch shapes cannot be broadcast together.
    """
    shape: tuple[int, ...] = ()
    for leaf, ndim in zip(jax.tree.leaves(eqx.filter(tree, eqx.is_array)), ndims, strict=True):
        if leaf.ndim < ndim:
            raise ValueError(f"a leaf of shape {leaf.shape} needs at least {ndim} axes; was an axis dropped?")
        own = leaf.shape[: leaf.ndim - ndim]
        try:
            shape = np.broadcast_shapes(shape, own)
        except ValueError:
            raise ValueError(f"batch shapes {shape} and {own} of two leaves do not fit together") from None
    return shape


def _leaf_to_lanes(leaf: Array, ndim: int, batch: tuple[int, ...]) -> Array:
    core = leaf.shape[leaf.ndim - ndim :]
    if leaf.ndim == ndim:
        return leaf[..., None]
    flat = jnp.broadcast_to(leaf, batch + core).reshape((math.prod(batch), *core))
    return jnp.moveaxis(flat, 0, -1)


def to_lanes(tree: _Tree, ndims: tuple[int, ...], batch: tuple[int, ...]) -> _Tree:
    """Every array leaf `(*batch, elements, ...)` as `(elements, ..., lanes)`; unbatched ones get one lane."""
    arrays, static = eqx.partition(tree, eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    lanes = [_leaf_to_lanes(leaf, ndim, batch) for leaf, ndim in zip(leaves, ndims, strict=True)]
    return eqx.combine(jax.tree.unflatten(structure, lanes), static)


def from_lanes(tree: _Tree, batch: tuple[int, ...]) -> _Tree:
    """The inverse: `(elements, ..., lanes)` as `(*batch, elements, ...)`."""
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0).reshape(batch + leaf.shape[:-1]), tree)
