"""Schema of simulation files and solver files."""

from typing import ClassVar

from pydantic import Field

from jaxmbs.loaders._fields import AnyCaseEnum, Boolean, Integer, Name, NonNegative, Number, Positive, Section, Vector3
from jaxmbs.loaders.chrono.schema import ChronoVersion


class SimulationType(AnyCaseEnum):
    """What is simulated."""

    MBS = "MBS"


class OutputFormat(AnyCaseEnum):
    """Format of the output."""

    NONE = "NONE"
    ASCII = "ASCII"
    HDF5 = "HDF5"


class OutputMode(AnyCaseEnum):
    """Arrangement of the output."""

    FRAMES = "FRAMES"
    SERIES = "SERIES"


class ViewType(AnyCaseEnum):
    """What a viewer shows."""

    MODEL_FILE = "MODEL_FILE"
    PRIMITIVES = "PRIMITIVES"
    COLLISION = "COLLISION"
    NONE = "NONE"


class VerticalAxis(AnyCaseEnum):
    """Vertical axis of the camera."""

    Y = "Y"
    Z = "Z"


class ContactMethod(AnyCaseEnum):
    """Contact formulation."""

    SMC = "SMC"
    NSC = "NSC"


class IntegratorType(AnyCaseEnum):
    """Integrator."""

    EULER_IMPLICIT_LINEARIZED = "EULER_IMPLICIT_LINEARIZED"
    EULER_IMPLICIT_PROJECTED = "EULER_IMPLICIT_PROJECTED"
    EULER_IMPLICIT = "EULER_IMPLICIT"
    HHT = "HHT"


class SolverType(AnyCaseEnum):
    """Solver of the equations of a step."""

    BARZILAI_BORWEIN = "BARZILAI_BORWEIN"
    PSOR = "PSOR"
    APGD = "APGD"
    MINRES = "MINRES"
    GMRES = "GMRES"
    BICGSTAB = "BICGSTAB"
    PARDISO = "PARDISO"
    MUMPS = "MUMPS"
    SPARSE_LU = "SPARSE_LU"
    SPARSE_QR = "SPARSE_QR"


class SimulationSettings(Section):
    """Settings of the run."""

    leftovers: ClassVar = {"time_step": "the step belongs to the integrator in the solver file"}

    end_time: Number = Field(-1.0, description="end of the simulation, negative for none [s]")
    enforce_realtime: Boolean = Field(False, description="whether to wait for the clock")
    gravity: Vector3 = Field([0.0, 0.0, -9.8], description="acceleration of gravity, world axes [m/s2]")


class OutputSettings(Section):
    """Settings of the output."""

    format: OutputFormat = Field(OutputFormat.NONE, description="NONE, ASCII or HDF5")
    mode: OutputMode = Field(OutputMode.FRAMES, description="FRAMES or SERIES")
    fps: NonNegative = Field(100.0, description="outputs per second [Hz]")


class Camera(Section):
    """Camera of the viewer."""

    vertical: VerticalAxis = Field(VerticalAxis.Z, description="Y or Z")
    location: Vector3 = Field([0.0, -1.0, 0.0], description="place of the camera [m]")
    target: Vector3 = Field([0.0, 0.0, 0.0], description="point that the camera looks at [m]")


class ImageSettings(Section):
    """Images of the viewer."""

    save_images: Boolean = Field(False, description="whether images are saved")
    image_type: Name = Field("bmp", description="suffix of the images")


class ViewSettings(Section):
    """Settings of the viewer."""

    type: ViewType = Field(ViewType.MODEL_FILE, description="MODEL_FILE, PRIMITIVES, COLLISION or NONE")
    render_fps: NonNegative = Field(120.0, description="pictures per second [Hz]")
    enable_shadows: Boolean = Field(True, description="whether shadows are drawn")
    camera: Camera | None = Field(None, description="camera")
    output: ImageSettings | None = Field(None, description="images")


class SimulationFile(Section):
    """A simulation file."""

    chrono_version: ChronoVersion = Field(alias="chrono-version", description="version of the format, 10.0")
    type: SimulationType = Field(description="MBS")
    model: Name = Field(description="model file, relative to this file")
    solver: Name = Field(description="solver file, relative to this file")
    simulation: SimulationSettings | None = Field(None, description="settings of the run")
    output: OutputSettings | None = Field(None, description="settings of the output")
    visualization: ViewSettings | None = Field(None, description="settings of the viewer")


class Integrator(Section):
    """Integrator and its settings."""

    spellings: ClassVar = {"time-step": "time_step"}

    type: IntegratorType = Field(description="HHT, EULER_IMPLICIT, EULER_IMPLICIT_LINEARIZED or ..._PROJECTED")
    time_step: Positive = Field(description="step [s]")
    rel_tolerance: NonNegative = Field(1e-4, description="relative tolerance [-]")
    abs_tolerance_states: NonNegative = Field(1e-4, description="absolute tolerance of states")
    abs_tolerance_multipliers: NonNegative = Field(1e2, description="absolute tolerance of multipliers")
    max_iterations: Integer = Field(50, ge=0, description="largest number of Newton iterations")
    use_stepsize_control: Boolean = Field(False, description="whether HHT adapts its step")
    use_modified_newton: Boolean = Field(False, description="whether HHT keeps its Jacobian")


class Solver(Section):
    """Solver and its settings."""

    type: SolverType = Field(description="SPARSE_LU, SPARSE_QR, BARZILAI_BORWEIN, PSOR, APGD, MINRES, GMRES, ...")
    max_iterations: Integer = Field(100, ge=0, description="largest number of iterations")
    overrelaxation_factor: NonNegative = Field(1.0, description="over-relaxation [-]")
    sharpness_factor: NonNegative = Field(1.0, description="sharpness [-]")
    tolerance: NonNegative = Field(0.0, description="tolerance")
    enable_diagonal_preconditioner: Boolean = Field(False, description="whether the diagonal preconditions")
    warm_start: Boolean = Field(False, description="whether the last solution is the first guess")
    lock_sparsity_pattern: Boolean = Field(False, description="whether the pattern of the matrix is kept")
    use_sparsity_pattern_learner: Boolean = Field(True, description="whether the pattern is found beforehand")


class SolverFile(Section):
    """A solver file."""

    chrono_version: ChronoVersion = Field(alias="chrono-version", description="version of the format, 10.0")
    contact_method: ContactMethod = Field(description="SMC or NSC")
    integrator: Integrator | None = Field(None, description="integrator and its settings")
    solver: Solver | None = Field(None, description="solver and its settings")
