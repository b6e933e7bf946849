"""Constraints, one module per type."""

from jaxmbs.constraints._base import (
    AbstractConstraint as AbstractConstraint,
    Drive as Drive,
    Row as Row,
    linearise_by_autodiff as linearise_by_autodiff,
)
from jaxmbs.constraints.distance import Distance as Distance
from jaxmbs.constraints.frame_joint import FrameJoint as FrameJoint, Motor as Motor
from jaxmbs.constraints.revolute_spherical import RevoluteSpherical as RevoluteSpherical
from jaxmbs.constraints.revolute_translational import RevoluteTranslational as RevoluteTranslational
from jaxmbs.constraints.universal import UniversalJoint as UniversalJoint
