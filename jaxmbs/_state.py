"""The state of a mechanism."""

import equinox as eqx
from jax import Array


class State(eqx.Module):
    """What the integrator evolves; every leaf may carry leading batch axes.

    - pos: (bodies, 3) COM in the world [m].
    - quat: (bodies, 4) COM frame to world, unit, wxyz.
    - vel: (bodies, 3) of the COM, world axes [m/s].
    - omega: (bodies, 3) in COM axes [rad/s].
    - aux: for every constraint type and then every force type of the model, the own state of its elements
      (elements, components): integrated angles, drives of SPEED motors.
    - work: (3,) energy dissipated, work done by motors, work done by loads since the start [J].
    """

    pos: Array
    quat: Array
    vel: Array
    omega: Array
    aux: tuple[Array, ...]
    work: Array

    def core_ndims(self) -> tuple[int, ...]:
        """The number of axes of every leaf without a batch."""
        return (2, 2, 2, 2) + (2,) * len(self.aux) + (1,)
