"""The kinematics of `examples/jansen_leg`: where its foot is for an angle of the crank."""

import numpy as np


_LENGTHS = dict(
    zip("abcdefghijklm", (38, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49, 50, 61.9, 7.8, 15), strict=True)
)


def _meet(first: np.ndarray, radius1: float, second: np.ndarray, radius2: float, side: float) -> np.ndarray:
    """Where two circles meet, to the left (1) or right (-1) of the line from the first centre to the second."""
    line = second - first
    distance = float(np.linalg.norm(line))
    along = (radius1**2 - radius2**2 + distance**2) / (2 * distance)
    across = side * np.sqrt(radius1**2 - along**2)
    return first + (along * line + across * np.array([-line[1], line[0]])) / distance


def foot(angle: float) -> np.ndarray:
    """The foot (x, z) [m] for a crank angle from +x towards +z."""
    n = {name: 0.01 * value for name, value in _LENGTHS.items()}
    pivot, pin = np.array([-n["a"], -n["l"]]), n["m"] * np.array([np.cos(angle), np.sin(angle)])
    tip = _meet(pin, n["j"], pivot, n["b"], -1)
    rear = _meet(tip, n["e"], pivot, n["d"], -1)
    knee = _meet(pin, n["k"], pivot, n["c"], 1)
    ankle = _meet(rear, n["f"], knee, n["g"], -1)
    return _meet(ankle, n["h"], knee, n["i"], -1)
