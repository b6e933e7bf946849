"""Trial cases with one moving body (`shared/reference/trials.md`: D01, D03-D05, D11) and the door of two hinges."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs import JointKind, ModelDescription
from jaxmbs.loaders import LoadError, describe
from tests.systems import DrivenCranks, Pendulum, Run, rotation


BUSHING = """
chrono-version: 10.0
model:
  name: bushing
  angle_degrees: true
  bodies:
    - name: ground
      fixed: true
      location: [0, 0, 0]
    - name: body
      location: [0, 0, 0]
      mass: {mass}
      inertia:
        moments: [{moment}, {moment}, {moment}]
      {velocity}: [1, -0.4, 0.2]
  joints:
    - name: mount
      type: SPHERICAL
      body1: ground
      body2: body
      location: [0, 0, 0]
      bushing_data:
        stiffness_linear: {stiffness}
        damping_linear: {damping}
        stiffness_rotational: {stiffness}
        damping_rotational: {damping}
"""


def bushing_text(
    *,
    mass: str = "5",
    moment: str = ".5e3",
    stiffness: str = "7e7",
    damping: str = "1e3",
    velocity: str = "initial_linear_velocity",
) -> str:
    return BUSHING.format(mass=mass, moment=moment, stiffness=stiffness, damping=damping, velocity=velocity)


class TestNumbersWithoutADot:
    """D01."""

    def test_compiled_parameters_are_bit_equal(self) -> None:
        short = mbs.compile_model(describe(bushing_text()))
        full = mbs.compile_model(
            describe(bushing_text(mass="5.0", moment="500.0", stiffness="7.0e+7", damping="1000.0"))
        )
        assert jax.tree.structure(short) == jax.tree.structure(full)
        for one, other in zip(jax.tree.leaves(short), jax.tree.leaves(full), strict=True):
            assert one.dtype == other.dtype == np.float64
            np.testing.assert_array_equal(one, other)

    def test_a_word_is_refused(self) -> None:
        with pytest.raises(LoadError, match="stiffness_linear"):
            describe(bushing_text(stiffness='"abc"'))


class TestUnknownKey:
    """D03."""

    def test_the_message_names_body_and_both_keys(self) -> None:
        with pytest.raises(LoadError, match="(?s)'body'.*'lin_vel'.*'initial_linear_velocity'"):
            describe(bushing_text(velocity="lin_vel"))

    def test_the_right_key_sets_the_initial_velocity(self) -> None:
        state = mbs.initial_state(mbs.compile_model(describe(bushing_text())))
        np.testing.assert_array_equal(state.vel[1], [1.0, -0.4, 0.2])


SMALL_PERIOD = 1.553893


@pytest.fixture(scope="module")
def pendulums() -> Run:
    """Released horizontally; the same with the reference frame moved and turned; a small swing.

    Saved at the start, at the bottom of the large swing, and after one period of small swings.
    """
    systems = (Pendulum(), Pendulum(frame_offset=-0.2, frame_turn=0.7), Pendulum(amplitude=1e-4))
    models = mbs.stack([mbs.compile_model(system.description()) for system in systems])
    return Run(models, t1=SMALL_PERIOD, dt=5e-4, save_at=[0.0, Pendulum().time_to_bottom, SMALL_PERIOD])


class TestPendulumWithOffset:
    """D04: body 2 kg, 0.1 kg m2, COM 0.5 m from the hinge."""

    def test_initial_acceleration_turns_x_down(self, pendulums: Run) -> None:
        # 2 * 9.81 * 0.5 / (0.1 + 2 * 0.25)
        np.testing.assert_allclose(pendulums.of("body_alpha", "bob")[0, 0], [0.0, 16.35, 0.0], rtol=0, atol=1e-9)

    def test_speed_and_hinge_force_at_the_bottom(self, pendulums: Run) -> None:
        assert abs(pendulums.of("joint_angle_rate", "hinge")[0, 1]) == pytest.approx(5.71839, abs=1e-5)
        np.testing.assert_allclose(pendulums.of("joint_force", "hinge")[0, 1], [0.0, 0.0, 52.32], rtol=0, atol=1e-8)

    def test_small_swings_return_after_one_period(self, pendulums: Run) -> None:
        """The period is known to 1e-6 s and the amplitude lengthens it by 6e-10 of it."""
        angle = pendulums.of("joint_angle", "hinge")[2]
        # the angle is flat there: one part in 2 (pi 1e-6)^2, so the rate shows the time
        rate = pendulums.of("joint_angle_rate", "hinge")[2, 2]
        assert angle[2] == pytest.approx(0.0, abs=1e-4 * 1e-9)
        assert abs(rate) < 1e-4 * Pendulum().frequency ** 2 * 1e-6

    def test_the_reference_frame_does_not_matter(self, pendulums: Run) -> None:
        for variable in ("body_pos", "body_vel", "body_acc"):
            values = pendulums.of(variable, "bob")
            np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-12, err_msg=variable)
        for variable in ("joint_force", "joint_torque", "joint_angle"):
            values = pendulums.of(variable, "hinge")
            np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-11, err_msg=variable)

    def test_energy_is_constant(self, pendulums: Run) -> None:
        assert np.max(np.ptp(pendulums.energy_balance(), axis=-1)) < 1e-10


@pytest.fixture(scope="module")
def cranks() -> Run:
    return Run(DrivenCranks().description(), t1=1.0, dt=1e-2, save_at=[1.0])


class TestMotorSign:
    """D05: CONSTANT speed 1 about +z. `tests.systems.DrivenCranks` knows the values over the whole run."""

    @pytest.mark.parametrize(("crank", "angle"), [("backward", -1.0), ("forward", 1.0)])
    def test_body2_turns_backwards(self, cranks: Run, crank: str, angle: float) -> None:
        quat = cranks.body_state(crank)[1][0]
        assert rotation.angle_in_plane(quat, 2) == pytest.approx(angle, abs=1e-12)


class TestStiffBushing:
    """D11: 1 kg on a LOCK bushing of 1e8 N/m, at steps of 1 ms: omega dt = 10."""

    def description(self, damping: float) -> ModelDescription:
        model = ModelDescription("stiff", gravity=np.array([0, 0, -9.81]))
        model.add_body("ground", fixed=True)
        model.add_body("mass", mass=1.0, inertia=(0.01, 0.01, 0.01))
        model.add_bushing(
            "rubber",
            "ground",
            "mass",
            pos=(0, 0, 0),
            stiffness_linear=1e8,
            damping_linear=damping,
            stiffness_rotational=1e6,
            damping_rotational=0.0,
        )
        return model

    @pytest.mark.parametrize("damping", [1e3, 0.0])
    def test_an_explicit_method_refuses(self, damping: float) -> None:
        with pytest.raises(ValueError, match="bushing 'rubber'"):
            mbs.simulate(mbs.compile_model(self.description(damping)), t1=0.01, dt=1e-3)


@dataclasses.dataclass(frozen=True)
class Door:
    """A door on two coaxial revolute joints: ten rows of rank five.

    Reactions must be those that minimise |f1|^2 + |f2|^2 + (|t1|^2 + |t2|^2)/l^2. The hinges stand at heights +-h on
    the Z axis, so l = 2 h. Both share the force equally. Of a couple T across the axis about the middle, least effort
    has forces +-T/(10 h) and torques 2 T/5 in each hinge. The COM is off the middle, so their distances to it differ.
    """

    mass: float = 3.0
    reach: float = 0.4
    rise: float = 0.15
    half: float = 0.5
    spin: float = 2.0
    gravity: float = 9.81

    def description(self) -> ModelDescription:
        model = ModelDescription("door", gravity=np.array([0, 0, -self.gravity]))
        model.add_body("frame", fixed=True)
        com = (self.reach, 0.0, self.rise)
        model.add_body("door", mass=self.mass, inertia=(0.3, 0.4, 0.2), com_pos=com, omega=(0, 0, self.spin))
        for name, height in (("top", self.half), ("bottom", -self.half)):
            model.add_joint(name, JointKind.REVOLUTE, "frame", "door", pos=(0, 0, height), axis=(0, 0, 1))
        return model

    def reactions(self, time: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
        """On the door, which turns steadily: no torque acts about the axis."""
        turn = self.spin * time
        outward = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=-1)
        up = np.array([0.0, 0.0, 1.0])
        force = -self.mass * self.spin**2 * self.reach * outward + self.mass * self.gravity * up
        # about the middle: what turns the angular momentum, less the moment of the weight
        couple = -self.mass * self.reach * (self.rise * self.spin**2 + self.gravity) * np.cross(up, outward)
        # a force f at height z has the moment z up x f
        lever = np.cross(couple, up) / (10 * self.half)
        forces = {"top": force / 2 + lever, "bottom": force / 2 - lever}
        torques = {(name, "torque"): 0.4 * couple for name in forces}
        return torques | {(name, "force"): part for name, part in forces.items()}


@pytest.fixture(scope="module")
def door() -> Run:
    return Run(Door().description(), t1=1.0, dt=1e-2, save_at=[0.0, 0.3, 1.0])


class TestDoor:
    def test_reactions_are_those_of_least_norm(self, door: Run) -> None:
        for (name, part), want in Door().reactions(door.time).items():
            got = door.of(f"joint_{part}", name)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-10, err_msg=f"{part} of {name}")

    def test_reactions_do_not_depend_on_the_history(self, door: Run) -> None:
        """A run that starts at the last pose has the same reactions at once."""
        last = jax.tree.map(lambda leaf: leaf[-1], door.solution.ys)
        again = Run(door.model, t1=1.0, dt=1e-2, save_at=[0.0, 0.3, 1.0], state=last)
        for variable in ("joint_force", "joint_torque"):
            np.testing.assert_allclose(again.of(variable)[0], door.of(variable)[-1], rtol=0, atol=1e-10)

    def test_energy_is_constant(self, door: Run) -> None:
        assert np.ptp(door.energy_balance()) < 1e-12
