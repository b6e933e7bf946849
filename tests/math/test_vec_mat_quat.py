"""Vectors, matrices and quaternions by component, against NumPy on the same arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmbs._math import Mat3, Quat, Sym3, Vec3


ELEMENTS, LANES = 3, 4


def random(seed: int, components: int) -> np.ndarray:
    """(elements, components, lanes)."""
    return np.random.default_rng(seed).normal(size=(ELEMENTS, components, LANES))


def vec(array: np.ndarray) -> Vec3:
    return Vec3.of(jnp.asarray(array))


def unit_quats(seed: int) -> np.ndarray:
    array = random(seed, 4)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def quat(array: np.ndarray) -> Quat:
    return Quat.of(jnp.asarray(array))


def np_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (elements, lanes, 3, 3) of quaternions (elements, 4, lanes), by the Rodrigues formula."""
    w, v = q[:, 0], np.moveaxis(q[:, 1:], 1, -1)
    cross = np_cross_matrix(v)
    return np.eye(3) + 2 * w[..., None, None] * cross + 2 * cross @ cross


def np_cross_matrix(v: np.ndarray) -> np.ndarray:
    x, y, z = np.moveaxis(v, -1, 0)
    none = np.zeros_like(x)
    rows = [[none, -z, y], [z, none, -x], [-y, x, none]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def np_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The quaternion product on axis 1."""
    av, bv = np.moveaxis(a[:, 1:], 1, -1), np.moveaxis(b[:, 1:], 1, -1)
    w = a[:, 0] * b[:, 0] - np.sum(av * bv, axis=-1)
    v = a[:, 0][..., None] * bv + b[:, 0][..., None] * av + np.cross(av, bv)
    return np.concatenate([w[:, None], np.moveaxis(v, -1, 1)], axis=1)


def dense(m: Mat3) -> np.ndarray:
    """(elements, lanes, 3, 3)."""
    return np.stack([np.moveaxis(np.asarray(column.array()), 1, -1) for column in (m.x, m.y, m.z)], axis=-1)


def mat(array: np.ndarray) -> Mat3:
    """The inverse of `dense`."""
    return Mat3(*(vec(np.moveaxis(array[..., i], -1, 1)) for i in range(3)))


def sym_entries(tensor: np.ndarray) -> np.ndarray:
    """(elements, 6, lanes) in the order xx yy zz xy xz yz, of (elements, lanes, 3, 3)."""
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return np.stack([tensor[..., i, j] for i, j in order], axis=1)


def positive_tensors(seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(ELEMENTS, LANES, 3, 3))
    return root @ np.swapaxes(root, -1, -2) + 0.5 * np.eye(3)


def close(got: object, want: object, atol: float = 1e-14) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=0, atol=atol)


def test_vectors_follow_numpy() -> None:
    a, b = random(0, 3), random(1, 3)
    x, y = vec(a), vec(b)
    close(x.array(), a, 0)
    close((x + y).array(), a + b)
    close((x - y).array(), a - b)
    close((-x).array(), -a, 0)
    close((2.5 * x).array(), 2.5 * a)
    close((x * y.z).array(), a * b[:, 2:3])
    close(x.dot(y), np.sum(a * b, axis=1))
    close(x.cross(y).array(), np.cross(a, b, axis=1))
    close(x.scaled_by(y).array(), a * b)
    close(x.norm(), np.linalg.norm(a, axis=1))
    close(x.unit().array(), a / np.linalg.norm(a, axis=1, keepdims=True))
    close(x.where(a[:, 0] > 0, y).array(), np.where(a[:, :1] > 0, a, b), 0)


def test_constant_vectors_have_the_shape_and_precision_of_another_array() -> None:
    like = jnp.zeros((2, 5), jnp.float32)
    full = Vec3.full(like, 1.0, -2.0, 3.0).array()
    assert full.shape == (2, 3, 5) and full.dtype == jnp.float32
    close(full, np.broadcast_to(np.array([1.0, -2.0, 3.0])[:, None], (2, 3, 5)), 0)
    assert not np.any(np.asarray(Vec3.zeros(like).array()))


def test_array_broadcasts_one_lane() -> None:
    """Shared parameters have one lane; components of different lane counts still stack."""
    one, many = jnp.ones((2, 1)), jnp.full((2, 3), 2.0)
    close(Vec3(one, many, one).array()[:, :, 2], [[1, 2, 1], [1, 2, 1]], 0)
    assert Quat(one, many, one, one).array().shape == (2, 4, 3)


def test_matrices_follow_numpy() -> None:
    a, b = (np.random.default_rng(seed).normal(size=(ELEMENTS, LANES, 3, 3)) for seed in (2, 3))
    v = random(4, 3)
    columns = np.moveaxis(v, 1, -1)[..., None]
    close((mat(a) @ vec(v)).array(), np.moveaxis((a @ columns)[..., 0], -1, 1))
    close(mat(a).transposed_times(vec(v)).array(), np.moveaxis((np.swapaxes(a, -1, -2) @ columns)[..., 0], -1, 1))
    close(dense(mat(a).times(mat(b))), a @ b)


def test_frames_of_an_axis() -> None:
    """z along the axis, y normal to world X; [2, 1, 0] takes the place of X where the axis is along it."""
    axes = np.array([[1.0, 2.0, -2.0], [0.0, 0.0, -3.0], [5.0, 0.0, 0.0], [-5.0, 0.0, 0.0]])
    got = dense(Mat3.from_axis(Vec3.of(jnp.asarray(axes)[..., None])))[:, 0]
    for frame, axis in zip(got, axes, strict=True):
        close(frame.T @ frame, np.eye(3))
        assert np.linalg.det(frame) == pytest.approx(1.0, abs=1e-14)
        close(frame[:, 2], axis / np.linalg.norm(axis))
    close(got[:2, 0, 1], [0, 0])  # y is normal to X
    close(got[2], dense_along_x(1.0))
    close(got[3], dense_along_x(-1.0))


def dense_along_x(sign: float) -> np.ndarray:
    z = np.array([sign, 0.0, 0.0])
    y = np.cross(z, [2.0, 1.0, 0.0])
    return np.stack([np.cross(y, z), y, z], axis=1)


def test_frames_of_two_axes() -> None:
    z, x = random(5, 3), random(6, 3)
    got = dense(Mat3.from_axes(vec(z), vec(x)))
    close(np.swapaxes(got, -1, -2) @ got, np.broadcast_to(np.eye(3), got.shape))
    close(np.linalg.det(got), np.ones((ELEMENTS, LANES)))
    z_unit = np.moveaxis(z / np.linalg.norm(z, axis=1, keepdims=True), 1, -1)
    close(got[..., 2], z_unit)
    given = np.moveaxis(x, 1, -1)
    across = given - np.sum(given * z_unit, axis=-1, keepdims=True) * z_unit
    close(got[..., 0], across / np.linalg.norm(across, axis=-1, keepdims=True), 1e-13)


def test_symmetric_matrices_follow_numpy() -> None:
    tensor, v, q = positive_tensors(7), random(8, 3), unit_quats(9)
    sym = Sym3.of(jnp.asarray(sym_entries(tensor)))
    got = (sym @ vec(v)).array()
    close(got, np.moveaxis((tensor @ np.moveaxis(v, 1, -1)[..., None])[..., 0], -1, 1), 1e-13)
    inverse = np.stack([np.asarray(leaf) for leaf in jax.tree.leaves(sym.inverse())], axis=1)
    np.testing.assert_allclose(inverse, sym_entries(np.linalg.inv(tensor)), rtol=1e-11, atol=1e-13)
    turned = sym.rotated(quat(q).matrix())
    r = np_matrix(q)
    want = sym_entries(r @ tensor @ np.swapaxes(r, -1, -2))
    close(np.stack([np.asarray(leaf) for leaf in jax.tree.leaves(turned)], axis=1), want, 1e-13)
    close((sym * jnp.asarray(2.0)).xz, 2 * tensor[..., 0, 2])


@pytest.mark.parametrize("size", [1e-14, 1.0, 1e12])
def test_inverse_of_small_and_large_inertias_in_single_precision(size: float) -> None:
    """The determinant of an inertia of 1e-14 is 1e-42: it is no normal number in float32."""
    r = np_matrix(unit_quats(10))
    tensor = size * (r @ np.diag([1.0, 1.5, 2.0]) @ np.swapaxes(r, -1, -2))
    inverse = Sym3.of(jnp.asarray(sym_entries(tensor), jnp.float32)).inverse()
    got = np.stack([np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(inverse)], axis=1)
    assert jax.tree.leaves(inverse)[0].dtype == jnp.float32
    np.testing.assert_allclose(got * size, sym_entries(np.linalg.inv(tensor / size)), rtol=0, atol=2e-6)


def test_quaternion_algebra() -> None:
    p, q, v = unit_quats(11), unit_quats(12), random(13, 3)
    close((quat(p) @ quat(q)).array(), np_product(p, q))
    close(dense(quat(p).matrix()), np_matrix(p))
    close(dense((quat(p) @ quat(q)).matrix()), np_matrix(p) @ np_matrix(q))
    close((quat(p) @ quat(p).conj()).array(), np.broadcast_to(np.eye(4)[0][:, None], p.shape))
    close(quat(3.0 * p).normalised().array(), p)
    # the vector part of q (0, v) q* is the turned vector
    pure = Quat.from_parts(jnp.zeros((ELEMENTS, LANES)), vec(v))
    close((quat(p) @ pure @ quat(p).conj()).vector.array(), (quat(p).matrix() @ vec(v)).array())


def test_about_z() -> None:
    angle = np.array([[0.3, -2.0, 3.1, 7.0]])
    got = dense(Quat.about_z(jnp.asarray(angle)).matrix())
    close(got[0, :, 0, 0], np.cos(angle[0]))
    close(got[0, :, 1, 0], np.sin(angle[0]))
    close(got[0, :, 2], np.broadcast_to([0.0, 0.0, 1.0], (4, 3)))


#: The series about zero is used below an angle (of `exp`) or a sine of half the angle (of its inverse) of 1e-3.
ANGLES = [0.0, 1e-12, 1e-7, 1e-4, 1e-3 * (1 - 1e-9), 1e-3 * (1 + 1e-9), 2e-3 * (1 - 1e-9), 2e-3 * (1 + 1e-9), 0.3, 2.0]
NEAR_PI = [np.pi - 1e-3, np.pi - 1e-7, np.pi - 1e-12]


@pytest.mark.parametrize("axis", [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.48, -0.6, 0.64]])
def test_exp_and_rotation_vector(axis: list[float]) -> None:
    angles = np.array([*ANGLES, *NEAR_PI])
    rotation = np.asarray(axis)[:, None] * angles
    q = Quat.exp(vec(rotation[None]))
    close(q.w[0], np.cos(angles / 2), 1e-15)
    close(q.vector.array()[0], np.asarray(axis)[:, None] * np.sin(angles / 2), 1e-15)
    back = np.asarray(q.rotation_vector().array())[0]
    small = angles < 0.1
    np.testing.assert_allclose(back[:, small], rotation[:, small], rtol=2e-15)
    close(back[:, ~small], rotation[:, ~small], 4e-15)
    # the opposite quaternion is the same rotation
    opposite = Quat(-q.w, -q.x, -q.y, -q.z).rotation_vector()
    np.testing.assert_allclose(np.asarray(opposite.array())[0], back, rtol=0, atol=1e-15)


def test_rotation_vector_takes_the_short_way() -> None:
    angles = np.array([np.pi + 1e-3, 1.5 * np.pi, 2 * np.pi - 1e-4])
    rotation = np.array([0.0, 0.6, 0.8])[:, None] * angles
    back = np.asarray(Quat.exp(vec(rotation[None])).rotation_vector().array())[0]
    close(back, np.array([0.0, 0.6, 0.8])[:, None] * (angles - 2 * np.pi), 1e-14)


def test_series_keeps_single_precision() -> None:
    """At both sides of the threshold the two formulas agree to rounding in float32 as well."""
    angles = np.array([1e-5, 0.99e-3, 1.01e-3, 1.99e-3, 2.01e-3, 0.5], np.float32)
    rotation = jnp.asarray(np.array([0.6, 0.0, 0.8], np.float32)[:, None] * angles)[None]
    back = Quat.exp(Vec3.of(rotation)).rotation_vector().array()
    assert back.dtype == jnp.float32
    np.testing.assert_allclose(np.asarray(back), np.asarray(rotation), rtol=5e-7)


HALF_TURNS = {
    "w": [0.9, 0.1, -0.2, 0.3],
    "x": [0.1, 0.9, -0.2, 0.3],
    "y": [0.1, -0.2, 0.9, 0.3],
    "z": [0.1, -0.2, 0.3, 0.9],
    "identity": [1.0, 0.0, 0.0, 0.0],
    "half turn about x": [0.0, 1.0, 0.0, 0.0],
    "half turn about y": [0.0, 0.0, 1.0, 0.0],
    "half turn about z": [0.0, 0.0, 0.0, 1.0],
}


def test_from_matrix_in_every_branch() -> None:
    """Each component is the largest one once; the half turns have no scalar part at all."""
    q = np.array(list(HALF_TURNS.values())).T[None]
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    got = np.asarray(Quat.from_matrix(quat(q).matrix()).array())
    sign = np.sign(np.sum(got * q, axis=1, keepdims=True))
    close(got * sign, q, 2e-15)


def test_twist_angle() -> None:
    twist, swing = np.array([[0.0, 0.4, -3.0, 3.1]]), np.array([[0.5, -1.0, 2.0, 3.0]])
    none = np.zeros_like(swing)
    # a swing about an axis normal to z leaves the twist alone
    swung = Quat.exp(Vec3(jnp.asarray(0.6 * swing), jnp.asarray(0.8 * swing), jnp.asarray(none)))
    close((swung @ Quat.about_z(jnp.asarray(twist))).twist_angle(), twist, 1e-14)
    close((Quat.about_z(jnp.asarray(twist)) @ swung).twist_angle(), twist, 1e-14)
    half = Quat.about_z(jnp.asarray([[np.pi, -np.pi]])).twist_angle()
    close(np.abs(np.asarray(half)), [[np.pi, np.pi]], 1e-14)
    # half a turn about an axis normal to z has no twist part
    assert float(Quat(*(jnp.full((1, 1), c) for c in (0.0, 0.6, 0.8, 0.0))).twist_angle()[0, 0]) == 0.0


@pytest.mark.parametrize("frame", ["body", "world"])
def test_rates_are_the_derivatives_of_a_steady_turn(frame: str) -> None:
    q, omega, h = unit_quats(14), random(15, 3), 1e-5

    def turned(time: float) -> np.ndarray:
        step = Quat.exp(vec(omega * time))
        return np.asarray((quat(q) @ step if frame == "body" else step @ quat(q)).array())

    rate = quat(q).rate_body(vec(omega)) if frame == "body" else quat(q).rate_world(vec(omega))
    close(rate.array(), (turned(h) - turned(-h)) / (2 * h), 1e-9)
    # a unit quaternion stays one
    close(np.sum(np.asarray(rate.array()) * q, axis=1), np.zeros((ELEMENTS, LANES)), 1e-15)


def test_both_rates_agree() -> None:
    q, omega = unit_quats(16), random(17, 3)
    world = quat(q).matrix() @ vec(omega)
    close(quat(q).rate_world(world).array(), quat(q).rate_body(vec(omega)).array(), 1e-14)


def as_vec(x: jax.Array) -> Vec3:
    return Vec3.of(x.reshape(1, 3, 1))


def as_quat(x: jax.Array) -> Quat:
    return Quat.of(x.reshape(1, 4, 1))


IDENTITY = jnp.array([1.0, 0.0, 0.0, 0.0])


def test_length_and_direction_have_finite_derivatives_at_zero() -> None:
    zero = jnp.zeros(3)
    close(jax.grad(lambda x: as_vec(x).norm()[0, 0])(zero), np.zeros(3), 0)
    close(jax.jacobian(lambda x: as_vec(x).unit().array().ravel())(zero), np.zeros((3, 3)), 0)


def test_exponential_has_its_derivatives_at_zero() -> None:
    got = jax.jacobian(lambda x: Quat.exp(as_vec(x)).array().ravel())(jnp.zeros(3))
    close(got, np.concatenate([np.zeros((1, 3)), 0.5 * np.eye(3)]), 0)
    second = jax.hessian(lambda x: Quat.exp(as_vec(x)).w[0, 0])(jnp.zeros(3))
    close(second, -0.25 * np.eye(3), 0)


def test_rotation_vector_has_its_derivatives_at_the_identity() -> None:
    got = jax.jacobian(lambda x: as_quat(x).rotation_vector().array().ravel())(IDENTITY)
    close(got, np.concatenate([np.zeros((3, 1)), 2 * np.eye(3)], axis=1), 0)
    close(jax.jacobian(lambda x: as_quat(x).rotation_vector().array().ravel())(-IDENTITY), -np.asarray(got), 0)


def test_twist_angle_has_its_derivatives_where_defined_and_zero_elsewhere() -> None:
    derivative = jax.grad(lambda x: as_quat(x).twist_angle()[0, 0])
    close(derivative(IDENTITY), [0, 0, 0, 2], 0)
    close(derivative(jnp.array([0.0, 0.6, 0.8, 0.0])), np.zeros(4), 0)


@pytest.mark.parametrize("angle", [0.5e-3, 0.999e-3, 1.001e-3, 1.0])
def test_derivatives_of_exp_and_its_inverse_near_the_threshold(angle: float) -> None:
    """The two formulas join smoothly: the map there and back has the identity as its derivative."""
    x = angle * jnp.array([0.48, -0.6, 0.64])
    got = jax.jacobian(lambda x: Quat.exp(as_vec(x)).rotation_vector().array().ravel())(x)
    close(got, np.eye(3), 1e-9)
