"""Orientations of the file as quaternions (wxyz, NumPy)."""

import math
from collections.abc import Sequence

import numpy as np


IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The quaternion of "first b, then a"."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([w, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def rotate(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """`vector` turned by a unit quaternion."""
    twice = 2 * np.cross(quat[1:], vector)
    return vector + quat[0] * twice + np.cross(quat[1:], twice)


def from_euler(yaw: float, pitch: float, roll: float) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll), angles in radians."""

    def turn(axis: int, angle: float) -> np.ndarray:
        quat = np.zeros(4)
        quat[0], quat[1 + axis] = math.cos(angle / 2), math.sin(angle / 2)
        return quat

    return multiply(turn(2, yaw), multiply(turn(1, pitch), turn(0, roll)))


def normalised(values: Sequence[float]) -> tuple[np.ndarray, float]:
    """The unit quaternion and the norm; all zeros when there is no direction."""
    array = np.asarray(values, dtype=np.float64)
    largest = np.max(np.abs(array))
    if largest == 0:
        return array, 0.0
    scaled = array / largest  # so that squares neither overflow nor vanish
    length = float(np.linalg.norm(scaled))
    return scaled / length, length * float(largest)
