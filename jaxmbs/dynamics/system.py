"""A mechanism in the kernel layout, with its body-frame anchors, and its state."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._context import Context
from jaxmbs._gather import take
from jaxmbs._inputs import Inputs, evaluate_inputs, function_inputs
from jaxmbs._kinematics import Kinematics, Pose
from jaxmbs._lanes import batch_shape, to_lanes
from jaxmbs._math import Quat, Sym3, Vec3
from jaxmbs._model import Model
from jaxmbs._state import State
from jaxmbs.constraints import AbstractConstraint
from jaxmbs.forces import AbstractForce


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LaneState:
    """`State` by component: bodies on the first axis, lanes on the last.

    - omega: in COM axes.
    - failure: (2, lanes): the time at which the lane failed and the code of the reason, zero while it has not.
    """

    pose: Pose
    vel: Vec3
    omega: Vec3
    #: A list: Python shares one empty tuple, which confuses the buffers of Equinox's loops.
    aux: list[Array]
    work: Array
    failure: Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BodyKinematics:
    """Kinematics of all bodies, and of the world in one more row at the end."""

    all: Kinematics
    inertia_world: Sym3


class System(eqx.Module):
    """The traced constants of a run: model and inputs in lanes, and what derives from them.

    - anchors: for every constraint type and then every force type, what `attach` returned.
    - inverse_mass: (bodies, lanes); inverse_inertia: in COM axes; both zero for fixed bodies.
    """

    model: Model
    inputs: Inputs
    anchors: tuple[Any, ...]
    inertia: Sym3
    inverse_mass: Array
    inverse_inertia: Sym3

    @property
    def elements(self) -> tuple[AbstractConstraint | AbstractForce, ...]:
        """Constraint stacks and then force stacks: the order of `anchors` and of `LaneState.aux`."""
        return (*self.model.constraints, *self.model.forces)

    def constraints(self) -> list[tuple[int, AbstractConstraint]]:
        """Constraint stacks with their place in `anchors` and `aux`."""
        return list(enumerate(self.model.constraints))

    def forces(self) -> list[tuple[int, AbstractForce]]:
        """Force stacks with their place in `anchors` and `aux`."""
        return list(enumerate(self.model.forces, start=len(self.model.constraints)))


def _still(model: Model, vel: Vec3, omega: Vec3) -> tuple[Vec3, Vec3]:
    """The velocities, zero for fixed bodies."""
    moving = model.bodies.moving
    return vel.where(moving, Vec3.zeros(vel.x)), omega.where(moving, Vec3.zeros(omega.x))


def make_system(model: Model, inputs: Inputs, batch: tuple[int, ...]) -> System:
    """Put a model in lanes and derive the body-frame anchors from the poses at t = 0."""
    lanes = to_lanes(model, model.leaf_ndims, batch)
    rest = with_world(lanes.bodies.rest())
    anchors = tuple(
        element.attach(take(rest, element.body1), take(rest, element.body2))
        for element in (*lanes.constraints, *lanes.forces)
    )
    inertia = lanes.bodies.inertia_tensor()
    moving = lanes.bodies.moving
    inverse = jax.tree.map(lambda leaf: jnp.where(moving, leaf, 0.0), inertia.inverse())
    return System(
        model=lanes,
        inputs=inputs.to_lanes(batch),
        anchors=anchors,
        inertia=inertia,
        inverse_mass=lanes.bodies.inverse_mass(),
        inverse_inertia=inverse,
    )


def common_batch(model: Model, inputs: Inputs, state: State | None) -> tuple[int, ...]:
    """The batch shape of model, inputs and state together.

    **Raises** `ValueError` when they do not fit.
    """
    shapes = [model.batch_shape, inputs.batch_shape()]
    if state is not None:
        shapes.append(batch_shape(state, state.core_ndims()))
    try:
        return jnp.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"the batch shapes of model, inputs and state do not fit together: {shapes}") from None


def with_world(tree: Any) -> Any:
    """Append a row for the world, at rest at the origin, to every leaf (bodies, lanes)."""

    def extend(leaf: Array, value: float) -> Array:
        return jnp.concatenate([leaf, jnp.full_like(leaf[:1], value)])

    def extend_quat(quat: Quat) -> Quat:
        return Quat(extend(quat.w, 1.0), *(extend(c, 0.0) for c in (quat.x, quat.y, quat.z)))

    return jax.tree.map(
        lambda node: extend_quat(node) if isinstance(node, Quat) else extend(node, 0.0),
        tree,
        is_leaf=lambda node: isinstance(node, Quat),
    )


def state_to_lanes(model: Model, state: State, batch: tuple[int, ...]) -> LaneState:
    """A state for the kernel, with every lane present in every leaf; fixed bodies do not move."""
    full = jax.tree.map(
        lambda leaf, ndim: jnp.broadcast_to(leaf, batch + leaf.shape[leaf.ndim - ndim :]),
        state,
        jax.tree.unflatten(jax.tree.structure(state), state.core_ndims()),
    )
    lanes = to_lanes(full, state.core_ndims(), batch)
    work = lanes.work
    vel, omega = _still(model, Vec3.of(lanes.vel), Vec3.of(lanes.omega))
    return LaneState(
        pose=Pose(Vec3.of(lanes.pos), Quat.of(lanes.quat).normalised()),
        vel=vel,
        omega=omega,
        aux=list(lanes.aux),
        work=work,
        failure=jnp.zeros_like(work[:2]),
    )


def state_of_lanes(y: LaneState) -> State:
    """The public arrays with lanes last: (bodies, components, lanes)."""
    return State(
        pos=y.pose.pos.array(),
        quat=y.pose.quat.array(),
        vel=y.vel.array(),
        omega=y.omega.array(),
        aux=tuple(y.aux),
        work=y.work,
    )


def initial_lanes(model: Model, batch: tuple[int, ...]) -> LaneState:
    """The state that the model file gives, before assembly."""
    bodies = to_lanes(model, model.leaf_ndims, batch).bodies
    rest = bodies.rest()
    turn = rest.ref.quat.matrix()
    omega = turn @ Vec3.of(bodies.omega)
    vel = Vec3.of(bodies.vel) + omega.cross(turn @ Vec3.of(bodies.com_pos))
    lanes = 1
    for size in batch:
        lanes *= size
    vel, local = _still(model, vel, rest.com.quat.matrix().transposed_times(omega))
    zeros = [jnp.zeros((e.count, e.aux_count, lanes), model.dtype) for e in (*model.constraints, *model.forces)]
    work = jnp.zeros((3, lanes), model.dtype)
    y = LaneState(
        pose=rest.com,
        vel=vel,
        omega=local,
        aux=zeros,
        work=work,
        failure=jnp.zeros_like(work[:2]),
    )
    full = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (*leaf.shape[:-1], lanes)), y)
    return full


def kinematics(system: System, y: LaneState) -> BodyKinematics:
    """World-axes kinematics of all bodies and the world. The quaternions are normalised here."""
    quat = y.pose.quat.normalised()
    rot = quat.matrix()
    pose, vel, omega = with_world((Pose(y.pose.pos, quat), y.vel, rot @ y.omega))
    everything = Kinematics(pose, pose.quat.matrix(), vel, omega)
    return BodyKinematics(everything, system.inertia.rotated(rot))


def context(system: System, time: Array, selector: Array, y: LaneState) -> Context:
    """Functions of time and external values at an instant.

    - time, selector: (1, lanes) or (1, 1), see `Functions.evaluate`.
    """
    values = evaluate_inputs(
        system.inputs,
        time,
        selector,
        lambda: jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), state_of_lanes(y)),
    )
    functions = system.model.functions.evaluate(time, selector, function_inputs(system.model, values, time))
    return Context(time, functions, {name: item.value for name, item in values.items()})
