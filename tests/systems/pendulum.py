"""A body that swings about a fixed axis."""

import dataclasses

import numpy as np

from jaxmbs import JointKind, ModelDescription
from tests.systems import jacobi, rotation
from tests.systems.base import AbstractSystem


@dataclasses.dataclass(frozen=True)
class Pendulum(AbstractSystem):
    """A body on a hinge along Y, released at rest at `amplitude` from hanging down (COM at +x for pi/2).

    With J = inertia + mass com^2 the angle follows x'' = -(mass g com / J) sin x. The hinge carries the weight and
    the centripetal and tangential inertia forces of the COM.
    """

    mass: float = 2.0
    inertia: float = 0.1
    com: float = 0.5
    amplitude: float = np.pi / 2
    gravity: float = 9.81
    #: Where the reference frame sits: the distance of its origin from the COM along the arm, and its turn about Y.
    frame_offset: float = 0.5
    frame_turn: float = 0.0

    t1 = 2.0
    dt = 1e-3
    tolerance = 1e-9

    @property
    def frequency(self) -> float:
        """Of small swings [rad/s]."""
        return float(np.sqrt(self.mass * self.gravity * self.com / (self.inertia + self.mass * self.com**2)))

    @property
    def time_to_bottom(self) -> float:
        return jacobi.quarter_period(float(np.sin(self.amplitude / 2) ** 2)) / self.frequency

    def arm(self, angle: np.ndarray) -> np.ndarray:
        """The direction from the hinge to the COM, `angle` from straight down."""
        return np.stack([np.sin(angle), np.zeros_like(angle), -np.cos(angle)], axis=-1)

    def description(self) -> ModelDescription:
        model = ModelDescription("pendulum", gravity=np.array([0, 0, -self.gravity]))
        model.add_body("ground", fixed=True)
        # the arm is the body's x axis: turned about Y from world X by pi/2 - amplitude
        turn = np.pi / 2 - self.amplitude + self.frame_turn
        model.add_body(
            "bob",
            mass=self.mass,
            inertia=(self.inertia,) * 3,
            pos=(self.com - self.frame_offset) * self.arm(np.array(self.amplitude)),
            quat=rotation.about([0, 1, 0], turn),
            com_pos=self.frame_offset * np.array([np.cos(self.frame_turn), 0.0, np.sin(self.frame_turn)]),
        )
        model.add_joint("hinge", JointKind.REVOLUTE, "ground", "bob", pos=(0, 0, 0), axis=(0, 1, 0))
        return model

    def state(self, time: np.ndarray) -> dict[tuple[str, str | None], np.ndarray]:
        angle, rate = jacobi.pendulum(time, self.amplitude, self.frequency)
        acceleration = -(self.frequency**2) * np.sin(angle)
        radial, tangential = self.arm(angle), self.arm(angle + np.pi / 2)
        # turns about +Y take x towards -z: the angle from straight down falls while the body turns that way
        spin = np.array([0.0, 1.0, 0.0])
        acc = self.com * (acceleration[:, None] * tangential - rate[:, None] ** 2 * radial)
        return {
            ("body_pos", "bob"): self.com * radial,
            ("body_vel", "bob"): self.com * rate[:, None] * tangential,
            ("body_omega", "bob"): -rate[:, None] * spin,
            ("body_acc", "bob"): acc,
            ("joint_angle", "hinge"): self.amplitude - angle,
            ("joint_angle_rate", "hinge"): -rate,
            ("joint_force", "hinge"): self.mass * (acc + np.array([0.0, 0.0, self.gravity])),
            ("joint_torque", "hinge"): np.zeros((time.size, 3)),
            ("energy_kinetic", None): 0.5 * (self.inertia + self.mass * self.com**2) * rate**2,
            ("energy_potential", None): -self.mass * self.gravity * self.com * np.cos(angle),
        }
