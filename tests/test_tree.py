"""The elimination along the spanning tree against a dense solve in NumPy."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import jaxmbs as mbs
from jaxmbs import ConstraintKind, JointKind, ModelDescription
from jaxmbs._inputs import make_inputs
from jaxmbs._kinematics import Pose
from jaxmbs.dynamics.acceleration import free_wrench
from jaxmbs.dynamics.rows import linearised_rows, row_plan
from jaxmbs.dynamics.solve import make_solver, system_topology
from jaxmbs.dynamics.system import context, initial_lanes, kinematics, make_system
from tests.systems import bricard
from tests.systems.four_bar import FourBar


KINDS = [kind for kind in JointKind]
LANES = 3


def random_tree(seed: int, count: int, *, loops: int = 0, width: int | None = None) -> ModelDescription:
    """Bodies that hang on random others by joints of random kinds, and rows between random pairs of them."""
    rng = np.random.default_rng(seed)
    description = ModelDescription(f"tree{seed}")
    description.add_body("ground", fixed=True, mass=1.0, inertia=(1.0, 1.0, 1.0), pos=tuple(rng.normal(size=3)))
    names = ["ground"]
    for i in range(count):
        points = 0.5 * rng.normal(size=(6, 3))
        com = rng.normal(size=4)
        description.add_body(
            f"b{i}",
            mass=float(rng.uniform(0.5, 2)),
            inertia=np.sum(points**2) * np.eye(3) - points.T @ points,
            pos=tuple(rng.normal(size=3)),
            quat=tuple(rng.normal(size=4)),
            com_pos=tuple(0.3 * rng.normal(size=3)),
            com_quat=tuple(com),
        )
        names.append(f"b{i}")

    def join(name: str, one: str, two: str, kind: JointKind) -> None:
        axis = rng.normal(size=3)
        other = {} if kind is not JointKind.UNIVERSAL else {"axis2": tuple(np.cross(axis, rng.normal(size=3)))}
        if kind not in (JointKind.LOCK, JointKind.SPHERICAL):
            other["axis"] = tuple(axis)
        description.add_joint(name, kind, one, two, pos=tuple(rng.normal(size=3)), **other)

    for i in range(count):
        above = names[int(rng.integers(0, i + 1))] if width is None else names[0 if i < width else i + 1 - width]
        pair = (above, f"b{i}") if rng.random() < 0.6 else (f"b{i}", above)
        if rng.random() < 0.9:
            join(f"j{i}", *pair, KINDS[int(rng.integers(len(KINDS)))])
    for i in range(loops):
        one, two = rng.choice(count, 2, replace=False)
        join(f"loop{i}", f"b{one}", f"b{two}", (JointKind.POINT_PLANE, JointKind.SPHERICAL)[i % 2])
    points = {"point1": (0.0, 0.0, 0.0), "point2": (1.0, 2.0, 0.5)}
    description.add_constraint("rod", ConstraintKind.DISTANCE, names[0], names[-1], **points)
    return description


def chain(count: int, kind: JointKind) -> ModelDescription:
    description = ModelDescription("chain")
    for i in range(count):
        description.add_body(f"b{i}", mass=1.0, inertia=(0.01, 0.09, 0.09), pos=(i + 0.5, 0.0, 0.0))
        above = {"body1": f"b{i - 1}"} if i else {"body1": "ground"}
        axis = {} if kind is JointKind.SPHERICAL else {"axis": (0.0, 1.0, 0.0)}
        if not i:
            description.add_body("ground", fixed=True)
        description.add_joint(f"j{i}", kind, above["body1"], f"b{i}", pos=(float(i), 0.0, 0.0), **axis)
    return description


def hub(arms: int) -> ModelDescription:
    description = ModelDescription("hub")
    description.add_body("ground", fixed=True)
    description.add_body("hub", mass=5.0, inertia=(1.0, 1.0, 2.0))
    description.add_joint("spin", JointKind.REVOLUTE, "ground", "hub", pos=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    for i in range(arms):
        angle = 2 * np.pi * i / arms
        out, along = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
        description.add_body(f"arm{i}", mass=1.0, inertia=(0.08, 0.08, 0.08), pos=tuple(1.5 * out))
        description.add_joint(f"hinge{i}", JointKind.REVOLUTE, "hub", f"arm{i}", pos=tuple(out), axis=tuple(along))
    return description


MECHANISMS = {
    "tree of 7": lambda: random_tree(1, 7),
    "tree of 12": lambda: random_tree(2, 12),
    "coupled loops": lambda: random_tree(3, 8, loops=2),
    "two branches": lambda: random_tree(4, 8, width=2),
    "long chain": lambda: chain(9, JointKind.REVOLUTE),
    "spherical chain": lambda: chain(6, JointKind.SPHERICAL),
    "hub": lambda: hub(20),
    "four-bar": lambda: FourBar().description(),
    "Bricard": bricard.description,
}


@eqx.filter_jit
def evaluate(model: mbs.Model, noise: dict[str, Array]) -> dict[str, Array]:
    """Motions for two right-hand sides at poses off the constraints, and the equations that they must satisfy."""
    inputs = make_inputs(model, None)
    system = make_system(model, inputs, (LANES,))
    y = initial_lanes(model, (LANES,))
    nudge = lambda leaf, kick: jax.tree.map(lambda a, b: a + b, leaf, kick)  # noqa: E731
    pose = Pose(nudge(y.pose.pos, noise_of(y.pose.pos, noise["pos"])), y.pose.quat)
    y = dataclasses.replace(y, pose=pose, vel=noise_of(y.vel, noise["vel"]), omega=noise_of(y.omega, noise["omega"]))
    zero = jnp.zeros((1, 1), model.dtype)
    bodies = kinematics(system, y)
    rows = linearised_rows(system, bodies, y, context(system, zero, zero, y))
    wrench = free_wrench(system, bodies, y, noise["wrench"])
    solver = make_solver(system, bodies, rows)
    negative = lambda values: jax.tree.map(jnp.negative, values)  # noqa: E731
    (first, pulls), (second, _) = solver.solve_all(
        [(wrench, negative(rows.biases)), (jnp.zeros_like(wrench), negative(rows.residuals))]
    )
    tensor = bodies.inertia_world
    return {
        "mass": jnp.broadcast_to(system.model.bodies.mass, (model.bodies.count, LANES)),
        "tensor": jnp.stack([tensor.xx, tensor.yy, tensor.zz, tensor.xy, tensor.xz, tensor.yz], axis=1),
        "jacobian1": rows.jacobian1,
        "jacobian2": rows.jacobian2,
        "wrench": wrench,
        "bias": rows.together(rows.biases),
        "residual": rows.residual,
        "acceleration": first,
        "multipliers": rows.together(pulls),
        "correction": second,
    }


def noise_of(like, array: Array):  # noqa: ANN001, ANN201
    return jax.tree.unflatten(jax.tree.structure(like), [array[:, i] for i in range(3)])


def dense(found: dict[str, np.ndarray], plan, moving: np.ndarray, lane: int, rank: float):  # noqa: ANN001, ANN201
    """Motions nearest in the mass metric, by the pseudo-inverse of J M^-1/2; and the wrenches of the multipliers."""
    count, rows = moving.size, plan.count
    jacobian = np.zeros((rows, count, 6))
    mass = np.zeros((6 * count, 6 * count))
    for side, body in (("jacobian1", plan.body1), ("jacobian2", plan.body2)):
        for row in range(rows):
            if body[row] >= 0:
                jacobian[row, body[row]] += found[side][row, :, lane]
    for body in range(count):
        xx, yy, zz, xy, xz, yz = found["tensor"][body, :, lane]
        block = np.zeros((6, 6))
        block[:3, :3] = found["mass"][body, lane] * np.eye(3)
        block[3:, 3:] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        mass[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = block
    free = np.repeat(moving, 6)
    jacobian = jacobian.reshape(rows, 6 * count)[:, free]
    mass = mass[np.ix_(free, free)]
    root = np.linalg.inv(np.linalg.cholesky(mass))
    scaled = jacobian @ root.T
    pseudo = np.linalg.pinv(scaled, rcond=rank)
    motions = []
    for wrench, target in (
        (found["wrench"][..., lane].ravel()[free], -found["bias"][:, lane]),
        (np.zeros(free.sum()), -found["residual"][:, lane]),
    ):
        unconstrained = root @ wrench
        motion = np.zeros(6 * count)
        motion[free] = root.T @ (unconstrained + pseudo @ (target - scaled @ unconstrained))
        motions.append(motion.reshape(count, 6))
    pulled = jacobian.T @ found["multipliers"][:, lane]
    return motions, mass @ motions[0].ravel()[free] - found["wrench"][..., lane].ravel()[free], pulled


@pytest.fixture(scope="module", params=list(MECHANISMS))
def mechanism(request: pytest.FixtureRequest) -> tuple[ModelDescription, dict[str, np.ndarray], mbs.Model]:
    description = MECHANISMS[request.param]()
    model = mbs.compile_model(description)
    count = model.bodies.count
    rng = np.random.default_rng(7)
    consistent = request.param in ("four-bar", "Bricard", "coupled loops")
    noise = {
        # redundant rows agree only on the constraints, and loops of random joints may not close elsewhere
        "pos": (0.0 if consistent else 0.05) * rng.normal(size=(count, 3, LANES)),
        "vel": (0.0 if consistent else 1.0) * rng.normal(size=(count, 3, LANES)),
        "omega": (0.0 if consistent else 1.0) * rng.normal(size=(count, 3, LANES)),
        "wrench": rng.normal(size=(count, 6, LANES)),
    }
    return description, noise, model


@pytest.mark.parametrize(("dtype", "tolerance", "rank"), [(jnp.float64, 1e-9, 1e-9), (jnp.float32, 2e-3, 1e-5)])
def test_tree_against_dense(mechanism, dtype, tolerance: float, rank: float) -> None:  # noqa: ANN001
    """In float64 to 1e-9 of the largest value; in float32 to the rounding of the worst of these mechanisms.

    Rows that are redundant are so to rounding: singular values below `rank` of the largest count as zero.
    """
    description, noise, _ = mechanism
    model = mbs.compile_model(description, dtype=dtype)
    found = evaluate(model, jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), noise))
    assert found["acceleration"].dtype == dtype
    found = {name: np.asarray(value, np.float64) for name, value in found.items()}
    system = make_system(model, make_inputs(model, None), ())
    plan = row_plan(model)
    assert system_topology(system, plan).count == np.sum(model.bodies.moving)
    for lane in range(LANES):
        (acceleration, correction), needed, pulled = dense(found, plan, model.bodies.moving[:, 0], lane, rank)
        for got, want in (
            (found["acceleration"][..., lane], acceleration),
            (found["correction"][..., lane], correction),
            (pulled, needed),
        ):
            np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1.0, np.abs(want).max()))
