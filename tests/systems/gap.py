"""How far joints are open, from the poses alone and in NumPy."""

import numpy as np

from jaxmbs import ModelDescription
from tests.systems import rotation
from tests.systems.run import Run


def revolute_gap(description: ModelDescription, run: Run) -> np.ndarray:
    """The largest gap [m] or misalignment [rad] of all hinges (joints and motors' spindles) at every saved time."""
    worst = np.zeros(run.time.size)
    for joint in (*description.joints, *description.motors):
        points, axes = [], []
        for name in (joint.body1, joint.body2):
            body = description.body(name)
            turn = rotation.matrix(body.quat)
            com = body.pos + turn @ body.com_pos
            local = rotation.matrix(body.quat) @ rotation.matrix(body.com_quat)
            pos, quat, _, _ = run.body_state(name)
            now = rotation.matrix(quat)
            points.append(pos + now @ (local.T @ (joint.pos - com)))
            axes.append(now @ (local.T @ joint.axis) / np.linalg.norm(joint.axis))
        for error in (points[0] - points[1], np.cross(axes[0], axes[1])):
            worst = np.maximum(worst, np.max(np.abs(error), axis=-1))
    return worst
