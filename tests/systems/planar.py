"""Mechanisms that move in a plane, built from three-dimensional bodies and revolute joints."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxmbs import JointKind, ModelDescription
from tests.systems import rotation


@dataclasses.dataclass(frozen=True)
class Plane:
    """A plane through the origin, given by the turn (wxyz) that takes the world's XY plane there."""

    turn: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)

    @property
    def normal(self) -> np.ndarray:
        return rotation.matrix(np.array(self.turn))[:, 2]

    def point(self, inside: Sequence[float] | np.ndarray) -> np.ndarray:
        """World coordinates (..., 3) of points (..., 2) of the plane."""
        return np.asarray(inside, dtype=np.float64) @ rotation.matrix(np.array(self.turn))[:, :2].T

    def coordinates(self, point: np.ndarray) -> np.ndarray:
        """Plane coordinates (..., 2) of world points (..., 3)."""
        return point @ rotation.matrix(np.array(self.turn))[:, :2]

    def quat(self, angle: float | np.ndarray) -> np.ndarray:
        """The orientation of a body whose x axis lies at `angle` in the plane, its z axis along the normal."""
        return rotation.product(np.array(self.turn), rotation.about([0, 0, 1], angle))

    def angle(self, quat: np.ndarray) -> np.ndarray:
        """The angle of a body of that orientation, in (-2 pi, 2 pi]."""
        back = np.array(self.turn) * [1, -1, -1, -1]
        return rotation.angle_in_plane(rotation.product(back, quat), 2)

    def turned(self, quat: np.ndarray) -> "Plane":
        return Plane(tuple(rotation.product(quat, np.array(self.turn))))


XY = Plane()
#: The first coordinate along X, the second along Z: the normal is -Y.
XZ = Plane(tuple(rotation.about([1, 0, 0], np.pi / 2)))


def wrapped(angle: np.ndarray) -> np.ndarray:
    """Angles in (-pi, pi]."""
    return np.pi - np.mod(np.pi - np.asarray(angle), 2 * np.pi)


def direction(angle: float | np.ndarray) -> np.ndarray:
    """Unit vectors (..., 2)."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def add_link(
    description: ModelDescription,
    plane: Plane,
    name: str,
    origin: Sequence[float] | np.ndarray,
    angle: float,
    *,
    mass: float,
    inertia: float,
    com: Sequence[float] = (0.0, 0.0),
    velocity: Sequence[float] = (0.0, 0.0),
    rate: float = 0.0,
) -> None:
    """A body with its reference frame at `origin`, x at `angle` in the plane.

    - inertia: about the COM and the plane's normal; the other moments do not matter to motion in the plane.
    - com: in the reference frame.
    """
    description.add_body(
        name,
        mass=mass,
        inertia=(0.6 * inertia, 0.6 * inertia, inertia),
        pos=plane.point(origin),
        quat=plane.quat(angle),
        com_pos=(*com, 0.0),
        vel=plane.point(velocity),
        omega=(0.0, 0.0, rate),
    )


def add_bar(
    description: ModelDescription,
    plane: Plane,
    name: str,
    origin: Sequence[float] | np.ndarray,
    angle: float,
    *,
    length: float,
    mass: float,
    velocity: Sequence[float] = (0.0, 0.0),
    rate: float = 0.0,
) -> None:
    """A uniform slender bar from `origin` along `angle`."""
    inertia, com = mass * length**2 / 12, (length / 2, 0.0)
    add_link(description, plane, name, origin, angle, mass=mass, inertia=inertia, com=com, velocity=velocity, rate=rate)


def add_hinge(
    description: ModelDescription,
    plane: Plane,
    name: str,
    body1: str,
    body2: str,
    point: Sequence[float] | np.ndarray,
) -> None:
    """A revolute joint about the plane's normal."""
    description.add_joint(name, JointKind.REVOLUTE, body1, body2, pos=plane.point(point), axis=plane.normal)
