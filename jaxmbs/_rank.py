"""Degrees of freedom and redundant rows of a mechanism at one pose, with NumPy."""

import dataclasses
from collections.abc import Sequence

import numpy as np


#: Relative to the largest singular value (or to a unit row): what is below counts as dependent.
RANK_TOLERANCE = 1e-7


@dataclasses.dataclass(frozen=True)
class Dependence:
    """A row that adds nothing to the rows before it; it is a combination of the rows `of`."""

    row: int
    of: tuple[int, ...]


def mass_metric(jacobian: np.ndarray, inverse_mass: np.ndarray, inverse_inertia: np.ndarray) -> np.ndarray:
    """J M^-1/2 with rows of unit length: velocities are measured by their kinetic energy.

    **Arguments:**

    - jacobian: (rows, bodies, 6), linear before angular, world axes.
    - inverse_mass: (bodies,); inverse_inertia: (bodies, 3, 3), world axes; zero for fixed bodies.

    **Returns:** (rows, 6 bodies). Rows that act on fixed bodies only stay zero.
    """
    moments, axes = np.linalg.eigh(inverse_inertia)
    root = axes * np.sqrt(np.maximum(moments, 0.0))[:, None, :]
    linear = jacobian[:, :, :3] * np.sqrt(inverse_mass)[None, :, None]
    angular = np.einsum("rbi,bij->rbj", jacobian[:, :, 3:], root)
    scaled = np.concatenate([linear, angular], axis=2).reshape(jacobian.shape[0], 6 * jacobian.shape[1])
    size = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.divide(scaled, size, out=np.zeros_like(scaled), where=size > 0)


def rank(rows: np.ndarray) -> int:
    """The number of singular values above `RANK_TOLERANCE` times the largest."""
    if rows.size == 0:
        return 0
    singular = np.linalg.svd(rows, compute_uv=False)
    return int(np.sum(singular > RANK_TOLERANCE * max(singular[0], np.finfo(np.float64).tiny)))


def dependences(rows: np.ndarray, order: Sequence[int]) -> list[Dependence]:
    """The rows that add no rank when all are taken one after the other in `order`.

    **References:** Golub & Van Loan, Matrix Computations, section 5.2.9 (Gram-Schmidt, here done twice).
    """
    basis, taken, found = np.zeros((0, rows.shape[1])), [], []
    for index in order:
        left = rows[index]
        for _ in range(2):
            left = left - (left @ basis.T) @ basis
        size = np.linalg.norm(left)
        if size > RANK_TOLERANCE:
            basis = np.vstack([basis, left / size])
            taken.append(index)
            continue
        weights = np.linalg.lstsq(rows[taken].T, rows[index], rcond=None)[0] if taken else np.zeros(0)
        involved = tuple(row for row, weight in zip(taken, weights, strict=True) if abs(weight) > 1e-6)
        found.append(Dependence(index, involved))
    return found
