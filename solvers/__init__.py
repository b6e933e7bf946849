"""Integrators that plug into Diffrax; one per file."""

if __name__ != "jaxmbs.solvers":
    raise ImportError("import this package as jaxmbs.solvers")

from jaxmbs.solvers._base import AbstractIntegrator as AbstractIntegrator
from jaxmbs.solvers.projected_runge_kutta import (
    ProjectedRungeKutta as ProjectedRungeKutta,
    RungeKutta as RungeKutta,
)
from jaxmbs.solvers.semi_implicit_euler import (
    SemiImplicitEuler as SemiImplicitEuler,
    SemiImplicitEulerSolver as SemiImplicitEulerSolver,
)
