"""Boundaries between the kernels that XLA forms on CPUs. Everything that depends on such internals is in this file.

XLA's CPU compiler recomputes producers in every consumer that it fuses them into. In a program that is written out
level by level, that repeats most of the work many times over, and takes minutes to compile. A call that may not be
inlined ends a kernel.
"""

import functools
from collections.abc import Callable
from typing import TypeVar

import jax
from jax.experimental.xla_metadata import set_xla_metadata


_Function = TypeVar("_Function", bound=Callable)

#: Set to False to leave all boundaries out; results are the same to rounding.
enabled = True


def call(function: _Function) -> _Function:
    """`function` as a kernel of its own where that helps; its arguments and results must be arrays."""

    @functools.wraps(function)
    def bounded(*arguments):  # noqa: ANN002, ANN202
        if not enabled or jax.default_backend() != "cpu":
            return function(*arguments)
        with set_xla_metadata(inlineable="false"):
            return jax.jit(lambda *args: function(*args))(*arguments)

    return bounded  # pyright: ignore[reportReturnType]
