"""A free symmetric top, thrown."""

import dataclasses

import numpy as np

from jaxmbs import ModelDescription
from tests.systems import rotation
from tests.systems.base import AbstractSystem


@dataclasses.dataclass(frozen=True)
class FreeTop(AbstractSystem):
    """A body with moments (a, a, c), thrown with a spin; its reference frame is neither at the COM nor aligned.

    With the angular momentum L fixed in space, the attitude is exp(L t/a) q0 exp(omega_z (1 - c/a) t z): a turn about
    L and a turn about the symmetry axis (Landau & Lifshitz, Mechanics, section 33).
    """

    mass: float = 1.5
    transverse: float = 0.4
    axial: float = 0.25
    spin: tuple[float, ...] = (1.0, -2.0, 5.0)
    velocity: tuple[float, ...] = (0.3, -0.2, 4.0)
    gravity: float = 9.81

    t1 = 1.0
    dt = 2e-3
    tolerance = 1e-9

    # the frames of the body: reference in the world at the start, COM in the reference frame
    ref_pos = np.array([0.1, -0.3, 0.2])
    ref_quat = rotation.product(rotation.about([0, 0, 1], 0.7), rotation.about([1, 0, 0], -0.4))
    com_pos = np.array([0.05, 0.02, -0.03])
    com_quat = rotation.about([1, 2, -1], 0.9)

    def description(self) -> ModelDescription:
        model = ModelDescription("free_top", gravity=np.array([0, 0, -self.gravity]))
        turn = rotation.matrix(self.ref_quat)
        omega = rotation.matrix(self.com_quat) @ np.array(self.spin)
        vel = np.array(self.velocity) - turn @ np.cross(omega, self.com_pos)
        model.add_body(
            "top",
            mass=self.mass,
            inertia=(self.transverse, self.transverse, self.axial),
            pos=self.ref_pos,
            quat=self.ref_quat,
            com_pos=self.com_pos,
            com_quat=self.com_quat,
            vel=vel,
            omega=omega,
        )
        return model

    def state(self, time: np.ndarray) -> dict[tuple[str, str | None], np.ndarray]:
        start = rotation.product(self.ref_quat, self.com_quat)
        spin = np.array(self.spin)
        momentum = rotation.matrix(start) @ (np.array([self.transverse, self.transverse, self.axial]) * spin)
        own = spin[2] * (1 - self.axial / self.transverse)
        precession = rotation.about(momentum, np.linalg.norm(momentum) / self.transverse * time)
        quat = rotation.product(rotation.product(precession, start), rotation.about([0, 0, 1], own * time))
        # in COM axes the transverse spin turns about z at the rate -own
        c, s = np.cos(own * time), np.sin(own * time)
        omega = np.stack([c * spin[0] + s * spin[1], -s * spin[0] + c * spin[1], np.full_like(c, spin[2])], axis=-1)
        fall = np.array([0.0, 0.0, -self.gravity])
        t = time[:, None]
        start_pos = self.ref_pos + rotation.matrix(self.ref_quat) @ self.com_pos
        moments = np.array([self.transverse, self.transverse, self.axial])
        vel = np.array(self.velocity) + fall * t
        kinetic = 0.5 * self.mass * np.sum(vel**2, axis=-1) + 0.5 * np.sum(moments * spin**2)
        return {
            ("body_pos", "top"): start_pos + np.array(self.velocity) * t + 0.5 * fall * t**2,
            ("body_quat", "top"): quat,
            ("body_vel", "top"): vel,
            ("body_omega", "top"): omega,
            ("energy_kinetic", None): kinetic,
        }
