"""How a run ended."""

import enum


class Status(enum.IntEnum):
    """The outcome of one instance."""

    OK = 0
    #: Positions or velocities became infinite or not a number.
    DIVERGED = 1
    #: The constraints could not be closed after a step.
    CONSTRAINTS_OPEN = 2
    #: The start pose could not be assembled.
    ASSEMBLY_FAILED = 3
    #: The integrator used up its steps.
    MAX_STEPS = 4
    #: No velocity at the start satisfies the constraints.
    START_VELOCITY = 5

    @property
    def message(self) -> str:
        return _MESSAGES[self]


_MESSAGES = {
    Status.OK: "finished",
    Status.DIVERGED: "positions or velocities became infinite or not a number; a smaller dt may help",
    Status.CONSTRAINTS_OPEN: "the constraints could not be closed after a step; a smaller dt may help",
    Status.ASSEMBLY_FAILED: "the start pose could not be assembled",
    Status.MAX_STEPS: "the adaptive integrator used up its steps; a larger tolerance may help",
    Status.START_VELOCITY: "no velocities at the start satisfy the constraints",
}


class SimulationError(RuntimeError):
    """A single run failed; `solution` holds what was computed up to then."""

    def __init__(self, message: str, solution: object = None) -> None:
        super().__init__(message)
        self.solution = solution
