"""A planar four-bar linkage from plain revolute joints: one degree of freedom, three redundant rows."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxmbs import ModelDescription
from tests.systems.order import integrate
from tests.systems.planar import XZ, Plane, add_bar, add_hinge, direction


BARS = ("crank", "coupler", "rocker")


@dataclasses.dataclass(frozen=True)
class FourBar:
    """Uniform bars of 1 kg/m, released at rest; gravity along the plane's second axis.

    The coupler joins the tips of crank and rocker; the open branch, the rocker's tip above the ground line.
    """

    ground: float = 1.0
    crank: float = 0.3
    coupler: float = 0.9
    rocker: float = 0.7
    start: float = np.pi / 3
    gravity: float = 9.81
    plane: Plane = XZ

    def angles(self, crank: float) -> dict[str, float]:
        """Angles of the bars in the plane for a crank angle, by the law of cosines."""
        tip = self.crank * direction(crank)
        gap = np.array([self.ground, 0.0]) - tip
        span = float(np.linalg.norm(gap))
        lift = np.arccos((span**2 + self.coupler**2 - self.rocker**2) / (2 * span * self.coupler))
        coupler = float(np.arctan2(gap[1], gap[0]) + lift)
        end = tip + self.coupler * direction(coupler) - [self.ground, 0.0]
        return {"crank": crank, "coupler": coupler, "rocker": float(np.arctan2(end[1], end[0]))}

    def effective_inertia(self, crank: float) -> float:
        """Twice the kinetic energy over the square of the crank's rate [kg m2]."""
        angle = self.angles(crank)
        coupler, rocker = angle["coupler"], angle["rocker"]
        spread = np.sin(rocker - coupler)
        # rates of coupler and rocker for a unit rate of the crank
        to_coupler = self.crank * np.sin(crank - rocker) / (self.coupler * spread)
        to_rocker = self.crank * np.sin(crank - coupler) / (self.rocker * spread)
        mid = self.crank * direction(crank + np.pi / 2)
        mid = mid + 0.5 * self.coupler * to_coupler * direction(coupler + np.pi / 2)
        turning = (self.crank**3 + self.rocker**3 * to_rocker**2) / 3 + self.coupler**3 * to_coupler**2 / 12
        return float(turning + self.coupler * mid @ mid)

    def crank_angle(self, time: float) -> float:
        """The crank angle from the equation of one coordinate, J x'' + J' x'^2 / 2 + V' = 0, without any joint."""
        tiny = 1e-5

        def acceleration(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
            angle = float(x[0])
            slopes = [
                (function(angle + tiny) - function(angle - tiny)) / (2 * tiny)
                for function in (self.effective_inertia, self.energy)
            ]
            return -(0.5 * slopes[0] * v**2 + slopes[1]) / self.effective_inertia(angle)

        return float(integrate(acceleration, np.array([self.start]), np.zeros(1), time, round(2000 * time))[0])

    def energy(self, crank: float) -> float:
        """The potential energy of the bars at rest [J]; zero at the height of the ground pivots."""
        angle = self.angles(crank)
        mid = {
            "crank": 0.5 * self.crank * np.sin(crank),
            "rocker": 0.5 * self.rocker * np.sin(angle["rocker"]),
            "coupler": self.crank * np.sin(crank) + 0.5 * self.coupler * np.sin(angle["coupler"]),
        }
        return self.gravity * sum(getattr(self, name) * mid[name] for name in BARS)

    def description(self, order: Sequence[str] = ("ground", *BARS)) -> ModelDescription:
        """The linkage with its bodies listed in an order; joints are listed the same way always."""
        plane, angle = self.plane, self.angles(self.start)
        model = ModelDescription("four_bar", gravity=-self.gravity * plane.point([0.0, 1.0]))
        tip, pivot = self.crank * direction(self.start), np.array([self.ground, 0.0])
        end = pivot + self.rocker * direction(angle["rocker"])
        origin = {"crank": (0.0, 0.0), "coupler": tip, "rocker": pivot}
        for name in order:
            if name == "ground":
                model.add_body("ground", fixed=True)
            else:
                length = getattr(self, name)
                add_bar(model, plane, name, origin[name], angle[name], length=length, mass=length)
        add_hinge(model, plane, "crank_pivot", "ground", "crank", (0.0, 0.0))
        add_hinge(model, plane, "elbow", "crank", "coupler", tip)
        add_hinge(model, plane, "knee", "coupler", "rocker", end)
        add_hinge(model, plane, "rocker_pivot", "ground", "rocker", pivot)
        return model
