"""The parts of a model description: bodies, joints, forces, motors and functions of time, as plain NumPy data."""

import dataclasses
import enum
from collections.abc import Sequence

import numpy as np

from jaxmbs import _description_checks as checks
from jaxmbs._description_checks import ModelError, sorted_table


class JointKind(enum.Enum):
    """Kinematic joints. The joint frame's z axis is the `axis` of the joint."""

    LOCK = "lock"
    REVOLUTE = "revolute"
    SPHERICAL = "spherical"
    PRISMATIC = "prismatic"
    CYLINDRICAL = "cylindrical"
    UNIVERSAL = "universal"
    POINT_LINE = "point_line"
    POINT_PLANE = "point_plane"


class ConstraintKind(enum.Enum):
    """Constraints that are not joints."""

    DISTANCE = "distance"
    REVOLUTE_SPHERICAL = "revolute_spherical"
    REVOLUTE_TRANSLATIONAL = "revolute_translational"


class MotorKind(enum.Enum):
    """A linear motor drives z of its frame, a rotation motor turns about z."""

    LINEAR = "linear"
    ROTATION = "rotation"


class Actuation(enum.Enum):
    """What the function of a motor prescribes."""

    POSITION = "position"
    SPEED = "speed"
    FORCE = "force"


class Guide(enum.Enum):
    """What a motor constrains beside the coordinate that it drives.

    PRISMATIC, SPHERICAL and FREE guide a linear motor; REVOLUTE, CYLINDRICAL and FREE are the spindles of a
    rotation motor.
    """

    FREE = "free"
    PRISMATIC = "prismatic"
    SPHERICAL = "spherical"
    REVOLUTE = "revolute"
    CYLINDRICAL = "cylindrical"


class FunctionKind(enum.Enum):
    """Functions of time."""

    CONSTANT = "constant"
    POLYNOMIAL = "polynomial"
    SINE = "sine"
    RAMP = "ramp"
    DATA = "data"
    CONTROLLER = "controller"


#: How many coefficients a function has, where that is one number.
_COEFFICIENTS = {FunctionKind.CONSTANT: 1, FunctionKind.SINE: 4, FunctionKind.RAMP: 2}


class LoadKind(enum.Enum):
    """A force at a point, or a pure torque."""

    FORCE = "force"
    TORQUE = "torque"


@dataclasses.dataclass(frozen=True)
class Repeat:
    """Periodic replication: f(start + mod(x + shift, width)).

    `truncated` selects C's `fmod` (sign of the argument) instead of the floor modulo.
    """

    start: float
    width: float
    shift: float
    truncated: bool = False

    def __post_init__(self) -> None:
        try:
            usable = bool(np.all(np.isfinite([self.start, self.width, self.shift])) and self.width > 0)
        except (TypeError, ValueError):
            usable = False
        if not usable:
            raise ModelError(f"a repeat needs finite numbers and a positive width, got {self}")


@dataclasses.dataclass(frozen=True)
class FunctionDescription:
    """A function of time.

    - CONSTANT: `coefficients = (value,)`.
    - POLYNOMIAL: `coefficients = (a0, a1, ...)`, f = a0 + a1 t + ...
    - SINE: `coefficients = (amplitude, frequency [Hz], phase [rad], shift)`, f = A sin(2 pi f t + phase) + shift.
    - RAMP: `coefficients = (slope, intercept)`.
    - DATA: `table` of rows (t, f), linear in between and constant outside.
    - CONTROLLER: `input` names the external value.
    """

    kind: FunctionKind
    coefficients: tuple[float, ...] = ()
    table: np.ndarray | None = None
    input: str | None = None
    repeat: Repeat | None = None

    def __post_init__(self) -> None:
        kind = checks.member(self.kind, FunctionKind, "kind")
        what = f"a {kind.name} function"
        if self.repeat is not None and not isinstance(self.repeat, Repeat):
            raise ModelError(f"{what}: repeat needs a jaxmbs.Repeat, got {self.repeat!r}")
        if kind is FunctionKind.DATA:
            if self.table is None:
                raise ModelError(f"{what} needs a table of rows (t, f)")
            # also sorts the table of a description that was not made by `data`
            object.__setattr__(self, "table", sorted_table(self.table, 2))
        elif kind is FunctionKind.CONTROLLER:
            checks.text(self.input, f"{what}: input")
        else:
            size = _COEFFICIENTS.get(kind)
            found = checks.numbers(self.coefficients, f"{what}: coefficients")
            if found.ndim != 1 or found.size == 0 or size not in (None, found.size):
                wanted = "at least one coefficient" if size is None else f"{size} coefficient(s)"
                raise ModelError(f"{what} needs {wanted}, got {self.coefficients!r}")
            object.__setattr__(self, "coefficients", tuple(map(float, found)))

    @staticmethod
    def constant(value: float) -> "FunctionDescription":
        return FunctionDescription(FunctionKind.CONSTANT, (value,))

    @staticmethod
    def polynomial(coefficients: Sequence[float], *, repeat: Repeat | None = None) -> "FunctionDescription":
        found = checks.numbers(coefficients, "a POLYNOMIAL function: coefficients")
        return FunctionDescription(FunctionKind.POLYNOMIAL, tuple(np.atleast_1d(found).tolist()), repeat=repeat)

    @staticmethod
    def sine(
        amplitude: float,
        frequency: float,
        phase: float = 0.0,
        shift: float = 0.0,
        *,
        repeat: Repeat | None = None,
    ) -> "FunctionDescription":
        return FunctionDescription(FunctionKind.SINE, (amplitude, frequency, phase, shift), repeat=repeat)

    @staticmethod
    def ramp(slope: float, intercept: float = 0.0, *, repeat: Repeat | None = None) -> "FunctionDescription":
        return FunctionDescription(FunctionKind.RAMP, (slope, intercept), repeat=repeat)

    @staticmethod
    def data(table: Sequence[Sequence[float]], *, repeat: Repeat | None = None) -> "FunctionDescription":
        return FunctionDescription(FunctionKind.DATA, table=sorted_table(table, 2), repeat=repeat)

    @staticmethod
    def controller(input: str) -> "FunctionDescription":
        return FunctionDescription(FunctionKind.CONTROLLER, input=input)


@dataclasses.dataclass
class BodyDescription:
    """A rigid body.

    - `pos`, `quat`: the reference frame at t = 0, in the world [m], wxyz.
    - `com_pos`, `com_quat`: the COM frame relative to the reference frame.
    - `inertia`: (3, 3) about the COM, in COM axes [kg m2].
    - `vel`: velocity of the reference origin, world axes [m/s].
    - `omega`: angular velocity, reference axes [rad/s].

    A fixed body needs neither mass nor inertia.
    """

    name: str
    pos: np.ndarray
    quat: np.ndarray
    fixed: bool
    mass: float
    inertia: np.ndarray
    com_pos: np.ndarray
    com_quat: np.ndarray
    vel: np.ndarray
    omega: np.ndarray


@dataclasses.dataclass
class JointDescription:
    """A kinematic joint at `pos`, both in the world at t = 0.

    `axis` is the free axis (REVOLUTE, PRISMATIC, CYLINDRICAL), the line (POINT_LINE) or the plane's normal
    (POINT_PLANE), fixed in body2; the point of POINT_* is fixed in body1. For UNIVERSAL, `axis` is fixed in body1
    and `axis2`, made orthogonal to it, in body2.
    """

    name: str
    kind: JointKind
    body1: str
    body2: str
    pos: np.ndarray
    axis: np.ndarray
    axis2: np.ndarray | None


@dataclasses.dataclass
class BushingDescription:
    """A compliant joint: stiffness and damping along and about the axes of the joint frame of body2.

    - `axis`: z of the joint frame, world at t = 0; `axis_x`: its x direction.
    - `stiffness_linear`, `damping_linear`: (3,) [N/m], [N s/m].
    - `stiffness_rotational`, `damping_rotational`: (3,) [N m/rad], [N m s/rad].
    """

    name: str
    kind: JointKind
    body1: str
    body2: str
    pos: np.ndarray
    axis: np.ndarray
    axis_x: np.ndarray
    stiffness_linear: np.ndarray
    damping_linear: np.ndarray
    stiffness_rotational: np.ndarray
    damping_rotational: np.ndarray


@dataclasses.dataclass
class ConstraintDescription:
    """DISTANCE keeps |point1 - point2|; `axis1`, `axis2` belong to the other two kinds (world at t = 0)."""

    name: str
    kind: ConstraintKind
    body1: str
    body2: str
    point1: np.ndarray
    point2: np.ndarray
    axis1: np.ndarray | None
    axis2: np.ndarray | None


@dataclasses.dataclass
class TsdaDescription:
    """A translational spring-damper between `point1` and `point2` (world at t = 0).

    With length L, rate v = dL/dt and deformation d = L - free_length, the force (positive pushes apart) is
    preload - stiffness d - damping v D(v) - spring_curve(d) - damping_curve(v) - map(d, v) + stops(L), where
    D(v) = 1/(1 + degressivity_expansion v) for v >= 0 and 1/(1 - degressivity_compression v) otherwise.
    `map_force` is (velocities, deformations).
    """

    name: str
    body1: str
    body2: str
    point1: np.ndarray
    point2: np.ndarray
    free_length: float
    preload: float
    stiffness: float
    damping: float
    degressivity_compression: float
    degressivity_expansion: float
    spring_curve: np.ndarray | None
    damping_curve: np.ndarray | None
    map_deformation: np.ndarray | None
    map_velocity: np.ndarray | None
    map_force: np.ndarray | None
    minimum_length: float | None
    maximum_length: float | None


@dataclasses.dataclass
class RsdaDescription:
    """A rotational spring-damper about `axis` (world at t = 0, fixed in body1).

    The angle is that of body2 relative to body1, zero at t = 0; the torque on body2 along the axis is
    preload - stiffness (angle - free_angle) - damping rate - spring_curve(angle - free_angle) - damping_curve(rate).
    """

    name: str
    body1: str
    body2: str
    pos: np.ndarray
    axis: np.ndarray
    free_angle: float
    preload: float
    stiffness: float
    damping: float
    spring_curve: np.ndarray | None
    damping_curve: np.ndarray | None


@dataclasses.dataclass
class LoadDescription:
    """An external force or torque on one body.

    `local_load`: the vector turns with the body (reference axes), otherwise world axes. `local_point`: the point
    of a force is given in the reference frame and moves with the body, otherwise it is fixed in space.
    `modulation` scales the load. With `input`, the load vector is an external value of that name instead
    (zero when none is given).
    """

    name: str
    kind: LoadKind
    body: str
    load: np.ndarray
    local_load: bool
    point: np.ndarray
    local_point: bool
    modulation: FunctionDescription | None
    input: str | None


@dataclasses.dataclass
class MotorDescription:
    """A motor between two bodies at `pos` along or about `axis` (world at t = 0).

    It prescribes the motion of **body1 relative to body2**, or the force or torque on body1 along +axis.
    """

    name: str
    kind: MotorKind
    body1: str
    body2: str
    pos: np.ndarray
    axis: np.ndarray
    actuation: Actuation
    guide: Guide
    function: FunctionDescription


@dataclasses.dataclass
class SimulationDescription:
    """What the file says about the run; `None` where it says nothing. `notes` lists what was mapped to what."""

    t1: float | None = None
    dt: float | None = None
    save_dt: float | None = None
    notes: tuple[str, ...] = ()
