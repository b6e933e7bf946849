"""Two sliders on crossed rails, kept apart by a massless rod."""

import dataclasses

import numpy as np

from jaxmbs import ConstraintKind, JointKind, ModelDescription
from tests.systems import jacobi
from tests.systems.base import AbstractSystem


@dataclasses.dataclass(frozen=True)
class Trammel(AbstractSystem):
    """Sliders of equal mass on rails along X and Z, the rod at `tilt` from the vertical, released at rest.

    The kinetic energy is m l^2 x'^2 / 2, so x'' = (g/l) sin x for the tilt x: a pendulum seen from above. The rod's
    compression follows from the slider on X, which only the rod pushes: C = m a / sin x.
    """

    mass: float = 1.0
    length: float = 1.0
    tilt: float = np.pi / 6
    gravity: float = 9.81

    t1 = 0.8
    dt = 1e-3
    tolerance = 1e-9

    def description(self) -> ModelDescription:
        model = ModelDescription("trammel", gravity=np.array([0, 0, -self.gravity]))
        model.add_body("ground", fixed=True)
        low = (self.length * np.sin(self.tilt), 0.0, 0.0)
        high = (0.0, 0.0, self.length * np.cos(self.tilt))
        for name, place, axis in (("low", low, (1, 0, 0)), ("high", high, (0, 0, 1))):
            model.add_body(name, mass=self.mass, inertia=(0.01, 0.01, 0.01), pos=place)
            model.add_joint(f"rail_{name}", JointKind.PRISMATIC, "ground", name, pos=place, axis=axis)
        model.add_constraint("rod", ConstraintKind.DISTANCE, "low", "high", point1=low, point2=high)
        return model

    def angle(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tilt from the vertical and its rate."""
        angle, rate = jacobi.pendulum(time, np.pi - self.tilt, float(np.sqrt(self.gravity / self.length)))
        return np.pi - angle, -rate

    def state(self, time: np.ndarray) -> dict[tuple[str, str | None], np.ndarray]:
        angle, rate = self.angle(time)
        s, c = np.sin(angle), np.cos(angle)
        bend = self.gravity / self.length * s
        # (l sin x)'' = l (cos x x'' - sin x x'^2); the force on `low` is along (s, 0, -c), on `high` opposite
        compression = self.mass * self.length * (c * bend - s * rate**2) / s
        none = np.zeros_like(time)
        return {
            ("body_pos", "low"): self.length * np.stack([s, none, none], axis=-1),
            ("body_pos", "high"): self.length * np.stack([none, none, c], axis=-1),
            ("body_vel", "low"): self.length * np.stack([c * rate, none, none], axis=-1),
            ("constraint_force", "rod"): compression[:, None] * np.stack([-s, none, c], axis=-1),
        }
