"""Piecewise linear tables: values, integrals, maps, padding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmbs._math.table import integral, integral_extrapolated, interpolate, interpolate_map, pad_tables


#: Three tables of different lengths.
TABLES = [
    np.array([[-1.0, 2.0], [0.5, -1.0], [2.0, 3.0], [4.0, 3.5]]),
    np.array([[-0.5, 1.0], [1.5, 4.0]]),
    np.array([[0.3, -2.0]]),
]
X = np.linspace(-3.0, 6.0, 37)  # the abscissae of the first two tables are among them


def columns(tables: list[np.ndarray | None] | list[np.ndarray]) -> tuple[jax.Array, jax.Array]:
    """Abscissae and ordinates (elements, points, 1) of padded tables."""
    padded = jnp.asarray(pad_tables(list(tables)))
    return padded[:, :, :1], padded[:, :, 1:]


def everywhere(x: np.ndarray, elements: int) -> jax.Array:
    return jnp.broadcast_to(jnp.asarray(x), (elements, x.size))


def quadrature(function: object, x: float, corners: np.ndarray) -> float:
    """The integral from 0 to x: exact by the midpoint rule between corners, for a piecewise linear function."""
    ends = np.unique(np.concatenate([[0.0, x], corners[(corners > min(0, x)) & (corners < max(0, x))]]))
    middles = 0.5 * (ends[1:] + ends[:-1])
    return float(np.sign(x) * np.sum(np.diff(ends) * function(middles)))  # pyright: ignore[reportCallIssue]


def extrapolated(table: np.ndarray, x: np.ndarray) -> np.ndarray:
    """NumPy's interpolation, on along the first and the last segment."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = table[0], table[1], table[-2], table[-1]
    low, high = y0 + (y1 - y0) / (x1 - x0) * (x - x0), y3 + (y3 - y2) / (x3 - x2) * (x - x3)
    return np.where(x < x0, low, np.where(x > x3, high, np.interp(x, table[:, 0], table[:, 1])))


def test_padding_repeats_the_last_point_and_none_is_zero() -> None:
    got = pad_tables([TABLES[1], None, TABLES[0]])
    assert got.shape == (3, 4, 2)
    np.testing.assert_array_equal(got[0], [[-0.5, 1.0], [1.5, 4.0], [1.5, 4.0], [1.5, 4.0]])
    np.testing.assert_array_equal(got[1], np.zeros((4, 2)))
    np.testing.assert_array_equal(got[2], TABLES[0])
    assert pad_tables([]).shape == (0, 1, 2)
    assert pad_tables([None]).shape == (1, 1, 2)


def test_interpolation_is_clamped_and_ignores_padding() -> None:
    got = interpolate(*columns(TABLES), everywhere(X, 3))
    for row, table in zip(np.asarray(got), TABLES, strict=True):
        np.testing.assert_allclose(row, np.interp(X, table[:, 0], table[:, 1]), rtol=0, atol=1e-15)


def test_a_table_of_one_point_is_constant() -> None:
    got = interpolate(*columns([TABLES[2]]), everywhere(X, 1))
    np.testing.assert_array_equal(got, np.full((1, X.size), -2.0))
    np.testing.assert_allclose(integral(*columns([TABLES[2]]), everywhere(X, 1))[0], -2.0 * X, rtol=0, atol=1e-15)


def test_tables_may_differ_by_lane() -> None:
    """Lanes with other abscissae and ordinates, and one abscissa for all lanes."""
    x, y = columns([TABLES[0]])
    x, y = jnp.concatenate([x, x + 1.0], axis=-1), jnp.concatenate([y, 2 * y], axis=-1)
    got = interpolate(x, y, jnp.full((1, 1), 1.25))
    assert got.shape == (1, 2)
    np.testing.assert_allclose(got[0], [np.interp(1.25, *TABLES[0].T), 2 * np.interp(0.25, *TABLES[0].T)], atol=1e-15)


@pytest.mark.parametrize(
    ("selector", "slope"), [(0.4, -2.0), (0.5, 8 / 3), (1.9, 8 / 3), (2.0, 0.25), (-1.1, 0.0), (4.0, 0.0)]
)
def test_selector_picks_the_segment(selector: float, slope: float) -> None:
    """At x = 0.5, a corner: the value goes on along the segment in which the selector lies; a corner starts one."""
    table = columns([TABLES[0]])

    def value(x: jax.Array) -> jax.Array:
        return interpolate(*table, x.reshape(1, 1), jnp.full((1, 1), selector))[0, 0]

    got, derivative = jax.value_and_grad(value)(jnp.asarray(0.5))
    start = {-2.0: (0.5, -1.0), 8 / 3: (0.5, -1.0), 0.25: (2.0, 3.0)}.get(slope)
    want = (2.0 if selector < -1 else 3.5) if start is None else start[1] + slope * (0.5 - start[0])
    assert float(got) == pytest.approx(want, abs=1e-14)
    assert float(derivative) == pytest.approx(slope, abs=1e-14)


def test_integral_is_that_of_the_clamped_table() -> None:
    got = np.asarray(integral(*columns(TABLES), everywhere(X, 3)))
    for row, table in zip(got, TABLES, strict=True):
        want = [quadrature(lambda s, t=table: np.interp(s, t[:, 0], t[:, 1]), x, table[:, 0]) for x in X]
        np.testing.assert_allclose(row, want, rtol=0, atol=1e-14)


def test_derivative_of_the_integral_is_the_table() -> None:
    x = everywhere(X + 0.01, 3)  # off the corners
    table = columns(TABLES)
    _, got = jax.jvp(lambda x: integral(*table, x), (x,), (jnp.ones_like(x),))
    np.testing.assert_allclose(got, interpolate(*table, x), rtol=0, atol=1e-14)


def test_integral_extrapolated_goes_on_along_the_end_segments() -> None:
    """The second table is padded: its last segment is not the last of the stack."""
    got = np.asarray(integral_extrapolated(*columns(TABLES[:2]), everywhere(X, 2)))
    for row, table in zip(got, TABLES[:2], strict=True):
        want = [quadrature(lambda s, t=table: extrapolated(t, s), x, table[:, 0]) for x in X]
        np.testing.assert_allclose(row, want, rtol=0, atol=1e-13)


def test_map_is_bilinear_and_extrapolates() -> None:
    """Two maps of different sizes, the smaller one padded; outside, the nearest segments go on on every side."""
    d1, v1 = np.array([-0.3, 0.0, 0.2, 0.5]), np.array([-2.0, 0.0, 1.5])
    f1 = np.random.default_rng(0).normal(size=(3, 4))
    # the second map is the plane 1 + 2 d - 3 v + 0.5 d v, which bilinear interpolation reproduces everywhere
    plane = lambda d, v: 1 + 2 * d - 3 * v + 0.5 * d * v
    d2, v2 = np.array([-1.0, 1.0]), np.array([-1.0, 2.0])
    f2 = plane(d2[None], v2[:, None])
    deformations = jnp.asarray(np.stack([d1, np.pad(d2, (0, 2), mode="edge")]))[..., None]
    velocities = jnp.asarray(np.stack([v1, np.pad(v2, (0, 1), mode="edge")]))[..., None]
    forces = jnp.asarray(np.stack([f1, np.pad(f2, ((0, 1), (0, 2)), mode="edge")]))[..., None]
    d, v = (grid.ravel() for grid in np.meshgrid([-1.5, -0.3, 0.1, 0.2, 0.45, 0.5, 3.0], [-4.0, -2.0, 0.7, 1.5, 9.0]))
    got = interpolate_map(deformations, velocities, forces, everywhere(d, 2), everywhere(v, 2))
    want = []
    for x, y in zip(d, v, strict=True):
        rows = np.array([extrapolated(np.stack([d1, row], axis=1), np.array(x)) for row in f1])
        want.append(extrapolated(np.stack([v1, rows], axis=1), np.array(y)))
    np.testing.assert_allclose(got[0], want, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got[1], plane(d, v), rtol=0, atol=1e-12)


def test_no_tables_at_all() -> None:
    none = jnp.zeros((0, 1, 1))
    assert interpolate(none, none, jnp.zeros((0, 3))).shape == (0, 3)
    assert integral(none, none, jnp.zeros((0, 3))).shape == (0, 3)
