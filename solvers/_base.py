"""What an integrator is to `jaxmbs.simulate`."""

import abc
import dataclasses

import diffrax
import equinox as eqx
import numpy as np
from jax import Array


@dataclasses.dataclass(frozen=True)
class StepPlan:
    """What `diffrax.diffeqsolve` needs beside the term."""

    solver: diffrax.AbstractSolver
    controller: diffrax.AbstractStepSizeController
    dt0: Array | None
    max_steps: int


class AbstractIntegrator(eqx.Module):
    """A choice of method and step control."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What reports call it."""

    @property
    @abc.abstractmethod
    def adaptive(self) -> bool:
        """Whether the steps follow an error estimate."""

    @abc.abstractmethod
    def plan(self, grid: Array, kinks: Array, h: Array, *, interpolate: bool, reproject: bool) -> StepPlan:
        """Arrange a run.

        **Arguments:**

        - grid: times of the fixed steps, first to last, kinks included.
        - kinks: times inside the run at which functions of time have kinks; only for adaptive steps.
        - h: the length of the steps that no kink cuts.
        - interpolate: whether values between steps are needed.
        - reproject: whether a step must start with the velocity that the right-hand rate of a motor asks for.
        """

    @abc.abstractmethod
    def growth(self, z: np.ndarray) -> np.ndarray:
        """The growth factor |R(z)| of one step of length h for eigenvalues z = lambda h of the linearised motion."""
