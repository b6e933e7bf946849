"""Batched, differentiable multibody dynamics."""

from jaxmbs._check import CheckReport as CheckReport, check_model as check_model
from jaxmbs._compile import compile_model as compile_model
from jaxmbs._description import (
    Actuation as Actuation,
    ConstraintKind as ConstraintKind,
    FunctionDescription as FunctionDescription,
    Guide as Guide,
    JointKind as JointKind,
    LoadKind as LoadKind,
    ModelDescription as ModelDescription,
    ModelError as ModelError,
    MotorKind as MotorKind,
    Repeat as Repeat,
)
from jaxmbs._load import load as load
from jaxmbs._model import Model as Model, broadcast as broadcast, stack as stack, with_element as with_element
from jaxmbs._results import SimulationError as SimulationError, Status as Status
from jaxmbs._simulate import assemble_state as assemble_state, initial_state as initial_state, simulate as simulate
from jaxmbs._solution import Solution as Solution
from jaxmbs._state import State as State
from jaxmbs._version import __version__ as __version__
