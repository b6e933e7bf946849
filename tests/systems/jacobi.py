"""Jacobi's elliptic functions for real arguments."""

import numpy as np


def _mean(m: float) -> tuple[list[float], list[float]]:
    """The arithmetic-geometric mean of 1 and sqrt(1 - m): all a_n and c_n."""
    a, b, c = [1.0], float(np.sqrt(1 - m)), [float(np.sqrt(m))]
    while abs(c[-1]) > 1e-17 and len(a) < 12:
        last = a[-1]
        a.append(0.5 * (last + b))
        c.append(0.5 * (last - b))
        b = float(np.sqrt(last * b))
    return a, c


def quarter_period(m: float) -> float:
    """The complete elliptic integral of the first kind K(m), with m the square of the modulus."""
    return float(np.pi / (2 * _mean(m)[0][-1]))


def functions(u: np.ndarray, m: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """sn, cn and dn of `u` for the parameter m, the square of the modulus.

    **References:** Abramowitz & Stegun, Handbook of Mathematical Functions, 16.4.
    """
    a, c = _mean(m)
    angle = 2.0 ** (len(a) - 1) * a[-1] * np.asarray(u, dtype=np.float64)
    for n in range(len(a) - 1, 0, -1):
        angle = 0.5 * (angle + np.arcsin(c[n] / a[n] * np.sin(angle)))
    sn = np.sin(angle)
    return sn, np.cos(angle), np.sqrt(1 - m * sn * sn)


def pendulum(time: np.ndarray, amplitude: float, frequency: float) -> tuple[np.ndarray, np.ndarray]:
    """Angle and rate of x'' = -frequency^2 sin x, released at rest at `amplitude` (0 .. pi).

    **References:** Whittaker, Analytical Dynamics, section 44: sin(x/2) = k sn(frequency t + K), k = sin(amplitude/2).
    """
    k = float(np.sin(0.5 * amplitude))
    sn, cn, _ = functions(frequency * np.asarray(time) + quarter_period(k * k), k * k)
    return 2 * np.arcsin(k * sn), 2 * k * frequency * cn
