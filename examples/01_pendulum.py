"""A pendulum that swings widely: after one period of the closed form it is back where it started."""

import jax
import numpy as np

import jaxmbs as mbs


jax.config.update("jax_enable_x64", True)

LENGTH, MASS, G, START = 1.0, 2.0, 9.81, np.radians(120)  # a uniform rod, released 120 degrees from hanging


def period() -> float:
    """The period of the rod by the arithmetic-geometric mean."""
    a, b = 1.0, np.cos(START / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return 2 * np.pi / a * np.sqrt(2 * LENGTH / (3 * G))


# Everything is given in the world at t = 0: the rod swings in the x-z plane about the origin.
along = np.array([np.sin(START), 0.0, -np.cos(START)])
pendulum = mbs.ModelDescription(name="pendulum", gravity=np.array([0.0, 0.0, -G]))
pendulum.add_body("ground", fixed=True)
pendulum.add_body("rod", mass=MASS, inertia=np.full(3, MASS * LENGTH**2 / 12), pos=along * LENGTH / 2)
pendulum.add_joint("pivot", mbs.JointKind.REVOLUTE, "ground", "rod", pos=[0, 0, 0], axis=[0, -1, 0])

solution = mbs.simulate(mbs.compile_model(pendulum), t1=period(), dt=2e-3)
result = solution.to_xarray()

angle = result["joint_angle"].sel(joint="pivot")
energy = result["energy_kinetic"] + result["energy_potential"]
reaction = np.linalg.norm(result["joint_force"].sel(joint="pivot"), axis=-1)
print(f"period {period():.6f} s")
print(f"swing {np.degrees(float(angle.min())):.4f} degrees")
print(f"angle after one period {abs(float(angle[-1])):.1e} rad")
print(f"energy error {float(abs(energy - energy[0]).max()):.0e} J")
print(f"largest reaction {reaction.max():.4f} N")
