"""Run a model and look its results up by name."""

import functools
from typing import Any

import numpy as np
import xarray as xr

import jaxmbs as mbs


class Run:
    """A simulation; its outputs are computed when the first one is asked for."""

    def __init__(self, model: mbs.Model | mbs.ModelDescription, **options: Any) -> None:
        self.model = mbs.compile_model(model) if isinstance(model, mbs.ModelDescription) else model
        self.solution = mbs.simulate(self.model, **options)

    @functools.cached_property
    def dataset(self) -> xr.Dataset:
        return self.solution.to_xarray()

    @property
    def time(self) -> np.ndarray:
        return np.asarray(self.solution.ts)

    def of(self, variable: str, name: str | None = None) -> np.ndarray:
        """A variable over time, of the body, joint, motor, ... of that name."""
        data = self.dataset[variable]
        if name is not None:
            (dimension,) = {"body", "joint", "motor", "tsda", "rsda", "bushing", "constraint"} & set(data.dims)
            data = data.sel({dimension: name})
        return data.to_numpy()

    def body_state(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """COM position, COM quaternion, velocity and angular velocity (COM axes), without computing outputs."""
        index = self.model.bodies.names.index(name)
        ys = self.solution.ys
        pos, quat, vel, omega = (np.asarray(leaf)[..., index, :] for leaf in (ys.pos, ys.quat, ys.vel, ys.omega))
        return pos, quat, vel, omega

    def energy_balance(self) -> np.ndarray:
        """Kinetic + potential + dissipated energy less the work of motors and loads: constant over time."""
        stored = self.of("energy_kinetic") + self.of("energy_potential")
        return stored + self.of("energy_dissipated") - self.of("work_motors") - self.of("work_loads")
