"""Planar mechanisms whose motion is found by an independent integration of their own equations, in NumPy."""

import dataclasses
from collections.abc import Callable

import numpy as np

from jaxmbs import Actuation, FunctionDescription, ModelDescription, MotorKind
from tests.systems.planar import XZ, add_bar, add_hinge


def integrate(
    acceleration: Callable[[float, np.ndarray, np.ndarray], np.ndarray],
    start: np.ndarray,
    speed: np.ndarray,
    end: float,
    steps: int,
) -> np.ndarray:
    """The coordinates at `end` by the classical Runge-Kutta method of order four."""
    h, x, v = end / steps, np.array(start, dtype=np.float64), np.array(speed, dtype=np.float64)
    for step in range(steps):
        t = step * h
        a1 = acceleration(t, x, v)
        a2 = acceleration(t + h / 2, x + h / 2 * v, v + h / 2 * a1)
        a3 = acceleration(t + h / 2, x + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2)
        a4 = acceleration(t + h, x + h * v + h * h / 2 * a2, v + h * a3)
        x = x + h * v + h * h / 6 * (a1 + a2 + a3)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return x


@dataclasses.dataclass(frozen=True)
class PendulumOnCart:
    """A uniform rod that hangs on a cart; a motor moves the cart along X by `stroke` sin(2 pi frequency t)."""

    length: float = 0.8
    mass: float = 1.0
    stroke: float = 0.3
    frequency: float = 1.2
    start: float = 0.5
    gravity: float = 9.81

    def description(self) -> ModelDescription:
        model = ModelDescription("pendulum_on_cart", gravity=np.array([0, 0, -self.gravity]))
        speed = 2 * np.pi * self.frequency * self.stroke
        model.add_body("ground", fixed=True)
        model.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1), vel=(speed, 0, 0))
        add_bar(
            model,
            XZ,
            "rod",
            (0, 0),
            self.start - np.pi / 2,
            length=self.length,
            mass=self.mass,
            velocity=(speed, 0.0),
        )
        add_hinge(model, XZ, "hinge", "cart", "rod", (0, 0))
        model.add_motor(
            "motor",
            MotorKind.LINEAR,
            "cart",
            "ground",
            pos=(0, 0, 0),
            axis=(1, 0, 0),
            actuation=Actuation.POSITION,
            function=FunctionDescription.sine(self.stroke, self.frequency),
        )
        return model

    def angle(self, time: float) -> float:
        """The angle from straight down: (l/3) x'' = -(g sin x + a cos x)/2 with the cart's acceleration a."""
        pulse = 2 * np.pi * self.frequency

        def acceleration(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
            cart = -self.stroke * pulse**2 * np.sin(pulse * t)
            return -1.5 / self.length * (self.gravity * np.sin(x) + cart * np.cos(x))

        return float(integrate(acceleration, np.array([self.start]), np.zeros(1), time, 4000)[0])


@dataclasses.dataclass(frozen=True)
class DoublePendulum:
    """Two uniform rods of 1 m and 1 kg, both horizontal at rest."""

    gravity: float = 9.81

    def description(self) -> ModelDescription:
        model = ModelDescription("double_pendulum", gravity=np.array([0, 0, -self.gravity]))
        model.add_body("ground", fixed=True)
        add_bar(model, XZ, "upper", (0, 0), 0.0, length=1.0, mass=1.0)
        add_bar(model, XZ, "lower", (1, 0), 0.0, length=1.0, mass=1.0)
        add_hinge(model, XZ, "shoulder", "ground", "upper", (0, 0))
        add_hinge(model, XZ, "elbow", "upper", "lower", (1, 0))
        return model

    def angles(self, time: float) -> np.ndarray:
        """Both angles from straight down, from Lagrange's equations (masses and lengths of one):

        4/3 x'' + 1/2 cos(x - y) y'' = -1/2 sin(x - y) y'^2 - 3/2 g sin x,
        1/2 cos(x - y) x'' + 1/3 y'' = 1/2 sin(x - y) x'^2 - 1/2 g sin y.
        """

        def acceleration(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
            c, s = 0.5 * np.cos(x[0] - x[1]), 0.5 * np.sin(x[0] - x[1])
            right = [
                -s * v[1] ** 2 - 1.5 * self.gravity * np.sin(x[0]),
                s * v[0] ** 2 - 0.5 * self.gravity * np.sin(x[1]),
            ]
            return np.linalg.solve(np.array([[4 / 3, c], [c, 1 / 3]]), np.array(right))

        return integrate(acceleration, np.full(2, np.pi / 2), np.zeros(2), time, round(2000 * time))
