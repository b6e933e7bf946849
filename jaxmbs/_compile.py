"""From a description to arrays: the only place that stacks elements."""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import DTypeLike

from jaxmbs import _description_checks as checks
from jaxmbs._bodies import Bodies
from jaxmbs._description import (
    Actuation,
    ConstraintKind,
    FunctionDescription,
    FunctionKind,
    JointKind,
    ModelDescription,
    ModelError,
)
from jaxmbs._functions import Functions
from jaxmbs._math.table import pad_tables
from jaxmbs._model import Model, make_model
from jaxmbs.constraints import (
    AbstractConstraint,
    Distance,
    FrameJoint,
    Motor,
    RevoluteSpherical,
    RevoluteTranslational,
    UniversalJoint,
)
from jaxmbs.constraints.frame_joint import DRIVEN_ROW, GUIDE_ROWS, JOINT_ROWS
from jaxmbs.forces import AbstractForce, BodyLoad, Bushing, MotorForce, Rsda, Tsda


def compile_model(description: ModelDescription, *, dtype: DTypeLike | None = None) -> Model:
    """Compile a description.

    **Arguments:**

    - description: the mechanism.
    - dtype: of all arrays; `None` takes JAX's default float (float32 unless 64-bit mode is on).
    """
    return _Compiler(description, dtype).model()


class _Compiler:
    def __init__(self, description: ModelDescription, dtype: DTypeLike | None) -> None:
        self.description = description
        self.dtype = jnp.asarray(0.0).dtype if dtype is None else jnp.dtype(dtype)
        if jnp.zeros((), self.dtype).dtype != self.dtype:
            raise ValueError("float64 needs JAX's 64-bit mode: jax.config.update('jax_enable_x64', True) first")
        self.body_index = {body.name: i for i, body in enumerate(description.bodies)}
        self.functions: list[FunctionDescription] = []

    def array(self, values: Any, shape: tuple[int, ...] | None = None) -> Array:
        array = np.asarray(values, dtype=np.float64)
        return jnp.asarray(array if shape is None else array.reshape(shape), self.dtype)

    def vectors(self, items: Sequence[Any], name: str) -> Array:
        return self.array([getattr(item, name) for item in items], (len(items), -1))

    def numbers(self, items: Sequence[Any], name: str) -> Array:
        return self.array([getattr(item, name) for item in items], (len(items),))

    def pair(self, items: Sequence[Any]) -> dict[str, Any]:
        """The static fields that every element stack has."""
        return {
            "names": tuple(item.name for item in items),
            "body1": tuple(self.body_index[item.body1] for item in items),
            "body2": tuple(self.body_index[item.body2] for item in items),
        }

    def function(self, function: FunctionDescription) -> int:
        self.functions.append(function)
        return len(self.functions) - 1

    def model(self) -> Model:
        if not self.description.bodies:
            raise ModelError("a model needs at least one body")
        constraints = [build() for build in (self._joints, self._universals, *self._other_constraints())]
        forces = [build() for build in (self._tsdas, self._rsdas, self._bushings, self._motor_forces, self._loads)]
        return make_model(
            gravity=self.array(checks.vector(self.description.gravity, 3, "gravity")),
            bodies=self._bodies(),
            functions=self._functions(),
            constraints=tuple(stack for stack in constraints if stack is not None),
            forces=tuple(stack for stack in forces if stack is not None),
            name=self.description.name,
            not_simulated=tuple(self.description.names_not_simulated().items()),
        )

    def _bodies(self) -> Bodies:
        bodies = self.description.bodies
        order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        return Bodies(
            mass=self.numbers(bodies, "mass"),
            inertia=self.array([[body.inertia[entry] for entry in order] for body in bodies], (len(bodies), 6)),
            com_pos=self.vectors(bodies, "com_pos"),
            com_quat=self.array([checks.unit_quat(body.com_quat, f"body {body.name!r}: com_quat") for body in bodies]),
            pos=self.vectors(bodies, "pos"),
            quat=self.array([checks.unit_quat(body.quat, f"body {body.name!r}: quat") for body in bodies]),
            vel=self.vectors(bodies, "vel"),
            omega=self.vectors(bodies, "omega"),
            names=tuple(body.name for body in bodies),
            fixed=tuple(body.fixed for body in bodies),
        )

    def _joints(self) -> AbstractConstraint | None:
        joints = [joint for joint in self.description.joints if joint.kind is not JointKind.UNIVERSAL]
        motors = self.description.motors
        items = [*joints, *motors]
        if not items:
            return None
        locked, drives = [JOINT_ROWS[joint.kind] for joint in joints], []
        for motor in motors:
            rows = list(GUIDE_ROWS[motor.kind, motor.guide])
            if motor.actuation is not Actuation.FORCE:
                rows[DRIVEN_ROW[motor.kind]] = True
            locked.append(tuple(rows))  # pyright: ignore[reportArgumentType]
            drives.append(Motor(motor.name, motor.kind, motor.actuation, self.function(motor.function)))
        fields = self.pair(items)
        fields["names"] = (*(joint.name for joint in joints), *self._motor_labels())
        return FrameJoint(
            pos=self.vectors(items, "pos"),
            axis=self.vectors(items, "axis"),
            locked=tuple(locked),
            motors=(*(None for _ in joints), *drives),
            **fields,
        )

    def _motor_labels(self) -> list[str]:
        """Names of motors among the joints: a motor may share its name with a joint, results tell them apart."""
        joints = {joint.name for joint in self.description.joints}
        plain = {motor.name for motor in self.description.motors} - joints
        taken, labels = joints | plain, []
        for motor in self.description.motors:
            label = motor.name
            if label in joints:
                while label in taken:
                    label = f"motor:{label}"
                taken.add(label)
            labels.append(label)
        return labels

    def _universals(self) -> AbstractConstraint | None:
        joints = [joint for joint in self.description.joints if joint.kind is JointKind.UNIVERSAL]
        if not joints:
            return None
        return UniversalJoint(
            pos=self.vectors(joints, "pos"),
            axis1=self.vectors(joints, "axis"),
            axis2=self.vectors(joints, "axis2"),
            **self.pair(joints),
        )

    def _other_constraints(self) -> list[Callable[[], AbstractConstraint | None]]:
        types = {
            ConstraintKind.DISTANCE: (Distance, ("point1", "point2")),
            ConstraintKind.REVOLUTE_SPHERICAL: (RevoluteSpherical, ("point1", "point2", "axis1")),
            ConstraintKind.REVOLUTE_TRANSLATIONAL: (RevoluteTranslational, ("point1", "point2", "axis1", "axis2")),
        }

        def builder(kind: ConstraintKind) -> Callable[[], AbstractConstraint | None]:
            def build() -> AbstractConstraint | None:
                items = [item for item in self.description.constraints if item.kind is kind]
                cls, fields = types[kind]
                return cls(*(self.vectors(items, f) for f in fields), **self.pair(items)) if items else None

            return build

        return [builder(kind) for kind in types]

    def _curves(self, items: Sequence[Any], name: str) -> Array:
        return self.array(pad_tables([getattr(item, name) for item in items]))

    def _tsdas(self) -> AbstractForce | None:
        items = self.description.tsdas
        if not items:
            return None
        deformation, velocity, force = _pad_maps(items)
        numbers = (
            "free_length",
            "preload",
            "stiffness",
            "damping",
            "degressivity_compression",
            "degressivity_expansion",
        )
        lowest = [-np.inf if item.minimum_length is None else item.minimum_length for item in items]
        highest = [np.inf if item.maximum_length is None else item.maximum_length for item in items]
        return Tsda(
            point1=self.vectors(items, "point1"),
            point2=self.vectors(items, "point2"),
            **{name: self.numbers(items, name) for name in numbers},
            spring_curve=self._curves(items, "spring_curve"),
            damping_curve=self._curves(items, "damping_curve"),
            map_deformation=self.array(deformation),
            map_velocity=self.array(velocity),
            map_force=self.array(force),
            minimum_length=self.array(lowest),
            maximum_length=self.array(highest),
            has_curves=any(item.spring_curve is not None or item.damping_curve is not None for item in items),
            has_map=any(item.map_force is not None for item in items),
            has_stops=bool(np.any(np.isfinite(lowest)) or np.any(np.isfinite(highest))),
            **self.pair(items),
        )

    def _rsdas(self) -> AbstractForce | None:
        items = self.description.rsdas
        if not items:
            return None
        return Rsda(
            pos=self.vectors(items, "pos"),
            axis=self.vectors(items, "axis"),
            **{name: self.numbers(items, name) for name in ("free_angle", "preload", "stiffness", "damping")},
            spring_curve=self._curves(items, "spring_curve"),
            damping_curve=self._curves(items, "damping_curve"),
            has_curves=any(item.spring_curve is not None or item.damping_curve is not None for item in items),
            **self.pair(items),
        )

    def _bushings(self) -> AbstractForce | None:
        items = self.description.bushings
        if not items:
            return None
        fields = (
            "pos",
            "axis",
            "axis_x",
            "stiffness_linear",
            "damping_linear",
            "stiffness_rotational",
            "damping_rotational",
        )
        return Bushing(**{name: self.vectors(items, name) for name in fields}, **self.pair(items))

    def _motor_forces(self) -> AbstractForce | None:
        items = [motor for motor in self.description.motors if motor.actuation is Actuation.FORCE]
        if not items:
            return None
        return MotorForce(
            pos=self.vectors(items, "pos"),
            axis=self.vectors(items, "axis"),
            kinds=tuple(item.kind for item in items),
            function=tuple(self.function(item.function) for item in items),
            **self.pair(items),
        )

    def _loads(self) -> AbstractForce | None:
        items = self.description.loads
        if not items:
            return None
        return BodyLoad(
            load=self.vectors(items, "load"),
            point=self.vectors(items, "point"),
            names=tuple(item.name for item in items),
            body1=(-1,) * len(items),
            body2=tuple(self.body_index[item.body] for item in items),
            kinds=tuple(item.kind for item in items),
            local_load=tuple(item.local_load for item in items),
            local_point=tuple(item.local_point for item in items),
            modulation=tuple(-1 if item.modulation is None else self.function(item.modulation) for item in items),
            inputs=tuple(item.input for item in items),
        )

    def _functions(self) -> Functions:
        polynomials: list[tuple[float, ...]] = []
        sines: list[tuple[float, ...]] = []
        tables: list[np.ndarray | None] = []
        inputs: list[str] = []
        places: list[tuple[str, int]] = []
        for item in self.functions:
            match item.kind:
                case FunctionKind.SINE:
                    places.append(("sine", len(sines)))
                    sines.append(item.coefficients)
                case FunctionKind.DATA:
                    places.append(("table", len(tables)))
                    tables.append(item.table)
                case FunctionKind.CONTROLLER:
                    if item.input is None:
                        raise ValueError("a CONTROLLER function needs the name of its input")
                    if item.input not in inputs:
                        inputs.append(item.input)
                    places.append(("input", inputs.index(item.input)))
                case FunctionKind.RAMP:
                    places.append(("polynomial", len(polynomials)))
                    polynomials.append(item.coefficients[::-1])
                case FunctionKind.CONSTANT | FunctionKind.POLYNOMIAL:
                    places.append(("polynomial", len(polynomials)))
                    polynomials.append(item.coefficients)
        terms = max([len(row) for row in polynomials], default=1)
        repeats = [item.repeat for item in self.functions]
        stacked = pad_tables(tables)
        return Functions(
            coefficients=self.array([[*row, *[0.0] * (terms - len(row))] for row in polynomials], (-1, terms)),
            sine=self.array(sines, (-1, 4)),
            abscissae=self.array(stacked[:, :, 0]),
            ordinates=self.array(stacked[:, :, 1]),
            repeat=self.array(
                [(0.0, 1.0, 0.0) if r is None else (r.start, r.width, r.shift) for r in repeats], (-1, 3)
            ),
            repeated=tuple(r is not None for r in repeats),
            truncated=tuple(r is not None and r.truncated for r in repeats),
            places=tuple(places),
            inputs=tuple(inputs),
            corners=tuple(
                (() if item.table is None else tuple(map(float, item.table[:, 0])),) for item in self.functions
            ),
            periods=tuple(((None if r is None else (r.start, r.width, r.shift)),) for r in repeats),
        )


def _pad_maps(items: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Maps of all elements in one shape; an element without one gets the zero map."""
    flat = np.array([0.0, 1.0])
    maps = [
        (flat, flat, np.zeros((2, 2)))
        if item.map_force is None
        else (item.map_deformation, item.map_velocity, item.map_force)
        for item in items
    ]
    columns, rows = max(d.size for d, _, _ in maps), max(v.size for _, v, _ in maps)

    def pad(array: np.ndarray, *sizes: int) -> np.ndarray:
        widths = [(0, size - own) for size, own in zip(sizes, array.shape, strict=True)]
        return np.pad(array, widths, mode="edge")

    return (
        np.stack([pad(d, columns) for d, _, _ in maps]),
        np.stack([pad(v, rows) for _, v, _ in maps]),
        np.stack([pad(f, rows, columns) for _, _, f in maps]),
    )
