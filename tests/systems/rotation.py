"""Rotations in NumPy, independent of the code under test. Quaternions are wxyz, frame to parent."""

import numpy as np


def matrix(quat: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(quat, dtype=np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def about(axis: np.ndarray | list[float] | tuple[float, ...], angle: float | np.ndarray) -> np.ndarray:
    """The quaternions (..., 4) of turns by `angle` (...) about one axis."""
    unit = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * unit], axis=-1)


def product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The quaternion of the turn `second` followed by the turn `first`."""
    w1, x1, y1, z1 = np.moveaxis(np.asarray(first, dtype=np.float64), -1, 0)
    w2, x2, y2, z2 = np.moveaxis(np.asarray(second, dtype=np.float64), -1, 0)
    return np.stack(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ],
        axis=-1,
    )


def same_sign(quat: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The one of the two quaternions of every rotation that is nearer to `like`."""
    sign = np.where(np.sum(quat * like, axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return quat * sign


def angle_in_plane(quat: np.ndarray, axis: int) -> np.ndarray:
    """The angle of turns about coordinate axis `axis`, in (-pi, pi]."""
    return 2 * np.arctan2(quat[..., 1 + axis], quat[..., 0])
