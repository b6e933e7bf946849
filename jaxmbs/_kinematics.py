"""What an element sees of a body: its pose and its velocity, all in world axes."""

import dataclasses

import jax
from jax import Array

from jaxmbs._math import Mat3, Quat, Vec3


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Pose:
    """The COM frame in the world: `pos` [m] and the unit quaternion `quat` (frame to world)."""

    pos: Vec3
    quat: Quat

    def point(self, local: Vec3) -> Vec3:
        """A point given in the COM frame, in the world."""
        return self.pos + self.quat.matrix() @ local

    def to_local(self, world: Vec3) -> Vec3:
        """A world point in the COM frame."""
        return self.quat.matrix().transposed_times(world - self.pos)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Rest:
    """A body as the model file places it at t = 0: its COM frame and its reference frame in the world."""

    com: Pose
    ref: Pose


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Kinematics:
    """Pose and velocity of bodies: `vel` of the COM [m/s], `omega` [rad/s], both in world axes."""

    pose: Pose
    rot: Mat3
    vel: Vec3
    omega: Vec3

    def arm(self, local: Vec3) -> Vec3:
        """From the COM to a point given in the COM frame, world axes."""
        return self.rot @ local

    def velocity_at(self, arm: Vec3) -> Vec3:
        """The velocity of the body point at `arm` from the COM."""
        return self.vel + self.omega.cross(arm)

    def motion(self) -> Pose:
        """The time derivative of the pose."""
        return Pose(self.vel, self.pose.quat.rate_world(self.omega))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Wrench:
    """A force [N] at the COM and the torque [N m] about it, both in world axes."""

    force: Vec3
    torque: Vec3

    @staticmethod
    def at(arm: Vec3, force: Vec3) -> "Wrench":
        """A force that acts at `arm` from the COM."""
        return Wrench(force, arm.cross(force))

    def __neg__(self) -> "Wrench":
        return Wrench(-self.force, -self.torque)

    def power(self, body: Kinematics) -> Array:
        return self.force.dot(body.vel) + self.torque.dot(body.omega)
