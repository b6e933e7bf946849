"""The result of `simulate`."""

from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._inputs import Inputs
from jaxmbs._model import Model
from jaxmbs._outputs import evaluate_outputs
from jaxmbs._results import Status
from jaxmbs._state import State
from jaxmbs._timing import just_before
from jaxmbs.dynamics.assembly import row_residuals
from jaxmbs.dynamics.projection import tolerances
from jaxmbs.dynamics.rows import row_plan
from jaxmbs.dynamics.system import make_system, state_to_lanes
from jaxmbs.solvers import AbstractIntegrator


if TYPE_CHECKING:
    import xarray


class Solution(eqx.Module):
    """A trajectory, or a batch of them.

    - t0, t1: the span [s]; h: the step used, for adaptive steps the first one [s].
    - ts: (times,) what was saved [s].
    - ys: states (*batch, times, ...).
    - status: (*batch,) `Status` codes; failed_at: (*batch,) time of failure [s], inf where there was none.
    - gap, rate_gap: (*batch,) the largest position and velocity residuals after assembly.
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
    rate_gap: Array
    steps: Array
    integrator: AbstractIntegrator

    def outputs(self) -> dict[str, Array]:
        """All outputs as arrays (`*batch`, times, ...) by name, differentiable; see `to_xarray` for their meaning."""
        return evaluate_outputs(self.model, self.inputs, self.ts, just_before(self.ts, self.t0), self.ys)

    def to_xarray(self) -> "xarray.Dataset":
        """All outputs (poses, velocities, reactions, efforts, energies, ...) with named dimensions and units."""
        from jaxmbs._dataset import to_dataset

        return to_dataset(self)

    def explain(self, *index: int) -> str:
        """How the run ended, in words, or that of the instance at `index` of a batch.

        Where the start could not be made consistent, the joints and constraints that stay open are named, with what
        remains of them.
        """
        batch = self.status.shape
        if len(index) != len(batch):
            raise ValueError(f"explain needs {len(batch)} indices for a batch of shape {batch}, got {len(index)}")
        status = Status(int(self.status[index]))
        if status is Status.OK:
            return status.message
        text = f"{status.message} (t = {float(self.failed_at[index]):.6g} s)"
        if status not in (Status.ASSEMBLY_FAILED, Status.START_VELOCITY):
            return text
        start = jax.tree.map(lambda leaf: jnp.take(leaf, 0, axis=len(batch)), self.ys)
        lane = int(np.ravel_multi_index(index, batch)) if batch else 0
        return f"{text}: {open_elements(self.model, self.inputs, start, self.t0, batch, lane, status)}"


@eqx.filter_jit
def _start_residuals(
    model: Model, inputs: Inputs, state: State, t0: Array, batch: tuple[int, ...]
) -> tuple[Array, Array]:
    return row_residuals(make_system(model, inputs, batch), t0.reshape(1, 1), state_to_lanes(model, state, batch))


def open_elements(
    model: Model, inputs: Inputs, state: State, t0: Array, batch: tuple[int, ...], lane: int, status: Status
) -> str:
    """The joints and constraints that a start leaves open in one lane of a batch, the worst first."""
    rows = _start_residuals(model, inputs, state, t0, batch)
    still_open = status is Status.ASSEMBLY_FAILED
    residuals = np.abs(np.asarray(rows[0 if still_open else 1])[:, lane])
    plan = row_plan(model)
    worst: dict[tuple[int, int], float] = {}
    for row, key in enumerate(zip(plan.stack.tolist(), plan.element.tolist(), strict=True)):
        # a NaN stays one
        worst[key] = float(np.maximum(worst.get(key, 0.0), residuals[row]))
    limit = tolerances(model.dtype).closed
    names = [key for key in worst if not worst[key] <= limit]
    names.sort(key=lambda key: -np.nan_to_num(worst[key], nan=np.inf))
    form = "{} is open by {:.3g}" if still_open else "{} is off by {:.3g} m/s or rad/s"
    shown = ", ".join(form.format(model.constraints[k[0]].names[k[1]], worst[k]) for k in names[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
