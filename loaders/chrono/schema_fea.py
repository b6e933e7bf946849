"""Schema of the finite element section."""

from typing import Annotated, ClassVar

from pydantic import Field

from jaxmbs.loaders._fields import (
    AnyCaseEnum,
    Boolean,
    Color,
    Integer,
    Name,
    NonNegative,
    Number,
    Section,
    Vector3,
)


class SectionType(AnyCaseEnum):
    """Beam section."""

    EULER_SIMPLE = "EULER_SIMPLE"
    ANCF_CABLE = "ANCF_CABLE"
    COSSERAT = "COSSERAT"
    TIMOSHENKO = "TIMOSHENKO"


class FeaMaterialType(AnyCaseEnum):
    """Material of finite elements."""

    BEAM_ANCF = "BEAM_ANCF"
    HEXA_ANCF = "HEXA_ANCF"
    SHELL_ANCF = "SHELL_ANCF"
    SHELL_KIRCHHOFF = "SHELL_KIRCHHOFF"
    SHELL_REISSNER = "SHELL_REISSNER"


class BeamType(AnyCaseEnum):
    """Beam element."""

    EULER = "EULER"
    ANCF_CABLE = "ANCF_CABLE"
    ANCF_3243 = "ANCF_3243"
    ANCF_3333 = "ANCF_3333"
    IGA = "IGA"
    TIMOSHENKO = "TIMOSHENKO"


class FeaConstraintType(AnyCaseEnum):
    """Constraint of a node."""

    NODE_FRAME = "NODE_FRAME"
    NODESLOPE_FRAME = "NODESLOPE_FRAME"
    NODE_NODE = "NODE_NODE"
    NODE_FACE = "NODE_FACE"


class MeshData(AnyCaseEnum):
    """Quantity that colours a mesh."""

    NONE = "NONE"
    SURFACE = "SURFACE"
    NODE_DISP_NORM = "NODE_DISP_NORM"
    NODE_SPEED_NORM = "NODE_SPEED_NORM"
    NODE_ACCEL_NORM = "NODE_ACCEL_NORM"
    NODE_FIELD_VALUE = "NODE_FIELD_VALUE"
    ELEM_STRAIN_VONMISES = "ELEM_STRAIN_VONMISES"
    ELEM_STRESS_VONMISES = "ELEM_STRESS_VONMISES"
    ELEM_BEAM_MX = "ELEM_BEAM_MX"
    ELEM_BEAM_MY = "ELEM_BEAM_MY"
    ELEM_BEAM_MZ = "ELEM_BEAM_MZ"
    ELEM_BEAM_TX = "ELEM_BEAM_TX"
    ELEM_BEAM_TY = "ELEM_BEAM_TY"
    ELEM_BEAM_TZ = "ELEM_BEAM_TZ"
    ANCF_BEAM_AX = "ANCF_BEAM_AX"
    ANCF_BEAM_BD = "ANCF_BEAM_BD"


class Colormap(AnyCaseEnum):
    """Colour map."""

    BLACK_BODY = "BLACK_BODY"
    BLUE = "BLUE"
    BROWN = "BROWN"
    COPPER = "COPPER"
    FAST = "FAST"
    INFERNO = "INFERNO"
    JET = "JET"
    KINDLMANN = "KINDLMANN"
    PLASMA = "PLASMA"
    RED_BLUE = "RED_BLUE"


class GlyphType(AnyCaseEnum):
    """Glyph."""

    NONE = "NONE"
    NODE_DOT_POS = "NODE_DOT_POS"
    NODE_CSYS = "NODE_CSYS"
    NODE_VECT_SPEED = "NODE_VECT_SPEED"
    NODE_VECT_ACCEL = "NODE_VECT_ACCEL"
    ELEM_TENS_STRAIN = "ELEM_TENS_STRAIN"
    ELEM_TENS_STRESS = "ELEM_TENS_STRESS"
    ELEM_VECT_DP = "ELEM_VECT_DP"


class BeamSection(Section):
    """Cross-section of beams."""

    needed_by: ClassVar = {"ANCF_CABLE": ("diameter", "Young_modulus", "density", "Rayleight_damping")}
    spellings: ClassVar = {"Youngs_modulus": "Young_modulus"}
    hints: ClassVar = {"Rayleigh_damping": "Rayleight_damping"}

    name: Name = Field(description="name that beams refer to")
    type: SectionType = Field(description="EULER_SIMPLE, ANCF_CABLE, COSSERAT or TIMOSHENKO")
    diameter: NonNegative | None = Field(None, description="diameter [m]")
    Young_modulus: NonNegative | None = Field(None, description="Young's modulus [Pa]")
    density: NonNegative | None = Field(None, description="density [kg/m3]")
    Rayleight_damping: NonNegative | None = Field(None, description="Rayleigh damping (the key is spelt so) [s]")


class FeaMaterial(Section):
    """Material of finite elements."""

    name: Name = Field(description="name that beams and shells refer to")
    type: FeaMaterialType = Field(description="BEAM_ANCF, HEXA_ANCF, SHELL_ANCF, SHELL_KIRCHHOFF or SHELL_REISSNER")


class FeaMeshData(Section):
    """Colouring of a mesh."""

    type: MeshData = Field(description="quantity that gives the colour")
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(
        [0.0, 1.0], description="values at the two ends of the colour map"
    )
    colormap: Colormap = Field(Colormap.FAST, description="colour map")
    smooth_faces: Boolean = Field(True, description="whether normals are averaged")
    wireframe: Boolean = Field(False, description="whether only edges are drawn")


class FeaGlyphs(Section):
    """Glyphs of a mesh."""

    type: GlyphType = Field(description="glyph")
    size: NonNegative = Field(0.002, description="size of a glyph [m]")
    color: Color = Field([1.0, 1.0, 1.0], description="[r, g, b], each from 0 to 1")


class FeaVisualization(Section):
    """What is drawn for a mesh."""

    data: FeaMeshData | None = Field(None, description="colouring")
    glyphs: FeaGlyphs | None = Field(None, description="glyphs")


class Beam(Section):
    """A straight beam of equal elements."""

    needed_by: ClassVar = {
        "EULER": ("section", "up"),
        "ANCF_CABLE": ("section",),
        "ANCF_3243": ("material",),
        "ANCF_3333": ("material",),
        "IGA": ("section",),
        "TIMOSHENKO": ("section",),
    }

    name: Name = Field(description="name of the beam's mesh")
    type: BeamType = Field(description="EULER, ANCF_CABLE, ANCF_3243, ANCF_3333, IGA or TIMOSHENKO")
    num_elements: Integer = Field(ge=1, description="number of elements")
    start_point: Vector3 = Field(description="first node, world axes [m]")
    end_point: Vector3 = Field(description="last node, world axes [m]")
    section: Name | None = Field(None, description="name of a beam section")
    material: Name | None = Field(None, description="name of a material")
    up: Vector3 | None = Field(None, description="up direction of the section, world axes")
    visualization: FeaVisualization | None = Field(None, description="what is drawn")


class Shell(Section):
    """A shell mesh; the format names no more about it."""

    name: Name = Field(description="name of the shell's mesh")
    type: Name = Field(description="shell element")


class FeaNode(Section):
    """A node of a mesh."""

    mesh: Name = Field(description="name of a beam or shell")
    index: Integer = Field(ge=1, description="number of the node, counted from one")


class FeaConstraint(Section):
    """A constraint between nodes, or between a node and a body."""

    needed_by: ClassVar = {
        "NODE_FRAME": ("node", "body"),
        "NODESLOPE_FRAME": ("node", "body", "body_direction"),
        "NODE_NODE": ("node1", "node2"),
    }
    used_by: ClassVar = {
        "node": ("NODE_FRAME", "NODESLOPE_FRAME"),
        "body": ("NODE_FRAME", "NODESLOPE_FRAME"),
        "body_direction": ("NODESLOPE_FRAME",),
        "node1": ("NODE_NODE",),
        "node2": ("NODE_NODE",),
    }

    name: Name = Field(description="name of the constraint")
    type: FeaConstraintType = Field(description="NODE_FRAME, NODESLOPE_FRAME, NODE_NODE or NODE_FACE")
    node: FeaNode | None = Field(None, description="the node that is held")
    node1: FeaNode | None = Field(None, description="the first node")
    node2: FeaNode | None = Field(None, description="the second node")
    body: Name | None = Field(None, description="name of a body")
    body_direction: Vector3 | None = Field(None, description="direction of the slope, body axes")


class Fea(Section):
    """Finite elements."""

    beam_sections: list[BeamSection] = Field([], description="list of beam sections")
    materials: list[FeaMaterial] = Field([], description="list of materials")
    beams: list[Beam] = Field([], description="list of beams")
    shells: list[Shell] = Field([], description="list of shells")
    constraints: list[FeaConstraint] = Field([], description="list of constraints of nodes")
