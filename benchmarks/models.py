"""Mechanisms, each described once, from which every engine's model is built.

All frames are parallel to the world at t = 0. A mechanism is a tree of links plus loop joints that close it.
"""

import dataclasses
import functools
import xml.etree.ElementTree as xml
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

import jaxmbs as mbs
from jaxmbs import JointKind


GROUND = "ground"
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
#: Of the links of chains: length [m], mass per length [kg/m], radius [m].
LENGTH, DENSITY, RADIUS = 0.25, 1.0, 0.02

#: How many degrees of freedom a tree joint leaves.
FREEDOM = {JointKind.REVOLUTE: 1, JointKind.PRISMATIC: 1, JointKind.SPHERICAL: 3}
_MUJOCO_JOINT = {JointKind.REVOLUTE: "hinge", JointKind.PRISMATIC: "slide", JointKind.SPHERICAL: "ball"}


@dataclasses.dataclass(frozen=True)
class Link:
    """A body and the joint to its parent, in the world at t = 0.

    - joint_pos: of the joint [m]; com_pos: of the centre of mass [m].
    - inertia: (3, 3) about the centre of mass, world axes [kg m2].
    - rate: of the joint at t = 0, along world axes for a spherical joint [rad/s or m/s].
    """

    name: str
    parent: str
    kind: JointKind
    joint_pos: np.ndarray
    axis: np.ndarray
    com_pos: np.ndarray
    mass: float
    inertia: np.ndarray
    rate: np.ndarray


@dataclasses.dataclass(frozen=True)
class Loop:
    """A revolute joint that closes a loop, in the world at t = 0."""

    name: str
    body1: str
    body2: str
    pos: np.ndarray
    axis: np.ndarray


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """Links, parents first; `gravity` in world axes [m/s2]; `planar` if all moves in the x-z plane."""

    name: str
    links: tuple[Link, ...]
    loops: tuple[Loop, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    planar: bool = False

    @property
    def freedom(self) -> int:
        """Coordinates of the tree, which loops constrain further."""
        return sum(FREEDOM[link.kind] for link in self.links)

    @property
    def size(self) -> float:
        """The largest distance of a centre of mass from the origin [m]."""
        return float(max(np.linalg.norm(link.com_pos) for link in self.links))

    def rates(self) -> np.ndarray:
        """(freedom,) joint rates at t = 0."""
        return np.concatenate([link.rate for link in self.links])

    def body_velocities(self, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities of the centres of mass and angular velocities (..., links, 3) for joint rates (..., freedom)."""
        batch = rates.shape[:-1]
        zero = np.zeros((*batch, 3))
        at = {GROUND: (np.zeros(3), zero, zero)}  # centre of mass, its velocity, angular velocity
        first = 0
        for link in self.links:
            rate = rates[..., first : first + FREEDOM[link.kind]]
            first += FREEDOM[link.kind]
            com, vel, omega = at[link.parent]
            vel = vel + np.cross(omega, link.joint_pos - com)
            if link.kind is JointKind.SPHERICAL:
                omega = omega + rate
            elif link.kind is JointKind.REVOLUTE:
                omega = omega + rate * link.axis
            else:
                vel = vel + rate * link.axis
            at[link.name] = (link.com_pos, vel + np.cross(omega, link.com_pos - link.joint_pos), omega)
        found = [at[link.name] for link in self.links]
        return np.stack([item[1] for item in found], axis=-2), np.stack([item[2] for item in found], axis=-2)

    def describe(self) -> mbs.ModelDescription:
        """Our description: `ground`, then the links in order."""
        model = mbs.ModelDescription(self.name, gravity=np.array(self.gravity))
        model.add_body(GROUND, fixed=True)
        vel, omega = self.body_velocities(self.rates())
        for link, v, w in zip(self.links, vel, omega, strict=True):
            model.add_body(link.name, mass=link.mass, inertia=link.inertia, pos=link.com_pos, vel=v, omega=w)
        for link in self.links:
            axis = None if link.kind is JointKind.SPHERICAL else link.axis
            model.add_joint(f"to {link.name}", link.kind, link.parent, link.name, pos=link.joint_pos, axis=axis)
        for loop in self.loops:
            model.add_joint(loop.name, JointKind.REVOLUTE, loop.body1, loop.body2, pos=loop.pos, axis=loop.axis)
        return model

    def to_mjcf(self, dt: float, integrator: str = "Euler") -> str:
        """MuJoCo's model in joint coordinates: no contacts, no damping, default solver; loops are soft `connect`s.

        A loop is pinned at one point, and at a second one on its axis unless the tree keeps the axes parallel.
        """
        root = xml.Element("mujoco", model=self.name)
        option = xml.SubElement(
            root, "option", timestep=repr(dt), integrator=integrator, gravity=_text(self.gravity), jacobian="auto"
        )
        xml.SubElement(option, "flag", contact="disable")
        xml.SubElement(root, "compiler", angle="radian", balanceinertia="false")
        elements = {GROUND: (xml.SubElement(root, "worldbody"), np.zeros(3))}
        for link in self.links:
            parent, origin = elements[link.parent]
            body = xml.SubElement(parent, "body", name=link.name, pos=_text(link.joint_pos - origin))
            xml.SubElement(body, "joint", type=_MUJOCO_JOINT[link.kind], axis=_text(link.axis))
            i = link.inertia
            tensor = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
            xml.SubElement(
                body,
                "inertial",
                pos=_text(link.com_pos - link.joint_pos),
                mass=repr(link.mass),
                fullinertia=_text(tensor),
            )
            elements[link.name] = (body, link.joint_pos)
        equality = xml.SubElement(root, "equality")
        for loop in self.loops:
            anchor = loop.pos - elements[loop.body1][1]
            for point in (anchor,) if self.planar else (anchor, anchor + self.size * loop.axis):
                other = "world" if loop.body2 == GROUND else loop.body2
                xml.SubElement(equality, "connect", body1=loop.body1, body2=other, anchor=_text(point))
        return xml.tostring(root, encoding="unicode")


def _text(values: ArrayLike) -> str:
    return " ".join(repr(float(value)) for value in np.asarray(values))


def _rod(
    start: np.ndarray, end: np.ndarray, density: float = DENSITY, radius: float = RADIUS
) -> tuple[float, np.ndarray]:
    """Mass and inertia of a round rod."""
    length = float(np.linalg.norm(end - start))
    along = np.outer(end - start, end - start) / length**2
    mass = density * length
    across = mass * (length**2 / 12 + radius**2 / 4)
    return mass, across * (np.eye(3) - along) + mass * radius**2 / 2 * along


def _rod_link(
    name: str,
    parent: str,
    start: ArrayLike,
    end: ArrayLike,
    *,
    kind: JointKind = JointKind.REVOLUTE,
    axis: ArrayLike = Y,
    rate: ArrayLike | None = None,
) -> Link:
    """A rod that hangs on its parent at its start."""
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    mass, inertia = _rod(a, b)
    rates = np.zeros(FREEDOM[kind]) if rate is None else np.asarray(rate, np.float64)
    return Link(name, parent, kind, a, np.asarray(axis, np.float64), (a + b) / 2, mass, inertia, rates)


def chain(count: int) -> Mechanism:
    """Rods of 0.25 m and 0.25 kg, hinged about y, released at rest from the horizontal."""
    points = [np.array([LENGTH * i, 0.0, 0.0]) for i in range(count + 1)]
    names = [GROUND, *(f"link{i}" for i in range(count))]
    links = tuple(_rod_link(names[i + 1], names[i], points[i], points[i + 1]) for i in range(count))
    return Mechanism(f"chain-{count}", links, planar=True)


def spherical_chain(count: int) -> Mechanism:
    """The same rods on spherical joints, horizontal, turning about the vertical at 2 rad/s as one."""
    points = [np.array([LENGTH * i, 0.0, 0.0]) for i in range(count + 1)]
    names = [GROUND, *(f"link{i}" for i in range(count))]
    links = tuple(
        _rod_link(
            names[i + 1],
            names[i],
            points[i],
            points[i + 1],
            kind=JointKind.SPHERICAL,
            rate=(0.0, 0.0, 2.0 if i == 0 else 0.0),
        )
        for i in range(count)
    )
    return Mechanism(f"spherical-chain-{count}", links)


def four_bar() -> Mechanism:
    """Ground 1 m, crank 0.3 m at 60 degrees, coupler 0.9 m, rocker; released at rest."""
    a, d = np.zeros(3), np.array([1.0, 0.0, 0.0])
    crank, coupler = np.radians([60.0, 29.0719])
    b = 0.3 * np.array([np.cos(crank), 0.0, np.sin(crank)])
    c = b + 0.9 * np.array([np.cos(coupler), 0.0, np.sin(coupler)])
    links = (
        _rod_link("crank", GROUND, a, b),
        _rod_link("coupler", "crank", b, c),
        _rod_link("rocker", GROUND, d, c),
    )
    return Mechanism("four-bar", links, (Loop("pin", "coupler", "rocker", c, np.array(Y)),), planar=True)


def slider_crank() -> Mechanism:
    """Crank 0.15 m at 45 degrees, rod 0.45 m, a slider of 0.5 kg along x; released at rest."""
    crank = np.radians(45.0)
    b = 0.15 * np.array([np.cos(crank), 0.0, np.sin(crank)])
    c = np.array([b[0] + np.sqrt(0.45**2 - b[2] ** 2), 0.0, 0.0])
    x = np.array([1.0, 0.0, 0.0])
    slider = Link("slider", GROUND, JointKind.PRISMATIC, c, x, c, 0.5, 5e-4 * np.eye(3), np.zeros(1))
    links = (_rod_link("crank", GROUND, np.zeros(3), b), _rod_link("rod", "crank", b, c), slider)
    return Mechanism("slider-crank", links, (Loop("pin", "rod", "slider", c, np.array(Y)),), planar=True)


def hub(arms: int) -> Mechanism:
    """A hub of 5 kg on a vertical hinge, turning at 2 rad/s, with rods of 0.25 m hinged to its rim of 1 m."""
    disc = Link(
        "hub",
        GROUND,
        JointKind.REVOLUTE,
        np.zeros(3),
        np.array(Z),
        np.zeros(3),
        5.0,
        np.diag([1.25, 1.25, 2.5]),
        np.array([2.0]),
    )
    links = [disc]
    for i, angle in enumerate(2 * np.pi * np.arange(arms) / arms):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        tangent = (-np.sin(angle), np.cos(angle), 0.0)
        links.append(_rod_link(f"arm{i}", "hub", out, (1 + LENGTH) * out, axis=tangent))
    return Mechanism(f"hub-{arms}", tuple(links))


def bricard() -> Mechanism:
    """Five rods of 1 m and six hinges, one degree of freedom by its special geometry; gravity along -y, at rest."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=np.float64)
    axes = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], dtype=np.float64)
    names = [GROUND, *(f"bar{i}" for i in range(5))]
    links = tuple(_rod_link(names[i + 1], names[i], points[i], points[i + 1], axis=axes[i]) for i in range(5))
    loop = Loop("pin", "bar4", GROUND, points[5], axes[5])
    return Mechanism("bricard", links, (loop,), gravity=(0.0, -9.81, 0.0))


MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    **{f"chain-{count}": functools.partial(chain, count) for count in (4, 16, 64, 256)},
    "spherical-chain-16": functools.partial(spherical_chain, 16),
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "hub-12": functools.partial(hub, 12),
    "hub-48": functools.partial(hub, 48),
    "bricard": bricard,
}
