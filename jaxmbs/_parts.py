"""A batch in parts: on CPUs lanes that stay in the cache, on all cores; elsewhere what the memory holds."""

import concurrent.futures
import math
import os
import warnings
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


_Tree = TypeVar("_Tree")

#: Lanes of a part on a CPU. Below, starting kernels dominates; above, a chain of 16 bodies no longer fits the cache
#: (float32, steps per second of a core at 64, 128, 256, 512 lanes: 192k, 257k, 290k, 270k).
CPU_LANES = 256

#: The share of an accelerator's memory that one part may take.
MEMORY_SHARE = 0.6


def part_size(instances: int, bytes_per_instance: int) -> int:
    """How many instances to run at once.

    Parts are of equal size, so that they share one compiled program: as many as the cores can share evenly.
    """
    if jax.default_backend() == "cpu":
        parts = math.ceil(instances / CPU_LANES)
        cores = os.cpu_count() or 1
        if parts > 1:
            parts = math.ceil(parts / cores) * cores
        return math.ceil(instances / parts)
    limit = (jax.devices()[0].memory_stats() or {}).get("bytes_limit")
    if limit is None or bytes_per_instance * instances <= MEMORY_SHARE * limit:
        return instances
    size = max(1, int(MEMORY_SHARE * limit / bytes_per_instance))
    warnings.warn(
        f"{instances} instances need about {bytes_per_instance * instances / 2**30:.3g} GiB: they are run in "
        f"{math.ceil(instances / size)} parts of at most {size}",
        stacklevel=4,
    )
    return size


def starts_of(instances: int, size: int) -> list[int]:
    """Where the parts start; the last one overlaps its neighbour, so that all have one size."""
    return [min(start, instances - size) for start in range(0, instances, size)]


def take_part(tree: _Tree, ndims: tuple[int, ...], start: int, size: int) -> _Tree:
    """Instances `start` to `start + size` of every leaf that has a batch axis."""
    arrays, static = eqx.partition(tree, eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    parts = [
        leaf[start : start + size] if leaf.ndim > ndim and leaf.shape[0] > 1 else leaf
        for leaf, ndim in zip(leaves, ndims, strict=True)
    ]
    return eqx.combine(jax.tree.unflatten(structure, parts), static)


#: Hashes of the programs that have been compiled: threads that meet a new one would all compile it.
_compiled: set[int] = set()


def run_parts(run: Callable[[int], Any], program: Hashable, instances: int, size: int) -> Any:
    """Results of `run(start)` for all parts, joined along the batch axis; leaves without one are those of the last.

    On a CPU the parts run on as many threads as there are cores; XLA lets Python go on while it computes.

    - program: what the compiled program depends on, beside the shapes of the parts.
    """
    starts = starts_of(instances, size)
    workers = (os.cpu_count() or 1) if jax.default_backend() == "cpu" else 1

    def one(start: int) -> Any:
        return jax.block_until_ready(run(start))

    results = []
    if hash(program) not in _compiled:
        results = [one(starts[0])]
        _compiled.add(hash(program))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        results += list(pool.map(one, starts[len(results) :]))

    def join(*leaves: Array) -> Array:
        if leaves[0].ndim == 0:
            return leaves[-1]
        drop = [max(0, before + size - start) for before, start in zip(starts, starts[1:], strict=False)]
        kept = [np.asarray(leaves[0]), *(np.asarray(leaf)[d:] for leaf, d in zip(leaves[1:], drop, strict=True))]
        return jnp.asarray(np.concatenate(kept))

    return jax.tree.map(join, *results)
