"""What the engines' errors are measured against, and the proof that all engines have the same mechanism."""

import functools

import jax.numpy as jnp
import numpy as np

import jaxmbs as mbs
from benchmarks.models import MECHANISMS, Mechanism
from benchmarks.peers import MujocoModel


#: Of our default integrator, a method of order 5, for the reference [s].
REFERENCE_STEP = 2.5e-4


@functools.cache
def reference(name: str, t1: float) -> np.ndarray:
    """(links, 3) centres of mass at t1 from our default integrator in float64 at a small step [m]."""
    return positions(MECHANISMS[name](), t1, REFERENCE_STEP)


def positions(mechanism: Mechanism, t1: float, dt: float) -> np.ndarray:
    """(links, 3) centres of mass at t1 from our default integrator in float64 [m]."""
    model = mbs.compile_model(mechanism.describe(), dtype=jnp.float64)
    return np.asarray(mbs.simulate(model, t1=t1, dt=dt, save_at=[t1]).ys.pos)[-1, 1:]


def accelerations(mechanism: Mechanism) -> np.ndarray:
    """(links, 3) accelerations of the centres of mass at t = 0, ours [m/s2]."""
    model = mbs.compile_model(mechanism.describe(), dtype=jnp.float64)
    first = mbs.simulate(model, t1=1e-6, dt=1e-6, save_at=[0.0])
    return np.asarray(first.outputs()["body_acc"])[0, 1:]


def mujoco_positions(mechanism: Mechanism, t1: float, dt: float) -> np.ndarray:
    """(links, 3) centres of mass at t1 from MuJoCo's Runge-Kutta method of order 4, with stiff loops [m]."""
    built = MujocoModel(mechanism, dt, "RK4")
    built.stiffen()
    built.evaluate(built.states(mechanism.rates()[None])[0])
    for _ in range(round(t1 / dt)):
        built.mujoco.mj_step(built.model, built.data)
    built.mujoco.mj_forward(built.model, built.data)
    return built.data.xipos[1:].copy()


def mujoco_accelerations(mechanism: Mechanism) -> np.ndarray:
    """(links, 3) accelerations of the centres of mass at t = 0 from MuJoCo with stiff loops [m/s2]."""
    built = MujocoModel(mechanism, 1e-3)
    built.stiffen()
    data = built.evaluate(built.states(mechanism.rates()[None])[0])
    built.mujoco.mj_rnePostConstraint(built.model, data)
    found = np.zeros((len(mechanism.links), 6))
    body = int(built.mujoco.mjtObj.mjOBJ_BODY)
    for index, row in enumerate(found, start=1):
        # with respect to the centre of mass, world axes: rotation first; MuJoCo's world accelerates against gravity
        built.mujoco.mj_objectAcceleration(built.model, data, body, index, row, 0)
    return found[:, 3:] + np.array(mechanism.gravity)
