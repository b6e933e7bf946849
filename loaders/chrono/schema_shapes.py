"""Schema of the contact and visualization sections of a body."""

from typing import Annotated, ClassVar

from pydantic import Field

from jaxmbs.loaders._fields import AnyCaseEnum, Color, Integer, Name, NonNegative, Number, Section, Vector3


Orientation = Annotated[list[Number], Field(min_length=3, max_length=4)]


class ContactShapeType(AnyCaseEnum):
    """Collision shape."""

    SPHERE = "SPHERE"
    BOX = "BOX"
    CYLINDER = "CYLINDER"
    HULL = "HULL"
    MESH = "MESH"


class VisualShapeType(AnyCaseEnum):
    """Visualization shape."""

    SPHERE = "SPHERE"
    BOX = "BOX"
    CYLINDER = "CYLINDER"
    MESH = "MESH"


class TsdaVisualType(AnyCaseEnum):
    """How a spring is drawn."""

    SEGMENT = "SEGMENT"
    SPRING = "SPRING"


class PhysicalProperties(Section):
    """Material data for smooth contact."""

    spellings: ClassVar = {"Youngs_modulus": "Young_modulus"}

    Young_modulus: NonNegative = Field(description="Young's modulus [Pa]")
    Poisson_ratio: Number = Field(description="Poisson's ratio [-]")


class ContactCoefficients(Section):
    """Spring and damper coefficients for smooth contact."""

    normal_stiffness: NonNegative = Field(description="normal stiffness [N/m]")
    normal_damping: NonNegative = Field(description="normal damping [N s/m]")
    tangential_stiffness: NonNegative = Field(description="tangential stiffness [N/m]")
    tangential_damping: NonNegative = Field(description="tangential damping [N s/m]")


class ContactMaterial(Section):
    """A contact material of a body."""

    spellings: ClassVar = {"physical__properties": "physical_properties"}

    name: Name = Field(description="name that the body's collision shapes refer to")
    coefficient_of_friction: NonNegative = Field(0.8, description="friction coefficient [-]")
    coefficient_of_restitution: NonNegative = Field(0.01, description="restitution coefficient [-]")
    physical_properties: PhysicalProperties | None = Field(None, description="material data (SMC only)")
    coefficients: ContactCoefficients | None = Field(None, description="spring and damper coefficients (SMC only)")


_SHAPE_NEEDS = {
    "SPHERE": ("location", "radius"),
    "BOX": ("location", "orientation", "dimensions"),
    "CYLINDER": ("location", "axis", "radius", "length"),
    "MESH": ("filename",),
}
_SHAPE_USES = {
    "radius": ("SPHERE", "CYLINDER"),
    "dimensions": ("BOX",),
    "axis": ("CYLINDER",),
    "length": ("CYLINDER",),
    "filename": ("MESH", "HULL"),
    "scale": ("MESH",),
}


class ContactShape(Section):
    """A collision shape, placed in the body's reference frame."""

    needed_by: ClassVar = {**_SHAPE_NEEDS, "HULL": ("filename",)}
    used_by: ClassVar = {**_SHAPE_USES, "contact_radius": ("MESH",)}

    type: ContactShapeType = Field(description="SPHERE, BOX, CYLINDER, HULL or MESH")
    material: Name = Field(description="name of one of the body's contact materials")
    location: Vector3 | None = Field(None, description="origin of the shape in the reference frame [m]")
    orientation: Orientation | None = Field(None, description="[yaw, pitch, roll] or quaternion wxyz")
    radius: NonNegative | None = Field(None, description="radius of a SPHERE or CYLINDER [m]")
    dimensions: Vector3 | None = Field(None, description="full lengths of a BOX [m]")
    axis: Vector3 | None = Field(None, description="axis of a CYLINDER in the reference frame")
    length: NonNegative | None = Field(None, description="full length of a CYLINDER [m]")
    filename: Name | None = Field(None, description="data file of a HULL or MESH")
    contact_radius: NonNegative = Field(0.0, description="contact radius of a MESH [m]")
    scale: Number = Field(1.0, description="scale factor of a MESH [-]")


class Contact(Section):
    """Materials and shapes for contact."""

    leftovers: ClassVar = {"collision_family": "every shape collides with every other one"}

    materials: list[ContactMaterial] = Field(description="list of contact materials")
    shapes: list[ContactShape] = Field(description="list of collision shapes")


class VisualShape(Section):
    """A shape to draw, placed in the body's reference frame."""

    needed_by: ClassVar = _SHAPE_NEEDS
    used_by: ClassVar = {**_SHAPE_USES, "filename": ("MESH",)}

    type: VisualShapeType = Field(description="SPHERE, BOX, CYLINDER or MESH")
    location: Vector3 | None = Field(None, description="origin of the shape in the reference frame [m]")
    orientation: Orientation | None = Field(None, description="[yaw, pitch, roll] or quaternion wxyz")
    radius: NonNegative | None = Field(None, description="radius of a SPHERE or CYLINDER [m]")
    dimensions: Vector3 | None = Field(None, description="full lengths of a BOX [m]")
    axis: Vector3 | None = Field(None, description="axis of a CYLINDER in the reference frame")
    length: NonNegative | None = Field(None, description="full length of a CYLINDER [m]")
    filename: Name | None = Field(None, description="Wavefront OBJ file of a MESH")
    scale: Number = Field(1.0, description="scale factor of a MESH [-]")
    color: Color | None = Field(None, description="[r, g, b], each from 0 to 1")


class Visualization(Section):
    """What is drawn for a body."""

    model_file: Name | None = Field(None, description="file that is handed to the viewer as it is")
    shapes: list[VisualShape] = Field([], description="list of shapes")


class TsdaVisualization(Section):
    """What is drawn for a translational spring-damper."""

    used_by: ClassVar = {"radius": ("SPRING",), "resolution": ("SPRING",), "turns": ("SPRING",)}

    type: TsdaVisualType = Field(description="SEGMENT or SPRING")
    color: Color | None = Field(None, description="[r, g, b], each from 0 to 1")
    radius: NonNegative = Field(0.05, description="radius of a SPRING [m]")
    resolution: Integer = Field(65, ge=1, description="subdivisions along one coil of a SPRING")
    turns: NonNegative = Field(5.0, description="number of coils of a SPRING")
