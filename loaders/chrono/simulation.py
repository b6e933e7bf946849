"""What simulation and solver files say about the run, and what becomes of it here."""

import numpy as np

from jaxmbs._description import ModelDescription, SimulationDescription
from jaxmbs.loaders.chrono.schema_files import OutputSettings, SimulationFile, SolverFile, ViewSettings


def apply_simulation(description: ModelDescription, simulation: SimulationFile, solver: SolverFile) -> None:
    """Set gravity and `simulation` of a description; the notes say what each setting was mapped to."""
    settings, output, integrator = simulation.simulation, simulation.output, solver.integrator
    if settings is not None and "gravity" in settings.model_fields_set:
        description.gravity = np.array(settings.gravity)
    end_time = None if settings is None or settings.end_time <= 0 else settings.end_time
    fps = output.fps if output is not None and "fps" in output.model_fields_set else 0.0
    description.simulation = SimulationDescription(
        t1=end_time,
        dt=None if integrator is None else integrator.time_step,
        save_dt=1.0 / fps if fps > 0 else None,
        notes=tuple(_notes(simulation, solver)),
    )


def gravity_is_given(simulation: SimulationFile) -> bool:
    """Whether the file says what gravity is."""
    return simulation.simulation is not None and "gravity" in simulation.simulation.model_fields_set


def _notes(simulation: SimulationFile, solver: SolverFile) -> list[str]:
    notes = []
    if solver.integrator is not None:
        step = f"{solver.integrator.time_step:g}"
        notes.append(
            f"integrator {solver.integrator.type.value} (time_step {step} s) -> explicit Tsit5 with projection at the"
            " same step, unless a run is told otherwise; tolerances and iteration settings are not used"
        )
    if solver.solver is not None:
        notes.append(f"solver {solver.solver.type.value} -> constraints are solved directly; its settings are not used")
    notes.append(f"contact_method {solver.contact_method.value} -> contact is not simulated")
    if simulation.simulation is not None and simulation.simulation.enforce_realtime:
        notes.append("enforce_realtime -> not used; a run goes as fast as it can")
    notes += _output_notes(simulation.output) + _view_notes(simulation.visualization)
    return notes


def _output_notes(output: OutputSettings | None) -> list[str]:
    if output is None:
        return []
    return [f"output {output.format.value} {output.mode.value} -> NetCDF, where a run is told to write it"]


def _view_notes(view: ViewSettings | None) -> list[str]:
    return [] if view is None else [f"visualization {view.type.value} -> not used"]
