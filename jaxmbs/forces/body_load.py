"""External forces and torques on bodies."""

import dataclasses
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._description import LoadKind
from jaxmbs._kinematics import Kinematics, Rest, Wrench
from jaxmbs._math import Quat, Vec3
from jaxmbs.forces._base import AbstractForce


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BodyLoadAnchors:
    """The point in the COM frame, and the reference frame's orientation in the COM frame."""

    point: Vec3
    quat: Quat


class BodyLoad(AbstractForce):
    """Forces and torques from outside, on body2 (body1 is the world).

    - load: (elements, 3) [N] or [N m], in reference axes where `local_load`, else in world axes.
    - point: (elements, 3) [m], in the reference frame where `local_point` (it moves with the body), else a point
      that is fixed in space.
    The load is scaled by a function of time where `modulation` has an index (-1: none), or replaced by the
    external value of that name where `inputs` has one.
    """

    load: Array
    point: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)
    kinds: tuple[LoadKind, ...] = eqx.field(static=True)
    local_load: tuple[bool, ...] = eqx.field(static=True)
    local_point: tuple[bool, ...] = eqx.field(static=True)
    modulation: tuple[int, ...] = eqx.field(static=True)
    inputs: tuple[str | None, ...] = eqx.field(static=True)

    @property
    def role(self) -> Literal["passive", "motor", "load"]:
        return "load"

    def attach(self, rest1: Rest, rest2: Rest) -> BodyLoadAnchors:
        del rest1
        quat = rest2.com.quat.conj() @ rest2.ref.quat
        return BodyLoadAnchors(rest2.com.to_local(rest2.ref.point(Vec3.of(self.point))), quat)

    def vector(self, context: Context) -> Vec3:
        """The load after modulation or control, in the axes in which it is given."""
        load = Vec3.of(self.load)
        if any(index >= 0 for index in self.modulation):
            index = np.array(self.modulation)
            scale = context.functions.value[np.maximum(index, 0)]
            load = load * jnp.where(jnp.asarray(index >= 0)[:, None], scale, 1.0)
        if any(name is not None for name in self.inputs):
            rows = [
                load.array()[i : i + 1] if name is None else context.inputs[name][None]
                for i, name in enumerate(self.inputs)
            ]
            lanes = max(row.shape[-1] for row in rows)
            load = Vec3.of(jnp.concatenate([jnp.broadcast_to(row, (1, 3, lanes)) for row in rows]))
        return load

    def wrenches(
        self, anchors: BodyLoadAnchors, body1: Kinematics, body2: Kinematics, aux: Array, context: Context
    ) -> tuple[Wrench, Wrench]:
        del aux
        given = self.vector(context)
        turned = (body2.pose.quat @ anchors.quat).matrix() @ given
        load = turned.where(np.array(self.local_load)[:, None], given)
        carried = body2.arm(anchors.point)
        fixed = Vec3.of(self.point) - body2.pose.pos
        arm = carried.where(np.array(self.local_point)[:, None], fixed)
        none = Vec3.zeros(load.x + body1.pose.pos.x)
        is_force = np.array([kind is LoadKind.FORCE for kind in self.kinds])[:, None]
        force, torque = load.where(is_force, none), arm.cross(load).where(is_force, load)
        return Wrench(none, none), Wrench(force, torque)
