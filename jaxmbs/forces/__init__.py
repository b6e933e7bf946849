"""Force elements, one module per type."""

from jaxmbs._kinematics import Kinematics as Kinematics, Pose as Pose, Rest as Rest, Wrench as Wrench
from jaxmbs._math import Mat3 as Mat3, Quat as Quat, Vec3 as Vec3
from jaxmbs.forces._base import AbstractForce as AbstractForce
from jaxmbs.forces.body_load import BodyLoad as BodyLoad
from jaxmbs.forces.bushing import Bushing as Bushing
from jaxmbs.forces.motor_force import MotorForce as MotorForce
from jaxmbs.forces.rsda import Rsda as Rsda
from jaxmbs.forces.tsda import Tsda as Tsda
