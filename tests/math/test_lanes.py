"""From batches to lanes and back."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmbs._lanes import batch_shape, check_shapes, core_shapes, from_lanes, to_lanes


NDIMS = (2, 1)  # of "a" (elements, 3) and "b" (elements,)


def tree(batch_a: tuple[int, ...], batch_b: tuple[int, ...]) -> dict:
    rng = np.random.default_rng(0)
    return {"a": jnp.asarray(rng.normal(size=(*batch_a, 2, 3))), "b": jnp.asarray(rng.normal(size=(*batch_b, 2)))}


@pytest.mark.parametrize("batch", [(1,), (5,), (4, 2), (2, 1, 3)])
def test_there_and_back(batch: tuple[int, ...]) -> None:
    given = tree(batch, batch)
    lanes = to_lanes(given, NDIMS, batch)
    count = int(np.prod(batch))
    assert lanes["a"].shape == (2, 3, count) and lanes["b"].shape == (2, count)
    # lanes run through the batch in C order
    flat = np.asarray(given["a"]).reshape(count, 2, 3)
    np.testing.assert_array_equal(lanes["a"][..., count - 1], flat[-1])
    back = from_lanes(lanes, batch)
    for name in given:
        np.testing.assert_array_equal(back[name], given[name])


def test_leaves_without_a_batch_get_one_lane() -> None:
    given = tree((), (4,))
    lanes = to_lanes(given, NDIMS, (4,))
    assert lanes["a"].shape == (2, 3, 1) and lanes["b"].shape == (2, 4)
    np.testing.assert_array_equal(lanes["a"][..., 0], given["a"])


def test_no_batch_is_one_lane() -> None:
    given = tree((), ())
    lanes = to_lanes(given, NDIMS, ())
    assert lanes["a"].shape == (2, 3, 1)
    np.testing.assert_array_equal(from_lanes(lanes, ())["b"], given["b"])


@pytest.mark.parametrize(
    ("batch_a", "batch_b", "want"),
    [((4, 1), (3,), (4, 3)), ((3,), (4, 1), (4, 3)), ((1,), (5,), (5,)), ((), (2, 3), (2, 3)), ((), (), ())],
)
def test_partial_batch_shapes_broadcast(
    batch_a: tuple[int, ...], batch_b: tuple[int, ...], want: tuple[int, ...]
) -> None:
    given = tree(batch_a, batch_b)
    assert batch_shape(given, NDIMS) == want
    full = np.broadcast_to(np.asarray(given["b"]), (*want, 2))
    lanes = np.broadcast_to(to_lanes(given, NDIMS, want)["b"], (2, int(np.prod(want))))
    np.testing.assert_array_equal(np.moveaxis(lanes, -1, 0).reshape(full.shape), full)


def test_what_is_no_array_stays() -> None:
    given = {"a": jnp.zeros((3, 2)), "name": "arm", "none": None}
    assert core_shapes(given) == ((3, 2),)
    lanes = to_lanes(given, (1,), (3,))
    assert lanes["a"].shape == (2, 3) and lanes["name"] == "arm" and lanes["none"] is None


def test_shapes_that_do_not_fit_are_told() -> None:
    with pytest.raises(ValueError, match=r"batch shapes \(3,\) and \(4,\) of two leaves do not fit together"):
        batch_shape(tree((3,), (4,)), NDIMS)
    with pytest.raises(ValueError, match=r"a leaf of shape \(3,\) needs at least 2 axes; was an axis dropped\?"):
        batch_shape({"a": jnp.zeros(3), "b": jnp.zeros(2)}, NDIMS)


def test_check_names_the_leaf() -> None:
    shapes = core_shapes(tree((), ()))
    assert shapes == ((2, 3), (2,))
    check_shapes(tree((5,), ()), shapes)
    check_shapes(tree((4, 1), (5,)), shapes)
    # one value per instance instead of per instance and element
    wrong = {"part": {"a": jnp.zeros((2, 3)), "b": jnp.zeros(5)}}
    with pytest.raises(ValueError) as error:
        check_shapes(wrong, shapes)
    assert str(error.value) == (
        "part.b has the shape (5,), but needs (2,) after any batch axes; for one value per instance, "
        "give it the shape ('instances', 2)"
    )
    with pytest.raises(ValueError, match=r"^a has the shape \(3,\), but needs \(2, 3\)"):
        check_shapes({"a": jnp.zeros(3), "b": jnp.zeros(2)}, shapes)
