"""What elements see beside the bodies: time, functions of time and external values."""

import dataclasses

import jax
from jax import Array

from jaxmbs._functions import FunctionValues


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Context:
    """The present instant.

    - time: (1, lanes) or (1, 1) [s].
    - functions: values of the model's functions of time.
    - inputs: external values by name, each (components, lanes).
    """

    time: Array
    functions: FunctionValues
    inputs: dict[str, Array]
