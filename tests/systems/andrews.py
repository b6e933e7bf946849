"""Andrews' squeezer mechanism: seven planar bodies in three loops, without gravity.

**References:** Hairer & Wanner, Solving Ordinary Differential Equations II, section VII.7; Mazzia & Magherini, Test Set
for Initial Value Problem Solvers (problem Andrews), whose numbers are used here.
"""

import dataclasses

import numpy as np

from jaxmbs import LoadKind, ModelDescription
from tests.systems.planar import XY, add_hinge, add_link, direction


#: The seven angles at the start: beta, Theta, gamma, Phi, delta, Omega, epsilon [rad].
START = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)
#: The same and their rates at 0.03 s (PSIDE, tolerance 1e-14).
AT_30_MS = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
)
RATES_AT_30_MS = (
    1139.920302151208,
    -1424.379294994111,
    11.03291221937134,
    19.29337464421385,
    0.5735699284790808,
    -19.29337464421385,
    0.3231791658026955,
)


@dataclasses.dataclass(frozen=True)
class Body:
    """Mass [kg], moment of inertia about the COM [kg m2], COM in the body's axes [m]."""

    mass: float
    inertia: float
    com: tuple[float, float]


BODIES = {
    "crank": Body(0.04325, 2.194e-6, (0.00092, 0.0)),
    "link_fe": Body(0.00365, 4.410e-7, (-0.0115, 0.0)),
    "plate": Body(0.02373, 5.255e-6, (0.01043, -0.01874)),
    "link_eg": Body(0.00706, 5.667e-7, (0.0, 0.01421)),
    "arm_g": Body(0.07050, 1.169e-5, (0.02308, 0.00916)),
    "link_he": Body(0.00706, 5.667e-7, (-0.01421, 0.0)),
    "arm_h": Body(0.05498, 1.912e-5, (-0.00449, -0.01228)),
}
#: Ground points [m].
O, A, B, C = (np.array(point) for point in ((0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)))
CRANK, LINK_FE, LINK, ARM, PLATE = 0.007, 0.028, 0.02, 0.04, 0.035
TORQUE, STIFFNESS, FREE_LENGTH = 0.033, 4530.0, 0.07785


def absolute(angles: np.ndarray | tuple[float, ...]) -> dict[str, np.ndarray]:
    """The angle of every body's x axis from the seven angles of the test set (also for rates)."""
    beta, theta, gamma, phi, delta, omega, epsilon = np.moveaxis(np.asarray(angles), -1, 0)
    return {
        "crank": beta,
        "link_fe": beta + theta,
        "plate": gamma,
        "link_eg": phi + delta,
        "arm_g": delta,
        "link_he": omega + epsilon,
        "arm_h": epsilon,
    }


def description() -> ModelDescription:
    angle = {name: float(value) for name, value in absolute(START).items()}
    across = {name: direction(value + np.pi / 2) for name, value in angle.items()}
    f = O + CRANK * direction(angle["crank"])
    e = f - LINK_FE * direction(angle["link_fe"])
    g = A + ARM * direction(angle["arm_g"])
    h = A - ARM * across["arm_h"]
    # the origins of the body axes in which the COM is given
    origin = {"crank": O, "link_fe": f, "plate": B, "link_eg": e, "arm_g": A, "link_he": e, "arm_h": A}
    # every loop closes: plate, link EG and link HE meet in E
    assert np.allclose(e, B - PLATE * across["plate"], rtol=0, atol=1e-15)
    assert np.allclose(g, e + LINK * across["link_eg"], rtol=0, atol=1e-15)
    assert np.allclose(h, e - LINK * direction(angle["link_he"]), rtol=0, atol=1e-15)
    model = ModelDescription("andrews", gravity=np.zeros(3))
    model.add_body("ground", fixed=True)
    for name, body in BODIES.items():
        add_link(model, XY, name, origin[name], angle[name], mass=body.mass, inertia=body.inertia, com=body.com)
    hinges = (
        ("o", "ground", "crank", O),
        ("f", "crank", "link_fe", f),
        ("e", "plate", "link_fe", e),
        ("e_g", "plate", "link_eg", e),
        ("e_h", "plate", "link_he", e),
        ("b", "ground", "plate", B),
        ("g", "arm_g", "link_eg", g),
        ("h", "arm_h", "link_he", h),
        ("a_g", "ground", "arm_g", A),
        ("a_h", "ground", "arm_h", A),
    )
    for name, body1, body2, point in hinges:
        add_hinge(model, XY, name, body1, body2, point)
    d = B + 0.02 * direction(angle["plate"]) - 0.018 * across["plate"]
    model.add_tsda(
        "spring",
        "ground",
        "plate",
        point1=XY.point(C),
        point2=XY.point(d),
        free_length=FREE_LENGTH,
        stiffness=STIFFNESS,
    )
    model.add_load("drive", LoadKind.TORQUE, "crank", load=(0, 0, TORQUE))
    return model
