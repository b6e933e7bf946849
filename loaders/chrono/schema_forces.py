"""Schema of functions, springs, loads and motors."""

from typing import Annotated, ClassVar

from pydantic import Field

from jaxmbs.loaders._fields import (
    AnyCaseEnum,
    Boolean,
    Name,
    NonNegative,
    Number,
    Positive,
    Section,
    Table,
    Vector3,
)
from jaxmbs.loaders.chrono.schema_shapes import TsdaVisualization


class FunctionType(AnyCaseEnum):
    """Function of time."""

    CONSTANT = "CONSTANT"
    POLYNOMIAL = "POLYNOMIAL"
    SINE = "SINE"
    RAMP = "RAMP"
    DATA = "DATA"
    CONTROLLER = "CONTROLLER"


class LoadType(AnyCaseEnum):
    """Load on a body."""

    FORCE = "FORCE"
    TORQUE = "TORQUE"


class MotorType(AnyCaseEnum):
    """Motor."""

    LINEAR = "LINEAR"
    ROTATION = "ROTATION"


class ActuationType(AnyCaseEnum):
    """What a motor's function prescribes."""

    POSITION = "POSITION"
    SPEED = "SPEED"
    FORCE = "FORCE"


class GuideType(AnyCaseEnum):
    """Guide of a linear motor."""

    FREE = "FREE"
    PRISMATIC = "PRISMATIC"
    SPHERICAL = "SPHERICAL"


class SpindleType(AnyCaseEnum):
    """Spindle of a rotation motor."""

    FREE = "FREE"
    REVOLUTE = "REVOLUTE"
    CYLINDRICAL = "CYLINDRICAL"


class RepeatSection(Section):
    """Periodic replication of a function: f(start + mod(t + shift, width))."""

    start: Number = Field(description="start of the slice that is repeated [s]")
    width: Positive = Field(description="length of the slice [s]")
    shift: Number = Field(description="shift of time [s]")


class FunctionSection(Section):
    """A function of time; its unit is that of what it drives, with angles in radians."""

    needed_by: ClassVar = {
        "CONSTANT": ("value",),
        "POLYNOMIAL": ("coefficients",),
        "SINE": ("amplitude", "frequency"),
        "RAMP": ("slope",),
        "DATA": ("data",),
    }
    used_by: ClassVar = {
        "value": ("CONSTANT",),
        "coefficients": ("POLYNOMIAL",),
        "amplitude": ("SINE",),
        "frequency": ("SINE",),
        "phase": ("SINE",),
        "shift": ("SINE",),
        "slope": ("RAMP",),
        "intercept": ("RAMP",),
        "data": ("DATA",),
        "repeat": ("CONSTANT", "POLYNOMIAL", "SINE", "RAMP", "DATA"),
    }

    type: FunctionType = Field(description="CONSTANT, POLYNOMIAL, SINE, RAMP, DATA or CONTROLLER")
    value: Number | None = Field(None, description="value of a CONSTANT")
    coefficients: Annotated[list[Number], Field(min_length=1)] | None = Field(
        None, description="[a0, a1, ...] of a POLYNOMIAL a0 + a1 t + ..."
    )
    amplitude: Number | None = Field(None, description="amplitude of a SINE")
    frequency: Number | None = Field(None, description="frequency of a SINE [Hz]")
    phase: Number = Field(0.0, description="phase of a SINE [deg, or rad as angle_degrees says]")
    shift: Number = Field(0.0, description="value that is added to a SINE")
    slope: Number | None = Field(None, description="slope of a RAMP [1/s]")
    intercept: Number = Field(0.0, description="value of a RAMP at t = 0")
    data: Table | None = Field(None, description="points [t, f] of DATA")
    repeat: RepeatSection | None = Field(None, description="periodic replication")


class Tsda(Section):
    """A translational spring-damper."""

    together: ClassVar = {
        "spring_coefficient": ("free_length",),
        "spring_curve_data": ("free_length",),
        "map_data": ("deformation",),
        "deformation": ("map_data",),
    }
    leftovers: ClassVar = {"type": "the keys tell what the element is"}

    name: Name = Field(description="name of the element")
    body1: Name = Field(description="name of the first body")
    body2: Name = Field(description="name of the second body")
    point1: Vector3 = Field(description="point on body1, world axes at t = 0 [m]")
    point2: Vector3 = Field(description="point on body2, world axes at t = 0 [m]")
    free_length: Number | None = Field(None, description="length at which the spring is relaxed [m]")
    preload: Number = Field(0.0, description="force that is added; positive pushes apart [N]")
    spring_coefficient: Number | None = Field(None, description="stiffness [N/m]")
    damping_coefficient: Number | None = Field(None, description="damping [N s/m]")
    degressivity_compression: NonNegative | None = Field(None, description="degressivity in compression [s/m]")
    degressivity_expansion: NonNegative | None = Field(None, description="degressivity in expansion [s/m]")
    spring_curve_data: Table | None = Field(None, description="points [deformation, force] [m, N]")
    damping_curve_data: Table | None = Field(None, description="points [speed, force] [m/s, N]")
    deformation: Annotated[list[Number], Field(min_length=1)] | None = Field(
        None, description="deformations of the columns of map_data [m]"
    )
    map_data: Annotated[list[Annotated[list[Number], Field(min_length=1)]], Field(min_length=1)] | None = Field(
        None, description="rows [speed, force at each deformation] [m/s, N]"
    )
    minimum_length: Number | None = Field(None, description="length at which the bump stop begins [m]")
    maximum_length: Number | None = Field(None, description="length at which the rebound stop begins [m]")
    visualization: TsdaVisualization | None = Field(None, description="what is drawn")


class Rsda(Section):
    """A rotational spring-damper; springs, rates and curves are in radians."""

    together: ClassVar = {"spring_coefficient": ("free_angle",), "spring_curve_data": ("free_angle",)}
    leftovers: ClassVar = {"type": "the keys tell what the element is"}

    name: Name = Field(description="name of the element")
    body1: Name = Field(description="name of the first body")
    body2: Name = Field(description="name of the second body")
    location: Vector3 = Field([0.0, 0.0, 0.0], description="place of the element, world axes at t = 0 [m]")
    axis: Vector3 = Field(description="axis, world axes at t = 0, fixed in body1")
    free_angle: Number | None = Field(None, description="angle at which the spring is relaxed [deg or rad]")
    preload: Number = Field(0.0, description="torque that is added, on body2 along the axis [N m]")
    spring_coefficient: Number | None = Field(None, description="stiffness [N m/rad]")
    damping_coefficient: Number | None = Field(None, description="damping [N m s/rad]")
    spring_curve_data: Table | None = Field(None, description="points [angle, torque] [rad, N m]")
    damping_curve_data: Table | None = Field(None, description="points [rate, torque] [rad/s, N m]")


class LoadController(Section):
    """A load on a body that an external controller gives."""

    used_by: ClassVar = {"point": ("FORCE",), "local_point": ("FORCE",)}

    name: Name = Field(description="name of the load")
    type: LoadType = Field(description="FORCE or TORQUE")
    body: Name = Field(description="name of the body")
    load: Vector3 | None = Field(None, description="force [N] or torque [N m]")
    local_load: Boolean = Field(True, description="whether the load turns with the body")
    point: Vector3 = Field([0.0, 0.0, 0.0], description="point of a FORCE [m]")
    local_point: Boolean = Field(True, description="whether the point moves with the body")


class BodyLoad(Section):
    """A load on a body."""

    used_by: ClassVar = {"point": ("FORCE",), "local_point": ("FORCE",)}

    name: Name = Field(description="name of the load")
    type: LoadType = Field(description="FORCE or TORQUE")
    body: Name = Field(description="name of the body")
    load: Vector3 = Field(description="force [N] or torque [N m]")
    local_load: Boolean = Field(True, description="whether the load turns with the body")
    point: Vector3 = Field([0.0, 0.0, 0.0], description="point of a FORCE [m]")
    local_point: Boolean = Field(True, description="whether the point moves with the body")
    modulation_function: FunctionSection | None = Field(None, description="function of time that scales the load")


class Motor(Section):
    """A motor; it drives body1 relative to body2."""

    used_by: ClassVar = {"guide": ("LINEAR",), "spindle": ("ROTATION",)}

    name: Name = Field(description="name of the motor")
    type: MotorType = Field(description="LINEAR or ROTATION")
    body1: Name = Field(description="name of the first body")
    body2: Name = Field(description="name of the second body")
    location: Vector3 = Field(description="place of the motor, world axes at t = 0 [m]")
    axis: Vector3 = Field(description="axis, world axes at t = 0")
    actuation_type: ActuationType = Field(description="POSITION, SPEED or FORCE")
    actuation_function: FunctionSection = Field(description="function of time")
    guide: GuideType = Field(GuideType.PRISMATIC, description="guide of a LINEAR motor")
    spindle: SpindleType = Field(SpindleType.REVOLUTE, description="spindle of a ROTATION motor")
