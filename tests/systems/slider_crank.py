"""A slider-crank whose crank turns at a constant rate."""

import dataclasses

import numpy as np

from jaxmbs import Actuation, FunctionDescription, JointKind, ModelDescription, MotorKind
from tests.systems.base import AbstractSystem
from tests.systems.planar import XZ, add_bar, add_hinge, direction, wrapped


@dataclasses.dataclass(frozen=True)
class SliderCrank(AbstractSystem):
    """Crank and rod in line at the start, the slider on a rail along X; the motor turns the crank by `rate` t.

    The motor lists the crank first, so that its angle is that of the crank.
    """

    crank: float = 0.1
    rod: float = 0.3
    rate: float = 10.0

    t1 = 0.7
    dt = 5e-3
    tolerance = 1e-8

    def description(self) -> ModelDescription:
        model = ModelDescription("slider_crank", gravity=np.array([0, 0, -9.81]))
        model.add_body("ground", fixed=True)
        elbow, end = (self.crank, 0.0), (self.crank + self.rod, 0.0)
        add_bar(model, XZ, "crank", (0, 0), 0.0, length=self.crank, mass=0.4, rate=self.rate)
        tip = (0.0, self.rate * self.crank)
        spin = -self.rate * self.crank / self.rod
        add_bar(model, XZ, "rod", elbow, 0.0, length=self.rod, mass=0.6, velocity=tip, rate=spin)
        model.add_body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01), pos=XZ.point(end))
        add_hinge(model, XZ, "elbow", "crank", "rod", elbow)
        add_hinge(model, XZ, "wrist", "rod", "slider", end)
        model.add_joint("rail", JointKind.PRISMATIC, "ground", "slider", pos=XZ.point(end), axis=(1, 0, 0))
        model.add_motor(
            "motor",
            MotorKind.ROTATION,
            "crank",
            "ground",
            pos=(0, 0, 0),
            axis=XZ.normal,
            actuation=Actuation.POSITION,
            function=FunctionDescription.ramp(self.rate),
        )
        return model

    def slider(self, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and speed of the slider along X at a crank angle."""
        s, c = np.sin(angle), np.cos(angle)
        projected = np.sqrt(self.rod**2 - (self.crank * s) ** 2)
        x = self.crank * c + projected
        return x, -self.rate * self.crank * s * (1 + self.crank * c / projected)

    def state(self, time: np.ndarray) -> dict[tuple[str, str | None], np.ndarray]:
        angle = self.rate * time
        x, v = self.slider(angle)
        none = np.zeros_like(time)
        elbow = self.crank * direction(angle)
        tilt = -np.arcsin(self.crank * np.sin(angle) / self.rod)
        rod = elbow + 0.5 * self.rod * direction(tilt)
        return {
            ("body_pos", "slider"): np.stack([x, none, none], axis=-1),
            ("body_vel", "slider"): np.stack([v, none, none], axis=-1),
            ("body_pos", "rod"): XZ.point(rod),
            ("body_quat", "rod"): XZ.quat(tilt),
            ("body_quat", "crank"): XZ.quat(wrapped(angle)),
            ("motor_pos", "motor"): angle,
            ("motor_vel", "motor"): np.full_like(time, self.rate),
        }
