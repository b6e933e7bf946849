"""Mechanisms with closed-form answers: every value that is known, over the whole run."""

import functools

import numpy as np
import pytest

from tests.systems import (
    AbstractSystem,
    DrivenCranks,
    FreeTop,
    Pendulum,
    Run,
    SliderCrank,
    SpringDamper,
    Trammel,
    rotation,
)


SYSTEMS: dict[str, AbstractSystem] = {
    "driven_cranks": DrivenCranks(),
    "free_top": FreeTop(),
    "pendulum": Pendulum(),
    "slider_crank": SliderCrank(),
    "spring_damper": SpringDamper(),
    "trammel": Trammel(),
}


@functools.cache
def run_of(name: str) -> Run:
    system = SYSTEMS[name]
    return Run(system.description(), t1=system.t1, dt=system.dt, save_dt=system.t1 / 20)


@pytest.fixture(params=SYSTEMS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_state_is_the_exact_one(name: str) -> None:
    system, run = SYSTEMS[name], run_of(name)
    for (variable, element), want in system.state(run.time).items():
        got = run.of(variable, element)
        if variable == "body_quat":
            want = rotation.same_sign(want, got)
        label = f"{variable} of {element}"
        np.testing.assert_allclose(got, want, rtol=0, atol=system.tolerance, err_msg=label)


def test_energy_is_balanced(name: str) -> None:
    """Kinetic + potential + dissipated energy less the work of motors and loads."""
    balance = run_of(name).energy_balance()
    scale = max(1.0, float(np.max(np.abs(run_of(name).of("energy_kinetic")))))
    assert np.ptp(balance) < SYSTEMS[name].tolerance * scale


def test_constraints_are_closed(name: str) -> None:
    run = run_of(name)
    for variable in {"residual_pos", "residual_vel", "constraint_residual"} & set(run.dataset):
        assert np.max(np.abs(run.of(str(variable)))) < 1e-12
