"""The other engines. Each is imported when it is used, so that any of them may be missing."""

import importlib
import importlib.util
import os
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.engines import AbstractEngine, AbstractRollout, Task
from benchmarks.models import GROUND, Loop, Mechanism, Y
from jaxmbs import JointKind
from jaxmbs._description_checks import axis_frame


#: Of the states that MuJoCo's rollout writes between two calls.
MOST_BYTES = 128 * 2**20
#: Above this, redundant coordinates make Exudyn needlessly slow, and the comparison with it unfair.
EXUDYN_MOST_LINKS = 16


def is_here(module: str) -> bool:
    """Whether a module is installed."""
    return importlib.util.find_spec(module) is not None


class MujocoModel:
    """A mechanism in MuJoCo."""

    def __init__(self, mechanism: Mechanism, dt: float, integrator: str = "Euler") -> None:
        self.mujoco: Any = importlib.import_module("mujoco")
        self.kind = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.model = self.mujoco.MjModel.from_xml_string(mechanism.to_mjcf(dt, integrator))
        self.data = self.mujoco.MjData(self.model)

    def stiffen(self) -> None:
        """Make loops as hard as MuJoCo can: for proofs of equality, not for timing."""
        self.model.eq_solref[:, 0] = 2 * self.model.opt.timestep
        self.model.eq_solimp[:, :2] = 0.9999
        self.model.opt.tolerance = 1e-14

    def states(self, rates: np.ndarray) -> np.ndarray:
        """Full states (batch, ...) for joint rates (batch, freedom)."""
        found = np.zeros((len(rates), self.mujoco.mj_stateSize(self.model, self.kind)))
        for state, rate in zip(found, rates, strict=True):
            self.data.qvel[:] = rate
            self.mujoco.mj_getState(self.model, self.data, state, self.kind)
        return found

    def evaluate(self, state: np.ndarray) -> Any:
        """The data with everything that follows from a state; positions, accelerations, constraint residuals."""
        self.mujoco.mj_setState(self.model, self.data, state, self.kind)
        self.mujoco.mj_forward(self.model, self.data)
        return self.data

    def positions(self, state: np.ndarray) -> np.ndarray:
        """(links, 3) centres of mass [m]."""
        return self.evaluate(state).xipos[1:].copy()

    def gap(self, state: np.ndarray) -> float:
        """The largest residual of the loop constraints [m]."""
        return float(np.max(np.abs(self.evaluate(state).efc_pos), initial=0.0))


class Mujoco(AbstractEngine):
    """MuJoCo C in float64, all instances by `mujoco.rollout` on all cores."""

    name = "MuJoCo C"
    settings = "semi-implicit Euler in joint coordinates, default solver, soft loop constraints, float64, all cores"

    def refusal(self, task: Task) -> str | None:
        return None if is_here("mujoco") else "mujoco is not installed"

    def prepare(self, task: Task) -> "MujocoRollout":
        return MujocoRollout(task)


class MujocoRollout(AbstractRollout):
    """See `Mujoco`. The rollout writes every state, so it is called for some steps at a time into one buffer."""

    def __init__(self, task: Task) -> None:
        started = time.perf_counter()
        self.task = task
        self.built = MujocoModel(task.mechanism, task.dt)
        threads = min(os.cpu_count() or 1, task.batch)
        rollout: Any = importlib.import_module("mujoco.rollout")
        self.pool = rollout.Rollout(nthread=threads)
        self.data = [self.built.mujoco.MjData(self.built.model) for _ in range(threads)]
        self.start = self.built.states(task.rates())
        part = max(1, min(task.steps, MOST_BYTES // self.start.nbytes))
        self.parts = [part] * (task.steps // part) + [task.steps % part] * (task.steps % part > 0)
        sizes = (self.start.shape[0], part, self.start.shape[1])
        self.buffer = np.zeros(sizes)
        self.run()
        self.compile_s = time.perf_counter() - started

    def run(self) -> None:
        state = self.start
        for steps in self.parts:
            buffer = self.buffer if steps == self.buffer.shape[1] else None
            states, _ = self.pool.rollout(
                self.built.model, self.data, state, nstep=steps, state=buffer, skip_checks=False
            )
            state = np.ascontiguousarray(states[:, -1])
        self.end = state

    def positions(self) -> np.ndarray:
        return self.built.positions(self.end[0])

    def gap(self) -> float:
        return max(self.built.gap(state) for state in self.end)

    def close(self) -> None:
        self.pool.close()


class Mjx(AbstractEngine):
    """MJX on the default device of JAX, in float32."""

    name = "MJX float32"
    settings = "semi-implicit Euler in joint coordinates, default solver, soft loop constraints, float32, JAX on CPU"

    def refusal(self, task: Task) -> str | None:
        return None if is_here("mujoco.mjx") else "mujoco-mjx is not installed"

    def prepare(self, task: Task) -> "MjxRollout":
        return MjxRollout(task)


class MjxRollout(AbstractRollout):
    """See `Mjx`."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.built = MujocoModel(task.mechanism, task.dt)
        mjx: Any = importlib.import_module("mujoco.mjx")
        started = time.perf_counter()
        with jax.enable_x64(False):
            model = mjx.put_model(self.built.model)
            one = mjx.make_data(self.built.model)

            def end(rate: jax.Array) -> tuple[jax.Array, jax.Array]:
                data = jax.lax.fori_loop(0, task.steps, lambda _, d: mjx.step(model, d), one.replace(qvel=rate))
                return data.qpos, data.qvel

            self.rates = jnp.asarray(task.rates(), jnp.float32)
            self.compiled = jax.jit(jax.vmap(end)).lower(self.rates).compile()
        self.compile_s = time.perf_counter() - started
        self.run()

    def run(self) -> None:
        with jax.enable_x64(False):
            self.end = jax.block_until_ready(self.compiled(self.rates))

    def _state(self, instance: int) -> np.ndarray:
        qpos, qvel = (np.asarray(part, np.float64)[instance] for part in self.end)
        return np.concatenate([[0.0], qpos, qvel])

    def positions(self) -> np.ndarray:
        return self.built.positions(self._state(0))

    def gap(self) -> float:
        return max(self.built.gap(self._state(instance)) for instance in range(self.task.batch))


class Exudyn(AbstractEngine):
    """Exudyn in redundant coordinates, one instance, float64: planar bodies where the mechanism is planar."""

    name = "Exudyn"
    settings = (
        "implicit trapezoidal rule (index 2) in redundant coordinates, modified Newton, hard constraints, float64"
    )

    def refusal(self, task: Task) -> str | None:
        if not is_here("exudyn"):
            return "exudyn is not installed"
        if task.batch != 1:
            return "Exudyn runs one instance at a time"
        if len(task.mechanism.links) > EXUDYN_MOST_LINKS:
            return f"redundant coordinates of more than {EXUDYN_MOST_LINKS} bodies are not its fastest setting"
        return None

    def prepare(self, task: Task) -> "ExudynRollout":
        return ExudynRollout(task)


class ExudynRollout(AbstractRollout):
    """See `Exudyn`. Planar mechanisms lie in its x-y plane, spatial ones in the world as they are."""

    def __init__(self, task: Task) -> None:
        started = time.perf_counter()
        self.task, self.planar = task, task.mechanism.planar
        self.exudyn: Any = importlib.import_module("exudyn")
        self.items: Any = importlib.import_module("exudyn.itemInterface")
        self.inertia: Any = importlib.import_module("exudyn.rigidBodyUtilities").RigidBodyInertia
        self.container = self.exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        self.bodies = {GROUND: self.system.CreateGround()}
        self.origins = {GROUND: np.zeros(3)} | {link.name: link.com_pos for link in task.mechanism.links}
        self._add_bodies(task.mechanism)
        self._add_joints(task.mechanism)
        self.system.Assemble()
        self.settings = self._solver_settings()
        self.run()
        self.compile_s = time.perf_counter() - started

    def _plane(self, vector: Any) -> list[float]:
        """World axes; for a planar mechanism x, z -> x, y."""
        x, y, z = (float(value) for value in vector)
        return [x, z, -y] if self.planar else [x, y, z]

    def _add_bodies(self, mechanism: Mechanism) -> None:
        turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]) if self.planar else np.eye(3)
        vel, omega = mechanism.body_velocities(mechanism.rates())
        for link, v, w in zip(mechanism.links, vel, omega, strict=True):
            self.bodies[link.name] = self.system.CreateRigidBody(
                inertia=self.inertia(mass=link.mass, inertiaTensor=turn @ link.inertia @ turn.T),
                referencePosition=self._plane(link.com_pos),
                initialVelocity=self._plane(v),
                initialAngularVelocity=self._plane(w),
                gravity=self._plane(mechanism.gravity),
                create2D=self.planar,
            )

    def _add_joints(self, mechanism: Mechanism) -> None:
        for link in mechanism.links:
            self._add_joint(link.kind, link.parent, link.name, link.joint_pos, link.axis)
        for loop in mechanism.loops:
            if self.planar:
                self._add_joint(JointKind.REVOLUTE, loop.body1, loop.body2, loop.pos, loop.axis)
            else:
                self._add_open_hinge(loop)

    def _add_joint(self, kind: JointKind, body1: str, body2: str, pos: np.ndarray, axis: np.ndarray) -> None:
        pair = [self.bodies[body1], self.bodies[body2]]
        if self.planar:
            self._add_planar_joint(kind, pair, (body1, body2), pos, axis)
        elif kind is JointKind.SPHERICAL:
            self.system.CreateSphericalJoint(itemNumbers=pair, position=pos)
        elif kind is JointKind.PRISMATIC:
            self.system.CreatePrismaticJoint(itemNumbers=pair, position=pos, axis=axis)
        else:
            self.system.CreateRevoluteJoint(itemNumbers=pair, position=pos, axis=axis)

    def _add_planar_joint(
        self, kind: JointKind, pair: list[Any], names: tuple[str, str], pos: np.ndarray, axis: np.ndarray
    ) -> None:
        markers = [
            self.system.AddMarker(
                self.items.MarkerBodyRigid(bodyNumber=body, localPosition=self._plane(pos - self.origins[name]))
            )
            for body, name in zip(pair, names, strict=True)
        ]
        if kind is JointKind.PRISMATIC:
            normal = self._plane(np.cross(axis, Y))
            joint = self.items.ObjectJointPrismatic2D(
                markerNumbers=markers, axisMarker0=self._plane(axis), normalMarker1=normal
            )
        else:
            joint = self.items.ObjectJointRevolute2D(markerNumbers=markers)
        self.system.AddObject(joint)

    def _add_open_hinge(self, loop: Loop) -> None:
        """A hinge less one row, which the rest of the loop already fixes: its solver takes no redundant rows."""
        self.system.CreateGenericJoint(
            itemNumbers=[self.bodies[loop.body1], self.bodies[loop.body2]],
            position=loop.pos,
            rotationMatrixAxes=axis_frame(loop.axis),
            constrainedAxes=[1, 1, 1, 1, 0, 0],
        )

    def _solver_settings(self) -> Any:
        exudyn = self.exudyn
        settings = exudyn.SimulationSettings()
        settings.timeIntegration.numberOfSteps = self.task.steps
        settings.timeIntegration.endTime = self.task.steps * self.task.dt
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWriteFileHeader = False
        settings.linearSolverType = exudyn.LinearSolverType.EigenDense
        return settings

    def run(self) -> None:
        solver = self.exudyn.DynamicSolverType.TrapezoidalIndex2
        if not self.system.SolveDynamic(self.settings, solverType=solver):
            raise RuntimeError("Exudyn did not solve it")

    def positions(self) -> np.ndarray:
        kind = self.exudyn.OutputVariableType.Position
        found = [self._position(self.bodies[link.name], kind) for link in self.task.mechanism.links]
        return np.array(found)

    def _position(self, body: Any, kind: Any) -> list[float]:
        x, y, z = self.system.GetObjectOutputBody(body, kind, [0.0, 0.0, 0.0])
        return [x, -z, y] if self.planar else [x, y, z]

    def gap(self) -> float:
        """Not asked for: the constraints hold to the tolerance of its Newton iteration."""
        return float("nan")
