"""Linear oscillators, translational and rotational."""

import dataclasses

import numpy as np

from jaxmbs import JointKind, ModelDescription
from tests.systems.base import AbstractSystem


def free_oscillation(
    time: np.ndarray, start: float, speed: float, frequency: float, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """Position and speed of x'' + 2 damping frequency x' + frequency^2 x = 0 for damping < 1."""
    decay, ringing = damping * frequency, frequency * np.sqrt(1 - damping**2)
    second = (speed + decay * start) / ringing
    c, s, fade = np.cos(ringing * time), np.sin(ringing * time), np.exp(-decay * time)
    x = fade * (start * c + second * s)
    return x, -decay * x + fade * ringing * (second * c - start * s)


@dataclasses.dataclass(frozen=True)
class SpringDamper(AbstractSystem):
    """Two decoupled oscillators: a weight on a vertical guide and a TSDA, a wheel on an axle and a RSDA.

    Weight: the TSDA's upper end is fixed; its length L obeys m L'' = m g - k (L - L0) - c L' + preload. Wheel: turns
    (several, both ways) with J x'' = preload - k (x - x0) - c x'.
    """

    mass: float = 2.0
    stiffness: float = 80.0
    damping: float = 3.0
    free_length: float = 0.4
    preload: float = 5.0
    length: float = 0.7
    gravity: float = 9.81
    inertia: float = 0.3
    twist_stiffness: float = 2.0
    twist_damping: float = 0.1
    free_angle: float = 1.0
    twist_preload: float = 0.5
    spin: float = 40.0

    t1 = 3.0
    dt = 2e-3
    tolerance = 1e-8

    def description(self) -> ModelDescription:
        model = ModelDescription("spring_damper", gravity=np.array([0, 0, -self.gravity]))
        model.add_body("ground", fixed=True)
        down = np.array([0.0, 0.0, -self.length])
        model.add_body("weight", mass=self.mass, inertia=(0.1, 0.1, 0.1), pos=down)
        model.add_joint("guide", JointKind.PRISMATIC, "ground", "weight", pos=down, axis=(0, 0, 1))
        model.add_tsda(
            "spring",
            "ground",
            "weight",
            point1=(0, 0, 0),
            point2=down,
            free_length=self.free_length,
            preload=self.preload,
            stiffness=self.stiffness,
            damping=self.damping,
        )
        model.add_body("wheel", mass=1.0, inertia=(0.2, self.inertia, 0.2), pos=(1, 0, 0), omega=(0, self.spin, 0))
        model.add_joint("axle", JointKind.REVOLUTE, "ground", "wheel", pos=(1, 0, 0), axis=(0, 1, 0))
        model.add_rsda(
            "twist",
            "ground",
            "wheel",
            pos=(1, 0, 0),
            axis=(0, 1, 0),
            free_angle=self.free_angle,
            preload=self.twist_preload,
            stiffness=self.twist_stiffness,
            damping=self.twist_damping,
        )
        return model

    def state(self, time: np.ndarray) -> dict[tuple[str, str | None], np.ndarray]:
        rest = self.free_length + (self.mass * self.gravity + self.preload) / self.stiffness
        frequency = np.sqrt(self.stiffness / self.mass)
        ratio = self.damping / (2 * self.mass * frequency)
        x, v = free_oscillation(time, self.length - rest, 0.0, frequency, ratio)
        length = rest + x
        force = self.preload - self.stiffness * (length - self.free_length) - self.damping * v
        rest = self.free_angle + self.twist_preload / self.twist_stiffness
        frequency = np.sqrt(self.twist_stiffness / self.inertia)
        ratio = self.twist_damping / (2 * self.inertia * frequency)
        turn, spin = free_oscillation(time, -rest, self.spin, frequency, ratio)
        angle = rest + turn
        torque = self.twist_preload - self.twist_stiffness * (angle - self.free_angle) - self.twist_damping * spin
        none = np.zeros_like(time)
        return {
            ("body_pos", "weight"): np.stack([none, none, -length], axis=-1),
            ("tsda_length", "spring"): length,
            ("tsda_rate", "spring"): v,
            ("tsda_force", "spring"): force,
            ("joint_force", "guide"): np.zeros((time.size, 3)),
            ("rsda_angle", "twist"): angle,
            ("rsda_rate", "twist"): spin,
            ("rsda_torque", "twist"): torque,
            ("joint_angle", "axle"): angle,
        }
