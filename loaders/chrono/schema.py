"""Schema of a Chrono YAML model file: its names, units and defaults, one to one."""

from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, WithJsonSchema

from jaxmbs.loaders._fields import AnyCaseEnum, Boolean, Name, NonNegative, Section, Vector3
from jaxmbs.loaders.chrono.schema_fea import Fea
from jaxmbs.loaders.chrono.schema_forces import BodyLoad, LoadController, Motor, Rsda, Tsda
from jaxmbs.loaders.chrono.schema_shapes import Contact, Orientation, Visualization


#: The version is compared by its text, but an editor sees `10.0` as a number.
ChronoVersion = Annotated[
    Name,
    WithJsonSchema({"anyOf": [{"const": 10.0}, {"type": "string", "pattern": r"^10\.0(\..*)?$"}]}),
]


class DataPathType(AnyCaseEnum):
    """Where data files are looked for."""

    ABSOLUTE = "ABSOLUTE"
    RELATIVE = "RELATIVE"


class JointType(AnyCaseEnum):
    """Joint."""

    LOCK = "LOCK"
    REVOLUTE = "REVOLUTE"
    SPHERICAL = "SPHERICAL"
    PRISMATIC = "PRISMATIC"
    CYLINDRICAL = "CYLINDRICAL"
    UNIVERSAL = "UNIVERSAL"
    POINT_LINE = "POINT_LINE"
    POINT_PLANE = "POINT_PLANE"


class ConstraintType(AnyCaseEnum):
    """Constraint."""

    DISTANCE = "DISTANCE"
    REVOLUTE_SPHERICAL = "REVOLUTE-SPHERICAL"
    REVOLUTE_TRANSLATIONAL = "REVOLUTE-TRANSLATIONAL"


class DataPath(Section):
    """Where data files are looked for."""

    used_by: ClassVar = {"root": ("RELATIVE",)}

    type: DataPathType = Field(description="ABSOLUTE or RELATIVE")
    root: Name = Field(".", description="folder from which RELATIVE file names start")


class Com(Section):
    """The centre-of-mass frame in the reference frame."""

    location: Vector3 = Field([0.0, 0.0, 0.0], description="centre of mass [m]")
    orientation: Orientation = Field([1.0, 0.0, 0.0, 0.0], description="[yaw, pitch, roll] or quaternion wxyz")


class Inertia(Section):
    """Inertia about the centre of mass, in axes of the centre-of-mass frame."""

    moments: Annotated[list[NonNegative], Field(min_length=3, max_length=3)] = Field(
        description="[Ixx, Iyy, Izz] [kg m2]"
    )
    products: Vector3 = Field([0.0, 0.0, 0.0], description="tensor entries [Ixy, Ixz, Iyz] [kg m2]")


class Body(Section):
    """A rigid body."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"fixed": {"const": True}}, "required": ["fixed"]},
            "else": {"required": ["mass", "inertia"]},
        }
    )
    selector: ClassVar[str] = "fixed"
    need_reason: ClassVar[str] = "a body that is not fixed needs it"
    needed_by: ClassVar = {"": ("mass", "inertia")} | {
        word: ("mass", "inertia") for word in ("FALSE", "NO", "OFF", "N")
    }
    hints: ClassVar = {"lin_vel": "initial_linear_velocity", "ang_vel": "initial_angular_velocity"}

    name: Name = Field(description="name of the body")
    fixed: Boolean = Field(False, description="whether the body is fixed to the world")
    location: Vector3 = Field(description="origin of the reference frame, world axes [m]")
    orientation: Orientation = Field([1.0, 0.0, 0.0, 0.0], description="[yaw, pitch, roll] or quaternion wxyz")
    initial_linear_velocity: Vector3 = Field([0.0, 0.0, 0.0], description="velocity at t = 0, world axes [m/s]")
    initial_angular_velocity: Vector3 = Field(
        [0.0, 0.0, 0.0], description="angular velocity at t = 0, body axes [rad/s]"
    )
    mass: NonNegative | None = Field(None, description="mass [kg]")
    com: Com | None = Field(None, description="centre-of-mass frame")
    inertia: Inertia | None = Field(None, description="moments and products of inertia")
    contact: Contact | None = Field(None, description="materials and shapes for contact")
    visualization: Visualization | None = Field(None, description="what is drawn")


class BushingDof(Section):
    """Compliance along the free directions of a bushing."""

    stiffness_linear: NonNegative = Field(0.0, description="stiffness of free translations [N/m]")
    damping_linear: NonNegative = Field(0.0, description="damping of free translations [N s/m]")
    stiffness_rotational: NonNegative = Field(0.0, description="stiffness of free rotations [N m/rad]")
    damping_rotational: NonNegative = Field(0.0, description="damping of free rotations [N m s/rad]")


class BushingData(Section):
    """Compliance along the constrained directions of a joint."""

    stiffness_linear: NonNegative = Field(description="stiffness of constrained translations [N/m]")
    damping_linear: NonNegative = Field(description="damping of constrained translations [N s/m]")
    stiffness_rotational: NonNegative = Field(description="stiffness of constrained rotations [N m/rad]")
    damping_rotational: NonNegative = Field(description="damping of constrained rotations [N m s/rad]")
    DOF: BushingDof | None = Field(None, description="compliance along the free directions")


class Joint(Section):
    """A joint, compliant when it has bushing data."""

    needed_by: ClassVar = {
        "REVOLUTE": ("axis",),
        "PRISMATIC": ("axis",),
        "CYLINDRICAL": ("axis",),
        "UNIVERSAL": ("axis1", "axis2"),
    }
    used_by: ClassVar = {
        "axis": ("REVOLUTE", "PRISMATIC", "CYLINDRICAL", "POINT_LINE", "POINT_PLANE"),
        "axis1": ("UNIVERSAL",),
        "axis2": ("UNIVERSAL",),
    }

    name: Name = Field(description="name of the joint")
    type: JointType = Field(
        description="LOCK, REVOLUTE, SPHERICAL, PRISMATIC, CYLINDRICAL, UNIVERSAL, POINT_LINE or POINT_PLANE"
    )
    body1: Name = Field(description="name of the first body")
    body2: Name = Field(description="name of the second body")
    location: Vector3 = Field(description="place of the joint, world axes at t = 0 [m]")
    axis: Vector3 | None = Field(None, description="axis, line direction or plane normal, world axes at t = 0")
    axis1: Vector3 | None = Field(None, description="first axis of a UNIVERSAL joint, world axes at t = 0")
    axis2: Vector3 | None = Field(None, description="second axis of a UNIVERSAL joint, world axes at t = 0")
    bushing_data: BushingData | None = Field(None, description="compliance")


class Constraint(Section):
    """A constraint between two bodies; `axis1` and `axis2` are extensions of the format."""

    used_by: ClassVar = {
        "axis1": ("REVOLUTE-SPHERICAL", "REVOLUTE-TRANSLATIONAL"),
        "axis2": ("REVOLUTE-TRANSLATIONAL",),
    }

    name: Name = Field(description="name of the constraint")
    type: ConstraintType = Field(description="DISTANCE, REVOLUTE-SPHERICAL or REVOLUTE-TRANSLATIONAL")
    body1: Name = Field(description="name of the first body")
    body2: Name = Field(description="name of the second body")
    point1: Vector3 = Field(description="point on body1, world axes at t = 0 [m]")
    point2: Vector3 = Field(description="point on body2, world axes at t = 0 [m]")
    axis1: Vector3 | None = Field(None, description="axis of rotation, fixed in body1, world axes at t = 0")
    axis2: Vector3 | None = Field(None, description="sliding direction, fixed in body2, world axes at t = 0")


class Model(Section):
    """The mechanism."""

    hints: ClassVar = {"FEA_beams": "FEA"}

    name: Name = Field("YAML model", description="name of the model")
    angle_degrees: Boolean = Field(True, description="whether angles are in degrees")
    data_path: DataPath | None = Field(None, description="where data files are looked for")
    bodies: list[Body] = Field(description="list of bodies")
    joints: list[Joint] = Field([], description="list of joints")
    constraints: list[Constraint] = Field([], description="list of constraints")
    tsdas: list[Tsda] = Field([], description="list of translational spring-dampers")
    rsdas: list[Rsda] = Field([], description="list of rotational spring-dampers")
    motors: list[Motor] = Field([], description="list of motors")
    body_loads: list[BodyLoad] = Field([], description="list of loads")
    load_controllers: list[LoadController] = Field([], description="list of loads that controllers give")
    FEA: Fea | None = Field(None, description="finite elements")


class ModelFile(Section):
    """A model file."""

    chrono_version: ChronoVersion = Field(alias="chrono-version", description="version of the format, 10.0")
    model: Model = Field(description="the mechanism")


def unset(section: Section) -> dict[str, Any]:
    """The keys that the file leaves to their defaults, with these; keys without a meaning here are left out."""
    chosen = getattr(section, section.selector, None)
    return {
        name: getattr(section, name)
        for name in type(section).model_fields
        if name not in section.model_fields_set
        and getattr(section, name) is not None
        and chosen in section.used_by.get(name, (chosen,))
    }
