"""Why a run failed: which numbers are not finite, and which bodies ran away."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import numpy as np

from jaxmbs._model import Model
from jaxmbs._solution import Solution


#: Where an infinite number means that a stop is not there.
_UNBOUNDED = ("minimum_length", "maximum_length")
#: Sizes above which a body has run away.
_LIMITS = {
    "body_pos": (1e9, "m"),
    "body_vel": (1e6, "m/s"),
    "body_omega": (1e6, "rad/s"),
    "body_acc": (1e9, "m/s2"),
    "body_alpha": (1e9, "rad/s2"),
}
_MOST = 6


def non_finite(model: Model) -> list[str]:
    """The numbers of a model that are infinite or not a number, with the names of their elements."""
    found: list[str] = []
    for owner, path, leaf in _leaves(model):
        values = np.asarray(leaf)
        allowed = np.isinf(values) if path.endswith(_UNBOUNDED) else False
        names = getattr(owner, "names", ())
        for index in np.argwhere(~(np.isfinite(values) | allowed)):
            named = bool(names) and values.ndim >= 1 and values.shape[0] == len(names)
            where = f" of {names[index[0]]!r}" if named else ""
            found.append(f"{path}{where} is {values[tuple(index)]}")
    return list(dict.fromkeys(found))


def _leaves(model: Model) -> Iterator[tuple[Any, str, Any]]:
    """(element type, path, array) of every number of a model."""
    parts = {"bodies": model.bodies, "functions": model.functions}
    for stack in (*model.constraints, *model.forces):
        parts[type(stack).__name__.lower()] = stack
    yield model, "gravity", model.gravity
    for name, part in parts.items():
        for path, leaf in jax.tree_util.tree_leaves_with_path(eqx.filter(part, eqx.is_array)):
            yield part, f"{name}.{jax.tree_util.keystr(path, simple=True, separator='.')}", leaf


def runaways(solution: Solution) -> list[str]:
    """Bodies that are no longer finite, or were the fastest or the most accelerated when the run failed."""
    last = int(np.searchsorted(np.asarray(solution.ts), float(solution.failed_at))) - 1
    last = min(max(last, 0), len(solution.ts) - 1)
    failed_at = solution.failed_at.reshape(1).astype(solution.ts.dtype)
    # the last state that is known, with the forces of the time at which the run failed
    here = eqx.tree_at(
        lambda s: (s.ts, s.ys), solution, (failed_at, jax.tree.map(lambda leaf: leaf[last : last + 1], solution.ys))
    )
    computed = here.outputs()
    outputs = {name: np.asarray(computed[name], np.float64)[0] for name in _LIMITS}
    names, found = solution.model.bodies.names, []
    for name, values in outputs.items():
        broken = ~np.all(np.isfinite(values), axis=-1)
        found.extend(f"body {names[body]!r}: {name} is not finite" for body in np.flatnonzero(broken))
    if found:
        return found[:_MOST]
    for name, (limit, unit) in _LIMITS.items():
        sizes = np.max(np.abs(outputs[name]), axis=-1, initial=0.0)
        if np.max(sizes, initial=0.0) > limit:
            body = int(np.argmax(sizes))
            found.append(f"body {names[body]!r}: {name} has reached {sizes[body]:.3g} {unit}")
    return found
