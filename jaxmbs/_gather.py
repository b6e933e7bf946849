"""From bodies to elements and back, by static index."""

import functools
from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


_Tree = TypeVar("_Tree")


def take(tree: _Tree, index: tuple[int, ...]) -> _Tree:
    """Rows of every leaf (bodies + 1, lanes); -1 is the last row, the world."""
    rows = np.asarray(index, dtype=int)
    count = jax.tree.leaves(tree)[0].shape[0]
    rows = np.where(rows < 0, rows + count, rows)
    if rows.size and np.array_equal(rows, np.arange(rows[0], rows[0] + rows.size)):
        first, last = int(rows[0]), int(rows[-1]) + 1
        return jax.tree.map(lambda leaf: leaf[first:last], tree)
    return jax.tree.map(lambda leaf: leaf[rows], tree)


@functools.cache
def _table(index: tuple[int, ...], body_count: int) -> np.ndarray:
    """For every body the rows that belong to it, padded by the row after the last."""
    rows = [[i for i, body in enumerate(index) if body == target] for target in range(body_count)]
    width = max([len(row) for row in rows], default=0)
    return np.array([row + [len(index)] * (width - len(row)) for row in rows], dtype=int).reshape(body_count, width)


def sum_onto_bodies(values: Array, index: tuple[int, ...], body_count: int) -> Array:
    """Sum rows (elements, lanes) onto their bodies, (bodies, lanes); rows of the world (-1) are dropped.

    By padded gathers: a scatter-add is slow on every backend.
    """
    table = _table(index, body_count)
    padded = jnp.concatenate([values, jnp.zeros_like(values[:1])]) if values.shape[0] else None
    total = jnp.zeros((body_count, values.shape[-1]), values.dtype)
    if padded is None:
        return total
    for column in table.T:
        total = total + padded[column]
    return total


def halved(operation: Callable[[Array, Array], Array], values: Array) -> Array:
    """Reduce (elements, lanes) to (1, lanes) by halves: it fuses, which XLA's reductions on CPUs do not."""
    while values.shape[0] > 1:
        half = values.shape[0] // 2
        rest = values[2 * half :]
        values = operation(values[:half], values[half : 2 * half])
        if rest.shape[0]:
            values = jnp.concatenate([operation(values[:1], rest), values[1:]])
    return values
