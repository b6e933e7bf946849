"""Steps that end at given times."""

from typing import Any

import diffrax
import jax.numpy as jnp
from jax import Array


class GridSteps(diffrax.AbstractStepSizeController):
    """Steps from each of the increasing times `ts` (steps + 1,) to the next.

    Like `diffrax.StepTo`, without its check of the times inside the compiled program, which would be a callback to
    the host.
    """

    ts: Array

    def wrap(self, direction: Any) -> "GridSteps":
        return GridSteps(self.ts * direction)

    def init(
        self, terms: Any, t0: Any, t1: Any, y0: Any, dt0: None, args: Any, func: Any, error_order: Any
    ) -> tuple[Array, Array]:
        return self.ts[1], jnp.asarray(2)

    def adapt_step_size(
        self,
        t0: Any,
        t1: Any,
        y0: Any,
        y1_candidate: Any,
        args: Any,
        y_error: Any,
        error_order: Any,
        controller_state: Any,
    ) -> Any:
        following = self.ts[jnp.minimum(controller_state, self.ts.shape[0] - 1)]
        return jnp.asarray(True), t1, following, jnp.asarray(False), controller_state + 1, diffrax.RESULTS.successful
