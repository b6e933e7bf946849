"""One instance of every element type and variant, each between two moving bodies of its own.

Elements of a type are stacked, so that one compilation serves a whole group of them.
"""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import DTypeLike

import jaxmbs as mbs
from jaxmbs import Actuation, ConstraintKind, FunctionDescription, Guide, JointKind, LoadKind, MotorKind, Repeat


LANES = 64


@dataclasses.dataclass(frozen=True)
class Place:
    """Where an element sits in the world at t = 0: `axis` and `across` are perpendicular, neither is normalised."""

    pos: np.ndarray
    axis: np.ndarray
    across: np.ndarray
    #: From point 1 to point 2 of springs; zero in the degenerate catalogue.
    span: np.ndarray
    #: From point 1 to point 2 of constraints: never zero, perpendicular to `axis`.
    link: np.ndarray


Add = Callable[[mbs.ModelDescription, str, str, str, Place], Any]

FUNCTIONS = {
    "sine": FunctionDescription.sine(0.2, 0.7, 0.4, 0.05),
    "polynomial": FunctionDescription.polynomial([0.1, 0.3, -0.4, 0.2]),
    "ramp": FunctionDescription.ramp(0.4, 0.05),
    "data": FunctionDescription.data([[-1.0, 0.0], [0.25, 0.1], [0.55, 0.3], [2.0, -0.2]]),
    "controller": FunctionDescription.controller("drive"),
    "repeated sine": FunctionDescription.sine(0.3, 0.9, 0.1, repeat=Repeat(0.1, 0.6, 0.2)),
    "constant": FunctionDescription.constant(0.25),
}


def _joint(kind: JointKind) -> Add:
    return lambda d, name, a, b, at: d.add_joint(name, kind, a, b, pos=at.pos, axis=at.axis, axis2=at.across + at.axis)


def _constraint(kind: ConstraintKind) -> Add:
    def add(d: mbs.ModelDescription, name: str, a: str, b: str, at: Place) -> None:
        axes = {} if kind is ConstraintKind.DISTANCE else {"axis1": at.axis}
        if kind is ConstraintKind.REVOLUTE_TRANSLATIONAL:
            axes["axis2"] = at.across
        d.add_constraint(name, kind, a, b, point1=at.pos, point2=at.pos + at.link, **axes)

    return add


def _motor(kind: MotorKind, actuation: Actuation, guide: Guide, function: str) -> Add:
    return lambda d, name, a, b, at: d.add_motor(
        name, kind, a, b, pos=at.pos, axis=at.axis, actuation=actuation, guide=guide, function=FUNCTIONS[function]
    )


def _tsda(**numbers: Any) -> Add:
    return lambda d, name, a, b, at: d.add_tsda(name, a, b, point1=at.pos, point2=at.pos + at.span, **numbers)


def _rsda(**numbers: Any) -> Add:
    return lambda d, name, a, b, at: d.add_rsda(name, a, b, pos=at.pos, axis=at.axis, **numbers)


def _bushing(kind: JointKind, linear: Any, rotational: Any, damped: bool) -> Add:
    scale = 0.05 if damped else 0.0
    return lambda d, name, a, b, at: d.add_bushing(
        name,
        a,
        b,
        pos=at.pos,
        axis=at.axis,
        axis_x=at.across,
        kind=kind,
        stiffness_linear=linear,
        damping_linear=scale * np.asarray(linear),
        stiffness_rotational=rotational,
        damping_rotational=scale * np.asarray(rotational),
    )


def _load(kind: LoadKind, **options: Any) -> Add:
    def add(d: mbs.ModelDescription, name: str, a: str, b: str, at: Place) -> None:
        d.add_load(name, kind, b, load=np.array([3.0, -2.0, 1.5]), point=0.3 * at.across, **options)

    return add


SPRING_CURVE = [[-0.4, -30.0], [-0.1, -4.0], [0.05, 0.0], [0.3, 25.0], [0.6, 90.0]]
DAMPING_CURVE = [[-3.0, -9.0], [-0.5, -2.0], [0.0, 0.0], [0.8, 3.0], [4.0, 12.0]]
#: Rows of velocity and forces at four deformations; at every deformation the force grows with the velocity.
MAP_DEFORMATION = [-0.3, 0.0, 0.2, 0.5]
MAP_DATA = [[-2.0, -32.0, -9.0, 8.0, 40.0], [0.0, -24.0, -1.0, 14.0, 45.0], [1.5, -20.0, 5.0, 21.0, 52.0]]

#: TSDAs and what dissipates in them: the names of `UNDAMPED` must not dissipate, the others never gain energy.
TSDAS: dict[str, Add] = {
    "tsda linear": _tsda(free_length=0.4, stiffness=120.0, damping=3.0, preload=5.0),
    "tsda undamped": _tsda(free_length=0.4, stiffness=120.0, preload=5.0),
    "tsda degressive": _tsda(stiffness=20.0, damping=4.0, degressivity_compression=0.8, degressivity_expansion=0.5),
    "tsda spring curve": _tsda(free_length=0.5, spring_curve=SPRING_CURVE),
    "tsda both curves": _tsda(free_length=0.3, spring_curve=SPRING_CURVE, damping_curve=DAMPING_CURVE),
    "tsda map": _tsda(free_length=0.4, map_deformation=MAP_DEFORMATION, map_data=MAP_DATA),
    "tsda stops": _tsda(free_length=0.5, stiffness=10.0, minimum_length=0.48, maximum_length=0.55),
    "tsda one stop": _tsda(free_length=0.5, stiffness=10.0, maximum_length=0.45),
}
RSDAS: dict[str, Add] = {
    "rsda linear": _rsda(free_angle=0.3, stiffness=6.0, damping=0.4, preload=0.7),
    "rsda undamped": _rsda(free_angle=0.3, stiffness=6.0, preload=0.7),
    "rsda spring curve": _rsda(spring_curve=[[-9.0, -20.0], [-1.0, -3.0], [0.5, 0.0], [8.0, 30.0]]),
    "rsda both curves": _rsda(spring_curve=[[-2.0, -5.0], [2.0, 5.0]], damping_curve=DAMPING_CURVE),
    "rsda off axis": _rsda(free_angle=-0.2, stiffness=4.0, damping=0.3),
}
UNDAMPED = ("tsda undamped", "tsda spring curve", "tsda stops", "tsda one stop", "rsda undamped", "rsda spring curve")

_K, _R = np.array([300.0, 420.0, 250.0]), np.array([8.0, 11.0, 6.0])
#: What the Chrono loader makes of the bushing kinds: released rotations keep the stiffness of their degree of freedom.
BUSHINGS: dict[str, Add] = {
    "bushing lock": _bushing(JointKind.LOCK, _K, _R, True),
    "bushing spherical": _bushing(JointKind.SPHERICAL, _K, np.zeros(3), True),
    "bushing spherical dof": _bushing(JointKind.SPHERICAL, _K, np.full(3, 0.7), True),
    "bushing revolute": _bushing(JointKind.REVOLUTE, _K, _R * [1, 1, 0], True),
    "bushing revolute dof": _bushing(JointKind.REVOLUTE, _K, [8.0, 11.0, 0.7], True),
    "bushing universal": _bushing(JointKind.UNIVERSAL, _K, _R * [0, 0, 1], True),
    "bushing universal dof": _bushing(JointKind.UNIVERSAL, _K, [0.7, 0.7, 6.0], True),
    "bushing isotropic": _bushing(JointKind.LOCK, 300.0, 8.0, False),
}

LOADS: dict[str, Add] = {
    "force local": _load(LoadKind.FORCE),
    "force world": _load(LoadKind.FORCE, local_load=False),
    "force fixed point": _load(LoadKind.FORCE, local_load=True, local_point=False),
    "force world fixed point": _load(LoadKind.FORCE, local_load=False, local_point=False),
    "force modulated": _load(LoadKind.FORCE, modulation=FUNCTIONS["sine"]),
    "force controlled": _load(LoadKind.FORCE, input="wind"),
    "torque local": _load(LoadKind.TORQUE),
    "torque world": _load(LoadKind.TORQUE, local_load=False),
    "torque modulated": _load(LoadKind.TORQUE, local_load=False, modulation=FUNCTIONS["data"]),
    "torque controlled": _load(LoadKind.TORQUE, local_load=False, input="wheel"),
}

JOINTS: dict[str, Add] = {f"joint {kind.name}": _joint(kind) for kind in JointKind}
CONSTRAINTS: dict[str, Add] = {f"constraint {kind.name}": _constraint(kind) for kind in ConstraintKind}
_GUIDES = {
    MotorKind.LINEAR: (Guide.PRISMATIC, Guide.SPHERICAL, Guide.FREE),
    MotorKind.ROTATION: (Guide.REVOLUTE, Guide.CYLINDRICAL, Guide.FREE),
}
# seven functions against three times three variants: every actuation sees several functions
MOTORS: dict[str, Add] = {
    f"motor {kind.name} {actuation.name} {guide.name}": _motor(kind, actuation, guide, function)
    for (kind, actuation, guide), function in zip(
        ((k, a, g) for k in MotorKind for a in Actuation for g in _GUIDES[k]), itertools.cycle(FUNCTIONS), strict=False
    )
}

ELEMENTS: dict[str, Add] = {**JOINTS, **CONSTRAINTS, **MOTORS, **TSDAS, **RSDAS, **BUSHINGS, **LOADS}
NAMES = tuple(ELEMENTS)
#: The catalogue in three models: compiling and running one model of all takes longer than three of them.
GROUPS: dict[str, tuple[str, ...]] = {
    "constraints": (*JOINTS, *CONSTRAINTS),
    "motors": tuple(MOTORS),
    "forces": (*TSDAS, *RSDAS, *BUSHINGS, *LOADS),
}


def bodies_of(model: mbs.Model, name: str) -> tuple[int, int]:
    """Indices of the two bodies of an element."""
    first = model.bodies.names.index(f"{name} a")
    return first, first + 1


def drive(t: Array, state: Any) -> Array:
    """The external value of the CONTROLLER functions: of time alone."""
    del state
    return 0.3 * jnp.sin(2 * t) + 0.1


def wind(t: Array, state: Any) -> Array:
    """A load that depends on the state, in body axes throughout: the same in every world."""
    return (1 + t) * jnp.stack([jnp.ones_like(t), state.omega[0, 1], -state.omega[1, 2]])


INPUTS: dict[str, Any] = {
    "drive": drive,
    "wind": wind,
    "wheel": ([0.0, 0.4, 1.0], [[0.0, 1.0, 0.0], [1.0, -1.0, 0.5], [0.3, 0.2, 0.1]]),
}

_GENERIC_AXES = ("oblique", "z", "x")


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """wxyz of rotation vectors (..., 3)."""
    angle = np.linalg.norm(rotation, axis=-1, keepdims=True)
    scale = np.where(angle > 0, np.sin(angle / 2) / np.where(angle > 0, angle, 1.0), 0.5)
    return np.concatenate([np.cos(angle / 2), rotation * scale], axis=-1)


def multiply(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Product of quaternions (..., 4)."""
    pw, pv, qw, qv = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    vector = pw * qv + qw * pv + np.cross(pv, qv)
    return np.concatenate([pw * qw - np.sum(pv * qv, axis=-1, keepdims=True), vector], axis=-1)


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3)."""
    columns = [multiply(multiply(q, np.array([0.0, *e])), conjugate(q))[..., 1:] for e in np.eye(3)]
    return np.stack(columns, axis=-1)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", matrix(q), v)


def _places(axes: str) -> dict[str, Place]:
    rng = np.random.default_rng(7)
    places = {}
    for name in NAMES:
        pos, axis, other = rng.uniform(-0.5, 0.5, 3), rng.normal(size=3), rng.normal(size=3)
        across = np.cross(axis, other)
        span, link = rng.normal(size=3), np.cross(axis, across)
        span, link = 0.5 * span / np.linalg.norm(span), 0.5 * link / np.linalg.norm(link)
        if axes != "oblique":
            z, x = np.eye(3)[2], np.eye(3)[0]
            pos, axis, across, link = np.zeros(3), *((z, x, x) if axes == "z" else (x, z, z))
            span = np.zeros(3)
        places[name] = Place(pos, axis, across, span, link)
    return places


def build_model(axes: str = "oblique", dtype: DTypeLike = "float64", names: Sequence[str] = NAMES) -> mbs.Model:
    """The catalogue, or the elements of these names, as a model.

    **Arguments:**

    - axes: "oblique": offset and rotated COM frames, products of inertia, oblique axes. "z" and "x": the same
      structure in a degenerate place: all frames coincide with the world's, axes along that direction, springs of
      zero length.
    """
    assert axes in _GENERIC_AXES
    rng = np.random.default_rng(3)
    description = mbs.ModelDescription(name="catalogue", gravity=np.array([1.0, -2.0, -9.0]))
    for name, place in _places(axes).items():
        if name not in names:
            continue
        for side in "ab":
            turn = matrix(quaternion(rng.normal(size=3)))
            frame = {
                "pos": place.pos + rng.uniform(-0.4, 0.4, 3),
                "quat": quaternion(rng.normal(size=3)),
                "com_pos": rng.uniform(-0.3, 0.3, 3),
                "com_quat": quaternion(rng.normal(size=3)),
                "vel": rng.normal(size=3),
                "omega": rng.normal(size=3),
            }
            if axes != "oblique":
                frame, turn = {}, np.eye(3)
            moments = rng.uniform(0.06, 0.1, 3)
            mass = rng.uniform(1.0, 3.0)
            description.add_body(f"{name} {side}", mass=mass, inertia=turn @ np.diag(moments) @ turn.T, **frame)
        ELEMENTS[name](description, name, f"{name} a", f"{name} b", place)
    return mbs.compile_model(description, dtype=dtype)


def rest_poses(model: mbs.Model) -> tuple[np.ndarray, np.ndarray]:
    """COM positions and orientations at t = 0, (bodies, 3) and (bodies, 4)."""
    bodies = model.bodies
    pos, quat = np.asarray(bodies.pos, np.float64), np.asarray(bodies.quat, np.float64)
    com_pos, com_quat = np.asarray(bodies.com_pos, np.float64), np.asarray(bodies.com_quat, np.float64)
    return pos + rotate(quat, com_pos), multiply(quat, com_quat)


def random_states(model: mbs.Model, lanes: int = LANES, seed: int = 0) -> mbs.State:
    """States of the oblique catalogue, `lanes` on a leading batch axis.

    Each pair of bodies is moved as a whole by an arbitrary rigid motion; then body a moves relative to body b: up to
    0.15 m and 1 rad about the element's place. Exceptions keep to where the laws hold: the rows of a UNIVERSAL joint
    are moment-balanced only when its centres coincide; rows that keep axes perpendicular lose their rank when these
    become parallel, so there half a radian is enough; and an RSDA (other than "rsda off axis") is conservative only
    when its axes coincide, so its bodies turn about the axis alone, by up to three turns.
    """
    rng = np.random.default_rng(seed)
    rest_pos, rest_quat = rest_poses(model)
    count = rest_pos.shape[0]
    pos, quat = np.zeros((lanes, count, 3)), np.zeros((lanes, count, 4))
    vel, omega = rng.normal(size=(lanes, count, 3)), 1.5 * rng.normal(size=(lanes, count, 3))
    aux = [rng.uniform(-0.3, 0.3, (lanes, *size)) for size in _aux_shapes(model)]
    for name, place in _places("oblique").items():
        if f"{name} a" not in model.bodies.names:
            continue
        a, b = bodies_of(model, name)
        turn, shift = quaternion(rng.normal(size=(lanes, 3))), rng.uniform(-1, 1, (lanes, 3))
        direction = rng.normal(size=(lanes, 3))
        angle = rng.uniform(0.1, 1.0, (lanes, 1))
        move = rng.uniform(-0.15, 0.15, (lanes, 3))
        if name == "joint UNIVERSAL":
            move = np.zeros((lanes, 3))
        if name in ("joint UNIVERSAL", "constraint REVOLUTE_TRANSLATIONAL"):
            angle = angle / 2
        if name in RSDAS and name != "rsda off axis":
            direction = np.broadcast_to(place.axis, (lanes, 3))
            angle = rng.uniform(-18.0, 18.0, (lanes, 1))
        rotation = direction / np.linalg.norm(direction, axis=1, keepdims=True) * angle
        relative = quaternion(rotation)
        moved = place.pos + rotate(relative, rest_pos[a] - place.pos) + move
        pos[:, a], quat[:, a] = shift + rotate(turn, moved), multiply(turn, multiply(relative, rest_quat[a]))
        pos[:, b], quat[:, b] = shift + rotate(turn, rest_pos[b]), multiply(turn, rest_quat[b])
        if name in RSDAS:
            stack = len(model.constraints) + [type(f).__name__ for f in model.forces].index("Rsda")
            # the integrated angle of b relative to a is off by less than half a turn
            aux[stack][:, model.rsdas.names.index(name), 0] += -angle[:, 0] if name != "rsda off axis" else 0.0
            if name != "rsda off axis":
                spin = rotate(quat[:, b], omega[:, b])
                along = rotate(turn, np.broadcast_to(place.axis, (lanes, 3)))
                omega[:, a] = rotate(conjugate(quat[:, a]), spin + along * rng.normal(size=(lanes, 1)))
    dtype = model.dtype
    as_array = lambda x: jnp.asarray(x, dtype)
    return mbs.State(
        pos=as_array(pos),
        quat=as_array(quat),
        vel=as_array(vel),
        omega=as_array(omega),
        aux=tuple(map(as_array, aux)),
        work=jnp.zeros((lanes, 3), dtype),
    )


def rest_states(model: mbs.Model, lanes: int = 1) -> mbs.State:
    """The pose at t = 0 without velocity, on every lane."""
    pos, quat = rest_poses(model)
    as_array = lambda x: jnp.broadcast_to(jnp.asarray(x, model.dtype), (lanes, *x.shape))
    return mbs.State(
        pos=as_array(pos),
        quat=as_array(quat),
        vel=as_array(np.zeros_like(pos)),
        omega=as_array(np.zeros_like(pos)),
        aux=tuple(as_array(np.zeros(size)) for size in _aux_shapes(model)),
        work=jnp.zeros((lanes, 3), model.dtype),
    )


def _aux_shapes(model: mbs.Model) -> list[tuple[int, int]]:
    return [(e.count, e.aux_count) for e in (*model.constraints, *model.forces)]


def random_times(lanes: int = LANES) -> np.ndarray:
    """An instant for every lane; none is a kink of a function."""
    return np.random.default_rng(11).uniform(0.05, 0.95, lanes)
