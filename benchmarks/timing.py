"""Timing of several things in turn, so that a machine that gets slower does so for all of them."""

import statistics
import time
from collections.abc import Callable, Mapping


def alternating_medians(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median time of each call [s]; every call was made once before."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(found) for name, found in seconds.items()}
