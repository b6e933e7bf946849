"""What the law tests look at: one compiled function of a group of elements, evaluated on many states at once."""

import dataclasses
import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import jaxmbs as mbs
from jaxmbs._inputs import Inputs, make_inputs
from jaxmbs._kinematics import Kinematics, Pose, Wrench
from jaxmbs._math import Vec3
from jaxmbs._outputs import evaluate_outputs
from jaxmbs.dynamics.acceleration import body_rows, element_wrenches, six, solve_motion, state_rate
from jaxmbs.dynamics.energy import kinetic_energy, potential_energy
from jaxmbs.dynamics.system import LaneState, System, kinematics, make_system, state_to_lanes
from jaxmbs.forces import AbstractForce
from tests.laws.elements import GROUPS, INPUTS, build_model, random_states, random_times


def inputs_of(model: mbs.Model) -> Inputs:
    """The external values that the elements of a model ask for."""
    return make_inputs(model, {name: value for name, value in INPUTS.items() if name in model.input_names()})


def in_lanes(model: mbs.Model, inputs: Inputs, state: mbs.State, time: Array) -> tuple[System, LaneState, Array]:
    """The kernel's view of a model, of states on one leading batch axis and of a time for each."""
    batch = time.shape
    return make_system(model, inputs, batch), state_to_lanes(model, state, batch), time.reshape(1, -1)


def six_of(wrench: Wrench, shape: tuple[int, int]) -> Array:
    """(elements, 6, lanes), force before torque."""
    return jnp.broadcast_to(six(wrench.force, wrench.torque), (shape[0], 6, shape[1]))


def _stored_power(
    system: System, place: int, force: AbstractForce, y: LaneState, body1: Kinematics, body2: Kinematics
) -> Array:
    """The rate of every element's potential energy along the motion, (elements, lanes)."""
    shape = (force.count, y.work.shape[-1])

    def full(pose: Pose) -> Pose:
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, shape), pose)

    def energy(pose1: Pose, pose2: Pose) -> Array:
        return force.potential(system.anchors[place], pose1, pose2, y.aux[place])

    poses, motions = (full(body1.pose), full(body2.pose)), (full(body1.motion()), full(body2.motion()))
    return jnp.broadcast_to(jax.jvp(energy, poses, motions)[1], shape)


@eqx.filter_jit
def evaluate(model: mbs.Model, inputs: Inputs, state: mbs.State, time: Array) -> dict[str, Any]:
    """Everything about a batch of states, one lane each; the keys are explained where they are made."""
    system, y, t = in_lanes(model, inputs, state, time)
    motion = solve_motion(system, t, t, y)
    rate = state_rate(system, y, motion)
    body = body_rows(motion.bodies)

    def energies(y: LaneState) -> tuple[Array, Array]:
        bodies = kinematics(system, y)
        return kinetic_energy(system, bodies), potential_energy(system, bodies, y)

    _, energy_rate = jax.jvp(energies, (y,), (rate,))
    targets = jax.tree.map(jnp.negative, motion.rows.rates)
    ((velocity, _),) = motion.solver.constrain_all([(six(body.vel, body.omega), targets)])
    spin = body.rot.transposed_times(Vec3.of(velocity[:, 3:]))
    wrenches, power, stored = {}, {}, {}
    for place, force in system.forces():
        first, second, on1, on2 = element_wrenches(system, place, force, motion.bodies, y, motion.context)
        name, shape = type(force).__name__, (force.count, y.work.shape[-1])
        wrenches[name] = (six_of(on1, shape), six_of(on2, shape))
        power[name] = jnp.broadcast_to(on1.power(first) + on2.power(second), shape)
        stored[name] = _stored_power(system, place, force, y, first, second)
    return {
        # what a result holds, by name, lanes leading
        "outputs": evaluate_outputs(model, inputs, time, time, state),
        # the nearest velocities that the constraints allow, as State fields
        "vel": jnp.moveaxis(velocity[:, :3], -1, 0),
        "omega": jnp.moveaxis(spin.array(), -1, 0),
        # COM positions (bodies, 3, lanes)
        "pos": body.pose.pos.array(),
        # rows of constraints: multipliers (rows, lanes) and Jacobians (rows, 6, lanes) of both bodies
        "multipliers": motion.rows.together(motion.multipliers),
        "jacobian1": motion.rows.jacobian1,
        "jacobian2": motion.rows.jacobian2,
        # rates of kinetic and potential energy along the motion; rates of dissipation, motor work, load work
        "energy_rate": energy_rate,
        "work_rate": motion.work_rate,
        # by type of force: wrenches on both bodies (elements, 6, lanes), power, and the rate of the stored energy
        "wrenches": wrenches,
        "power": power,
        "stored": stored,
    }


@dataclasses.dataclass(frozen=True)
class Sample:
    """A group on its 64 random states, whose velocities satisfy the constraints, and what `evaluate` says of them."""

    model: mbs.Model
    inputs: Inputs
    state: mbs.State
    time: Array
    result: dict[str, Any]


@functools.cache
def sample(group: str) -> Sample:
    """Random states of a group of elements, evaluated in float64."""
    model = build_model(names=GROUPS[group])
    inputs, state, time = inputs_of(model), random_states(model), jnp.asarray(random_times())
    raw = evaluate(model, inputs, state, time)
    state = dataclasses.replace(state, vel=raw["vel"], omega=raw["omega"])
    result = jax.tree.map(np.asarray, evaluate(model, inputs, state, time))
    return Sample(model, inputs, state, time, result)
