"""The neutral description of a mechanism that every loader produces.

A `ModelDescription` holds plain NumPy numbers in one convention: SI units, radians, quaternions `wxyz`
(frame to parent), products of inertia as entries of the inertia tensor. A loader settles every convention of
its file format before it fills one in; `jaxmbs.compile_model` turns it into arrays. It is also what a user
builds by hand, through `add_body`, `add_joint` and the other `add_*` methods.
"""

import dataclasses
import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmbs import _description_checks as checks
from jaxmbs._description_checks import (
    ModelError as ModelError,
    Vector as Vector,
    axis_frame as axis_frame,
    check_inertia as check_inertia,
    sorted_table as sorted_table,
)
from jaxmbs._description_parts import (
    Actuation as Actuation,
    BodyDescription as BodyDescription,
    BushingDescription as BushingDescription,
    ConstraintDescription as ConstraintDescription,
    ConstraintKind as ConstraintKind,
    FunctionDescription as FunctionDescription,
    FunctionKind as FunctionKind,
    Guide as Guide,
    JointDescription as JointDescription,
    JointKind as JointKind,
    LoadDescription as LoadDescription,
    LoadKind as LoadKind,
    MotorDescription as MotorDescription,
    MotorKind as MotorKind,
    Repeat as Repeat,
    RsdaDescription as RsdaDescription,
    SimulationDescription as SimulationDescription,
    TsdaDescription as TsdaDescription,
)


IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclasses.dataclass
class ModelDescription:
    """Bodies and everything that acts between them; gravity in world axes [m/s2]."""

    name: str = "model"
    gravity: np.ndarray = dataclasses.field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    bodies: list[BodyDescription] = dataclasses.field(default_factory=list)
    joints: list[JointDescription] = dataclasses.field(default_factory=list)
    bushings: list[BushingDescription] = dataclasses.field(default_factory=list)
    constraints: list[ConstraintDescription] = dataclasses.field(default_factory=list)
    tsdas: list[TsdaDescription] = dataclasses.field(default_factory=list)
    rsdas: list[RsdaDescription] = dataclasses.field(default_factory=list)
    loads: list[LoadDescription] = dataclasses.field(default_factory=list)
    motors: list[MotorDescription] = dataclasses.field(default_factory=list)
    simulation: SimulationDescription = dataclasses.field(default_factory=SimulationDescription)
    #: Parsed parts that are kept but not simulated yet: `contact`, `visualization` (by body or element), `fea`.
    not_simulated: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: Defaults that the loader applied, one line each, and its warnings.
    defaults: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)

    def names_not_simulated(self) -> dict[str, tuple[str, ...]]:
        """Names of the elements whose `contact`, `visualization` or `fea` parts are kept but not simulated."""
        found = {}
        for part, content in self.not_simulated.items():
            names: list[str] = []
            for section, items in content.items():
                if part == "contact":
                    names.append(section)
                elif isinstance(items, dict):
                    names.extend(items)
                elif isinstance(items, list):
                    names.extend(item["name"] for item in items if isinstance(item, dict) and "name" in item)
            found[part] = tuple(names)
        return found

    def body(self, name: str) -> BodyDescription:
        """The body of that name. **Raises** `ModelError` with a suggestion when there is none."""
        checks.text(name, "the name of a body")
        for body in self.bodies:
            if body.name == name:
                return body
        names = [body.name for body in self.bodies]
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; bodies are {', '.join(map(repr, names))}"
        raise ModelError(f"there is no body {name!r}{hint}")

    def _check_pair(self, what: str, body1: str, body2: str) -> None:
        for body in (body1, body2):
            try:
                self.body(body)
            except ModelError as error:
                raise ModelError(f"{what}: {error}") from None
        if body1 == body2:
            raise ModelError(f"{what} connects body {body1!r} with itself")

    @staticmethod
    def _check_name(name: str, existing: Sequence[Any], what: str) -> None:
        checks.text(name, f"the name of one of the {what}")
        if any(item.name == name for item in existing):
            raise ModelError(f"there are two {what} of the name {name!r}")

    @staticmethod
    def _check_function(function: Any, what: str) -> None:
        if not isinstance(function, FunctionDescription):
            raise ModelError(
                f"{what} needs a FunctionDescription, as FunctionDescription.constant(1.0); got {function!r}"
            )

    def add_body(
        self,
        name: str,
        *,
        mass: float | None = None,
        inertia: Any = None,
        pos: Vector = (0.0, 0.0, 0.0),
        quat: Vector = IDENTITY,
        com_pos: Vector = (0.0, 0.0, 0.0),
        com_quat: Vector = IDENTITY,
        vel: Vector = (0.0, 0.0, 0.0),
        omega: Vector = (0.0, 0.0, 0.0),
        fixed: bool = False,
    ) -> BodyDescription:
        """Add a body. See `BodyDescription`; `inertia` is three principal moments or a (3, 3) tensor.

        **Raises** `ModelError` when the mass or the inertia is impossible or the name is taken.
        """
        what = f"body {name!r}"
        self._check_name(name, self.bodies, "bodies")
        tensor = np.eye(3)
        if not fixed:
            if mass is None or not checks.number(mass, f"{what}: mass") > 0:
                raise ModelError(f"{what}: a moving body needs a positive mass, got {mass}")
            if inertia is None:
                raise ModelError(f"{what}: a moving body needs its inertia")
            tensor = checks.numbers(inertia, f"{what}: inertia")
            tensor = np.diag(tensor) if tensor.shape == (3,) else tensor
            problem = check_inertia(tensor)
            if problem is not None:
                raise ModelError(f"{what}: {problem}")
        body = BodyDescription(
            name=name,
            pos=checks.vector(pos, 3, f"{what}: pos"),
            quat=checks.unit_quat(quat, f"{what}: quat"),
            fixed=fixed,
            mass=1.0 if fixed or mass is None else float(mass),
            inertia=tensor,
            com_pos=checks.vector(com_pos, 3, f"{what}: com_pos"),
            com_quat=checks.unit_quat(com_quat, f"{what}: com_quat"),
            vel=checks.vector(vel, 3, f"{what}: vel"),
            omega=checks.vector(omega, 3, f"{what}: omega"),
        )
        self.bodies.append(body)
        return body

    def add_joint(
        self,
        name: str,
        kind: JointKind,
        body1: str,
        body2: str,
        *,
        pos: Vector,
        axis: Vector | None = None,
        axis2: Vector | None = None,
    ) -> JointDescription:
        """Add a kinematic joint. See `JointDescription`.

        `axis` is needed by every kind but LOCK and SPHERICAL.

        **Raises** `ModelError` for a missing, zero or parallel axis, an unknown body or a name that is taken.
        """
        what = f"joint {name!r}"
        self._check_name(name, self.joints, "joints")
        kind = checks.member(kind, JointKind, f"{what}: kind")
        self._check_pair(what, body1, body2)
        if axis is None:
            if kind not in (JointKind.LOCK, JointKind.SPHERICAL):
                raise ModelError(f"{what}: a {kind.name} joint needs an axis")
            axis = (0.0, 0.0, 1.0)
        second = None
        if kind is JointKind.UNIVERSAL:
            if axis2 is None:
                raise ModelError(f"{what}: a UNIVERSAL joint needs axis2")
            second = checks.direction(axis2, f"{what}: axis2")
            checks.check_not_parallel(checks.direction(axis, f"{what}: axis"), second, what)
        joint = JointDescription(
            name=name,
            kind=kind,
            body1=body1,
            body2=body2,
            pos=checks.vector(pos, 3, f"{what}: pos"),
            axis=checks.direction(axis, f"{what}: axis"),
            axis2=second,
        )
        self.joints.append(joint)
        return joint

    def add_bushing(
        self,
        name: str,
        body1: str,
        body2: str,
        *,
        pos: Vector,
        stiffness_linear: Vector | float,
        damping_linear: Vector | float,
        stiffness_rotational: Vector | float,
        damping_rotational: Vector | float,
        axis: Vector = (0.0, 0.0, 1.0),
        axis_x: Vector | None = None,
        kind: JointKind = JointKind.LOCK,
    ) -> BushingDescription:
        """Add a compliant joint. See `BushingDescription`; a single number stands for three equal ones.

        **Raises** `ModelError` for an unknown body, a zero or parallel axis, a negative coefficient or a name
        that is taken.
        """
        what = f"bushing {name!r}"
        self._check_name(name, self.bushings, "bushings")
        kind = checks.member(kind, JointKind, f"{what}: kind")
        self._check_pair(what, body1, body2)
        direction = checks.direction(axis, f"{what}: axis")
        x = axis_frame(direction)[:, 0] if axis_x is None else checks.direction(axis_x, f"{what}: axis_x")
        checks.check_not_parallel(direction, x, what)

        def coefficients(value: Any, label: str) -> np.ndarray:
            found = checks.numbers(value, f"{what}: {label}")
            array = checks.vector(np.full(3, found) if found.shape == () else found, 3, f"{what}: {label}")
            if np.any(array < 0):
                raise ModelError(f"{what}: {label} is negative")
            return array

        bushing = BushingDescription(
            name=name,
            kind=kind,
            body1=body1,
            body2=body2,
            pos=checks.vector(pos, 3, f"{what}: pos"),
            axis=direction,
            axis_x=x,
            stiffness_linear=coefficients(stiffness_linear, "stiffness_linear"),
            damping_linear=coefficients(damping_linear, "damping_linear"),
            stiffness_rotational=coefficients(stiffness_rotational, "stiffness_rotational"),
            damping_rotational=coefficients(damping_rotational, "damping_rotational"),
        )
        self.bushings.append(bushing)
        return bushing

    def add_constraint(
        self,
        name: str,
        kind: ConstraintKind,
        body1: str,
        body2: str,
        *,
        point1: Vector,
        point2: Vector,
        axis1: Vector | None = None,
        axis2: Vector | None = None,
    ) -> ConstraintDescription:
        """Add a constraint. See `ConstraintDescription`.

        **Raises** `ModelError` for coincident points, axes that are missing, zero or not perpendicular where they
        must be (REVOLUTE_SPHERICAL: axis1 and point2 - point1; REVOLUTE_TRANSLATIONAL: axis1 and axis2), an
        unknown body or a name that is taken.
        """
        what = f"constraint {name!r}"
        self._check_name(name, self.constraints, "constraints")
        kind = checks.member(kind, ConstraintKind, f"{what}: kind")
        self._check_pair(what, body1, body2)
        p1, p2 = checks.vector(point1, 3, f"{what}: point1"), checks.vector(point2, 3, f"{what}: point2")
        first = second = None
        if kind is not ConstraintKind.REVOLUTE_TRANSLATIONAL and np.linalg.norm(p2 - p1) == 0:
            raise ModelError(f"{what}: point1 and point2 coincide; a distance of zero is a SPHERICAL joint")
        if kind is not ConstraintKind.DISTANCE:
            if axis1 is None:
                raise ModelError(f"{what}: {kind.name} needs axis1")
            first = checks.direction(axis1, f"{what}: axis1")
        if kind is ConstraintKind.REVOLUTE_SPHERICAL and first is not None:
            checks.check_perpendicular(first, p2 - p1, f"{what}: axis1 and point2 - point1")
        if kind is ConstraintKind.REVOLUTE_TRANSLATIONAL and first is not None:
            if axis2 is None:
                raise ModelError(f"{what}: {kind.name} needs axis2")
            second = checks.direction(axis2, f"{what}: axis2")
            checks.check_perpendicular(first, second, f"{what}: axis1 and axis2")
        constraint = ConstraintDescription(name, kind, body1, body2, p1, p2, first, second)
        self.constraints.append(constraint)
        return constraint

    def add_tsda(
        self,
        name: str,
        body1: str,
        body2: str,
        *,
        point1: Vector,
        point2: Vector,
        free_length: float = 0.0,
        preload: float = 0.0,
        stiffness: float = 0.0,
        damping: float = 0.0,
        degressivity_compression: float = 0.0,
        degressivity_expansion: float = 0.0,
        spring_curve: Any = None,
        damping_curve: Any = None,
        map_deformation: Any = None,
        map_data: Any = None,
        minimum_length: float | None = None,
        maximum_length: float | None = None,
    ) -> TsdaDescription:
        """Add a translational spring-damper. See `TsdaDescription`.

        `map_data` has rows (velocity, force at each of `map_deformation`).

        **Raises** `ModelError` for an unknown body, a bad table or a name that is taken.
        """
        what = f"tsda {name!r}"
        self._check_name(name, self.tsdas, "tsdas")
        self._check_pair(what, body1, body2)
        deformation = velocity = force = None
        if map_data is not None:
            deformation = checks.numbers(map_deformation, f"{what}: map_deformation")
            if deformation.ndim != 1 or deformation.size < 2 or np.any(np.diff(deformation) <= 0):
                raise ModelError(f"{what}: the map needs at least two increasing deformations")
            try:
                rows = sorted_table(map_data, deformation.size + 1)
            except ModelError as error:
                raise ModelError(f"{what}: map_data: {error}") from None
            if rows.shape[0] < 2:
                raise ModelError(f"{what}: the map needs at least two velocities")
            velocity, force = rows[:, 0], rows[:, 1:]
        minimum_length = checks.optional_number(minimum_length, f"{what}: minimum_length")
        maximum_length = checks.optional_number(maximum_length, f"{what}: maximum_length")
        if minimum_length is not None and maximum_length is not None and minimum_length > maximum_length:
            raise ModelError(f"{what}: minimum_length exceeds maximum_length")
        tsda = TsdaDescription(
            name=name,
            body1=body1,
            body2=body2,
            point1=checks.vector(point1, 3, f"{what}: point1"),
            point2=checks.vector(point2, 3, f"{what}: point2"),
            free_length=checks.number(free_length, f"{what}: free_length"),
            preload=checks.number(preload, f"{what}: preload"),
            stiffness=checks.number(stiffness, f"{what}: stiffness"),
            damping=checks.number(damping, f"{what}: damping"),
            degressivity_compression=checks.number(degressivity_compression, f"{what}: degressivity_compression"),
            degressivity_expansion=checks.number(degressivity_expansion, f"{what}: degressivity_expansion"),
            spring_curve=checks.table(spring_curve, f"{what}: spring_curve"),
            damping_curve=checks.table(damping_curve, f"{what}: damping_curve"),
            map_deformation=deformation,
            map_velocity=velocity,
            map_force=force,
            minimum_length=minimum_length,
            maximum_length=maximum_length,
        )
        self.tsdas.append(tsda)
        return tsda

    def add_rsda(
        self,
        name: str,
        body1: str,
        body2: str,
        *,
        axis: Vector,
        pos: Vector = (0.0, 0.0, 0.0),
        free_angle: float = 0.0,
        preload: float = 0.0,
        stiffness: float = 0.0,
        damping: float = 0.0,
        spring_curve: Any = None,
        damping_curve: Any = None,
    ) -> RsdaDescription:
        """Add a rotational spring-damper. See `RsdaDescription`.

        **Raises** `ModelError` for an unknown body, a zero axis, a bad table or a name that is taken.
        """
        what = f"rsda {name!r}"
        self._check_name(name, self.rsdas, "rsdas")
        self._check_pair(what, body1, body2)
        rsda = RsdaDescription(
            name=name,
            body1=body1,
            body2=body2,
            pos=checks.vector(pos, 3, f"{what}: pos"),
            axis=checks.direction(axis, f"{what}: axis"),
            free_angle=checks.number(free_angle, f"{what}: free_angle"),
            preload=checks.number(preload, f"{what}: preload"),
            stiffness=checks.number(stiffness, f"{what}: stiffness"),
            damping=checks.number(damping, f"{what}: damping"),
            spring_curve=checks.table(spring_curve, f"{what}: spring_curve"),
            damping_curve=checks.table(damping_curve, f"{what}: damping_curve"),
        )
        self.rsdas.append(rsda)
        return rsda

    def add_load(
        self,
        name: str,
        kind: LoadKind,
        body: str,
        *,
        load: Vector = (0.0, 0.0, 0.0),
        local_load: bool = True,
        point: Vector = (0.0, 0.0, 0.0),
        local_point: bool = True,
        modulation: FunctionDescription | None = None,
        input: str | None = None,
    ) -> LoadDescription:
        """Add an external load. See `LoadDescription`.

        **Raises** `ModelError` for an unknown body or a name that is taken.
        """
        what = f"load {name!r}"
        self._check_name(name, self.loads, "loads")
        kind = checks.member(kind, LoadKind, f"{what}: kind")
        if modulation is not None:
            self._check_function(modulation, f"{what}: modulation")
        if input is not None:
            checks.text(input, f"{what}: input")
        try:
            self.body(body)
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None
        description = LoadDescription(
            name=name,
            kind=kind,
            body=body,
            load=checks.vector(load, 3, f"{what}: load"),
            local_load=local_load,
            point=checks.vector(point, 3, f"{what}: point"),
            local_point=local_point,
            modulation=modulation,
            input=input,
        )
        self.loads.append(description)
        return description

    def add_motor(
        self,
        name: str,
        kind: MotorKind,
        body1: str,
        body2: str,
        *,
        pos: Vector,
        axis: Vector,
        actuation: Actuation,
        function: FunctionDescription,
        guide: Guide | None = None,
    ) -> MotorDescription:
        """Add a motor. See `MotorDescription`; the default guide is PRISMATIC, the default spindle REVOLUTE.

        **Raises** `ModelError` for an unknown body, a zero axis, a guide of the other kind of motor, or a name
        that is taken.
        """
        what = f"motor {name!r}"
        self._check_name(name, self.motors, "motors")
        kind = checks.member(kind, MotorKind, f"{what}: kind")
        actuation = checks.member(actuation, Actuation, f"{what}: actuation")
        if guide is not None:
            guide = checks.member(guide, Guide, f"{what}: guide")
        self._check_function(function, f"{what}: function")
        self._check_pair(what, body1, body2)
        linear = kind is MotorKind.LINEAR
        allowed = (
            (Guide.PRISMATIC, Guide.SPHERICAL, Guide.FREE)
            if linear
            else (Guide.REVOLUTE, Guide.CYLINDRICAL, Guide.FREE)
        )
        guide = allowed[0] if guide is None else guide
        if guide not in allowed:
            names = ", ".join(item.name for item in allowed)
            raise ModelError(f"{what}: a {kind.name} motor cannot have the guide {guide.name}; it can have {names}")
        motor = MotorDescription(
            name=name,
            kind=kind,
            body1=body1,
            body2=body2,
            pos=checks.vector(pos, 3, f"{what}: pos"),
            axis=checks.direction(axis, f"{what}: axis"),
            actuation=actuation,
            guide=guide,
            function=function,
        )
        self.motors.append(motor)
        return motor
