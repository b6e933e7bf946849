"""The result of `simulate`."""

from typing import TYPE_CHECKING

import equinox as eqx
from jax import Array

from jaxmbs._inputs import Inputs
from jaxmbs._model import Model
from jaxmbs._outputs import evaluate_outputs
from jaxmbs._state import State
from jaxmbs._timing import just_before
from jaxmbs.solvers import AbstractIntegrator


if TYPE_CHECKING:
    import xarray


class Solution(eqx.Module):
    """A trajectory, or a batch of them.

    - t0, t1: the span [s]; h: the step used, for adaptive steps the first one [s].
    - ts: (times,) what was saved [s].
    - ys: states (*batch, times, ...).
    - status: (*batch,) `Status` codes; failed_at: (*batch,) time of failure [s], inf where there was none.
    - gap: (*batch,) the largest position residual after assembly.
    - steps: number of steps taken.
    """

    model: Model
    inputs: Inputs
    t0: Array
    t1: Array
    h: Array
    ts: Array
    ys: State
    status: Array
    failed_at: Array
    gap: Array
    steps: Array
    integrator: AbstractIntegrator

    def outputs(self) -> dict[str, Array]:
        """All outputs as arrays (`*batch`, times, ...) by name, differentiable; see `to_xarray` for their meaning."""
        return evaluate_outputs(self.model, self.inputs, self.ts, just_before(self.ts, self.t0), self.ys)

    def to_xarray(self) -> "xarray.Dataset":
        """All outputs (poses, velocities, reactions, efforts, energies, ...) with named dimensions and units."""
        from jaxmbs._dataset import to_dataset

        return to_dataset(self)
