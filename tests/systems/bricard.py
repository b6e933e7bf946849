"""Bricard's mechanism: six revolute joints that give one degree of freedom only through their special geometry."""

import numpy as np

from jaxmbs import JointKind, ModelDescription


POINTS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=np.float64)
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))


def description() -> ModelDescription:
    """Bars of 1 m and 1 kg with a square section of 0.1 m; gravity 9.81 m/s2 along -Y; released at rest.

    The reference frame of `bar2` starts at its end, the point P3 that the benchmark compares.
    """
    model = ModelDescription("bricard", gravity=np.array([0.0, -9.81, 0.0]))
    model.add_body("ground", fixed=True)
    for k in range(5):
        start, end = POINTS[k], POINTS[k + 1]
        along = np.abs(end - start)
        moments = np.where(along > 0.5, 2 * 0.1**2, 1 + 0.1**2) / 12
        pos = end if k == 2 else start
        model.add_body(f"bar{k}", mass=1.0, inertia=moments, pos=pos, com_pos=0.5 * (start + end) - pos)
    bodies = ["ground", *(f"bar{k}" for k in range(5)), "ground"]
    for k in range(6):
        model.add_joint(f"p{k}", JointKind.REVOLUTE, bodies[k], bodies[k + 1], pos=POINTS[k], axis=AXES[k])
    return model
