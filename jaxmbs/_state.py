"""The state of a mechanism."""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._model import Model
from jaxmbs._tracing import is_traced


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


def check_state(model: Model, state: State) -> State:
    """The state with JAX arrays for leaves, each as the model needs it.

    **Raises** `TypeError` for what is no `State`, and one `ValueError` that names every leaf of a wrong shape or dtype,
    with numbers that are not finite or with zero quaternions.
    """
    if not isinstance(state, State):
        raise TypeError(f"state needs a jaxmbs.State, as jaxmbs.initial_state(model) gives, got {type(state).__name__}")
    bodies, elements = model.bodies.count, (*model.constraints, *model.forces)
    problems: list[str] = []
    wanted = {"pos": (bodies, 3), "quat": (bodies, 4), "vel": (bodies, 3), "omega": (bodies, 3), "work": (3,)}
    leaves = {
        name: _checked(f"state.{name}", getattr(state, name), shape, model, problems) for name, shape in wanted.items()
    }
    aux = state.aux
    if not isinstance(aux, tuple | list) or len(aux) != len(elements):
        got = f"{len(aux)} arrays" if isinstance(aux, tuple | list) else repr(type(aux).__name__)
        kinds = ", ".join(f"{type(e).__name__} {(e.count, e.aux_count)}" for e in elements) or "none"
        problems.append(f"state.aux has {got}, but needs {len(elements)}: {kinds}")
        aux = ()
    checked = [
        _checked(
            f"state.aux[{i}] ({type(element).__name__})", leaf, (element.count, element.aux_count), model, problems
        )
        for i, (element, leaf) in enumerate(zip(elements, aux, strict=False))
    ]
    quat = leaves["quat"]
    if not problems and not is_traced(quat):
        zero = np.argwhere(~np.any(np.asarray(quat), axis=-1))
        if zero.size:
            problems.append(
                f"state.quat is zero for body {model.bodies.names[zero[0][-1]]!r}; it needs unit quaternions"
            )
    if problems:
        raise ValueError("; ".join(problems))
    return dataclasses.replace(state, **leaves, aux=tuple(checked))


def _checked(name: str, leaf: Any, shape: tuple[int, ...], model: Model, problems: list[str]) -> Any:
    """The leaf as a JAX array; what is wrong with it is added to `problems`."""
    if not isinstance(leaf, Array | np.ndarray):
        problems.append(f"{name} is a {type(leaf).__name__}, but needs an array of shape {shape} and {model.dtype}")
        return leaf
    if leaf.shape[max(0, leaf.ndim - len(shape)) :] != shape:
        problems.append(f"{name} has the shape {leaf.shape}, but needs {shape} after any batch axes")
    elif leaf.dtype != model.dtype:
        problems.append(f"{name} has the dtype {leaf.dtype}, but needs {model.dtype}, that of the model")
    elif not is_traced(leaf) and not np.all(np.isfinite(np.asarray(leaf))):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(np.asarray(leaf)))[0])
        problems.append(f"{name} has numbers that are not finite, the first at {list(where)}; it needs finite ones")
    return jnp.asarray(leaf)
