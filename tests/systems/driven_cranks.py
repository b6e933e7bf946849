"""Motors with closed-form motion and effort, in both orders of their bodies."""

import dataclasses

import numpy as np

from jaxmbs import Actuation, FunctionDescription, ModelDescription, MotorKind
from tests.systems import rotation
from tests.systems.base import AbstractSystem


@dataclasses.dataclass(frozen=True)
class DrivenCranks(AbstractSystem):
    """Cranks about Z (no gravity, COM on the axis), each on a rotation motor.

    - `forward` and `backward` follow a SPEED of 1 rad/s; `forward` is body1 of its motor and turns by +t, `backward`
      body2 and turns by -t.
    - `pushed` is body1 of a FORCE motor of constant torque: its angle is torque t^2/(2 J).
    - `swung` is body1 of a POSITION motor that follows a sine: the effort is J times the second derivative.
    """

    inertia: float = 0.2
    torque: float = 0.6
    amplitude: float = 0.5
    frequency: float = 0.8

    t1 = 1.0
    dt = 1e-2
    tolerance = 1e-9

    def description(self) -> ModelDescription:
        model = ModelDescription("driven_cranks", gravity=np.zeros(3))
        model.add_body("ground", fixed=True)
        swing = FunctionDescription.sine(self.amplitude, self.frequency)
        constant = FunctionDescription.constant
        motors = (
            ("forward", Actuation.SPEED, constant(1.0), 1.0),
            ("backward", Actuation.SPEED, constant(1.0), -1.0),
            ("pushed", Actuation.FORCE, constant(self.torque), 0.0),
            ("swung", Actuation.POSITION, swing, self.amplitude * 2 * np.pi * self.frequency),
        )
        for place, (name, actuation, function, rate) in enumerate(motors):
            pos, inertia = (float(place), 0.0, 0.0), (0.15, 0.15, self.inertia)
            model.add_body(name, mass=1.0, inertia=inertia, pos=pos, omega=(0, 0, rate))
            bodies = ("ground", name) if name == "backward" else (name, "ground")
            model.add_motor(
                f"drive_{name}",
                MotorKind.ROTATION,
                *bodies,
                pos=pos,
                axis=(0, 0, 1),
                actuation=actuation,
                function=function,
            )
        return model

    def state(self, time: np.ndarray) -> dict[tuple[str, str | None], np.ndarray]:
        pulse = 2 * np.pi * self.frequency
        turns = {
            "forward": time,
            "backward": -time,
            "pushed": 0.5 * self.torque / self.inertia * time**2,
            "swung": self.amplitude * np.sin(pulse * time),
        }
        known: dict[tuple[str, str | None], np.ndarray] = {
            ("body_quat", name): rotation.about([0, 0, 1], turn) for name, turn in turns.items()
        }
        effort = -self.inertia * pulse**2 * turns["swung"]
        # the work of the FORCE motor is torque times angle; the SINE motor gives and takes back kinetic energy
        swinging = 0.5 * self.inertia * (self.amplitude * pulse * np.cos(pulse * time)) ** 2
        work = self.torque * turns["pushed"] + swinging - swinging[0]
        axis = np.array([0.0, 0.0, 1.0])
        return known | {
            ("motor_pos", "drive_forward"): time,
            ("motor_pos", "drive_backward"): time,
            ("motor_vel", "drive_backward"): np.ones_like(time),
            ("motor_pos", "drive_swung"): turns["swung"],
            ("motor_effort", "drive_forward"): np.zeros_like(time),
            ("motor_effort", "drive_pushed"): np.full_like(time, self.torque),
            ("motor_effort", "drive_swung"): effort,
            # on body2, the ground, and with the drive row; a FORCE motor's reaction is that of its spindle alone
            ("joint_torque", "drive_swung"): -effort[:, None] * axis,
            ("joint_torque", "drive_pushed"): np.zeros((time.size, 3)),
            ("work_motors", None): work,
        }
