"""The N-four-bar benchmark: N + 1 vertical bars on the ground, joined at their tips by N couplers."""

import dataclasses

import numpy as np

from jaxmbs import ModelDescription
from tests.systems.planar import XY, add_bar, add_hinge


@dataclasses.dataclass(frozen=True)
class FourBars:
    """Bars of 1 m and 1 kg; all tips start at 1 m/s along X. Gravity along -Y.

    The linkage passes the pose in which all bars lie in one line, where it has more degrees of freedom for an instant.
    """

    loops: int = 2
    gravity: float = 9.81
    speed: float = 1.0

    @property
    def energy(self) -> float:
        """Kinetic and potential energy at the start [J]; zero at the height of the ground pivots."""
        bars = self.loops + 1
        kinetic = 0.5 * (bars / 3 + self.loops) * self.speed**2
        return kinetic + self.gravity * (0.5 * bars + self.loops)

    def description(self) -> ModelDescription:
        model = ModelDescription("four_bars", gravity=np.array([0.0, -self.gravity, 0.0]))
        model.add_body("ground", fixed=True)
        for k in range(self.loops + 1):
            add_bar(model, XY, f"bar{k}", (k, 0), np.pi / 2, length=1.0, mass=1.0, rate=-self.speed)
            add_hinge(model, XY, f"pivot{k}", "ground", f"bar{k}", (k, 0))
        for k in range(self.loops):
            add_bar(model, XY, f"coupler{k}", (k, 1), 0.0, length=1.0, mass=1.0, velocity=(self.speed, 0.0))
            add_hinge(model, XY, f"left{k}", f"bar{k}", f"coupler{k}", (k, 1))
            add_hinge(model, XY, f"right{k}", f"bar{k + 1}", f"coupler{k}", (k + 1, 1))
        return model
