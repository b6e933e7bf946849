"""Rows of bodies for elements, and sums of elements onto bodies."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmbs._gather import sum_onto_bodies, take


@pytest.mark.parametrize("index", [(0, 1, 2), (1, 2), (2, 0, 2, 1), (-1, 0), (-1, -1), (2, -1), (3,), ()])
def test_take_is_numpy_indexing(index: tuple[int, ...]) -> None:
    """Consecutive rows are a slice and others a gather; -1 is the last row, the world."""
    tree = {"a": jnp.arange(8.0).reshape(4, 2), "b": jnp.arange(4.0).reshape(4, 1)}
    got = take(tree, index)
    for name, leaf in tree.items():
        np.testing.assert_array_equal(got[name], np.asarray(leaf)[list(index)].reshape(len(index), leaf.shape[1]))


@pytest.mark.parametrize("index", [(0, 1, 2), (1, 1, 1), (-1, 2, -1), (2, 0, 2, -1, 0), ()])
def test_sums_onto_bodies_drop_the_world(index: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=(len(index), 3))
    want = np.zeros((4, 3))
    for row, body in zip(values, index, strict=True):
        if body >= 0:
            want[body] += row
    got = sum_onto_bodies(jnp.asarray(values), index, 4)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-15)


def test_the_sum_is_the_transpose_of_take() -> None:
    index = (2, 0, 2, 1)
    values = jnp.arange(8.0).reshape(4, 2)
    (pulled,) = jax.linear_transpose(lambda rows: take(rows, index), jnp.zeros((3, 2)))(values)
    np.testing.assert_array_equal(sum_onto_bodies(values, index, 3), pulled)


def test_precision_is_kept() -> None:
    assert sum_onto_bodies(jnp.ones((2, 1), jnp.float32), (0, 0), 1).dtype == jnp.float32
    assert sum_onto_bodies(jnp.ones((0, 1), jnp.float32), (), 2).dtype == jnp.float32
