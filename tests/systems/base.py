"""What a system with a closed-form answer is."""

import abc

import numpy as np

from jaxmbs import ModelDescription


class AbstractSystem(abc.ABC):
    """A mechanism whose motion is known.

    - t1, dt: a run that shows it [s].
    - tolerance: of everything that `state` gives, with that step; absolute, in SI units.
    """

    t1: float
    dt: float
    tolerance: float

    @abc.abstractmethod
    def description(self) -> ModelDescription:
        """The mechanism."""

    @abc.abstractmethod
    def state(self, time: np.ndarray) -> dict[tuple[str, str | None], np.ndarray]:
        """Exact values (times, ...) by variable and element name, as in `Solution.to_xarray`."""
