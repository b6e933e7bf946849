"""Small mechanisms that several tests use."""

import numpy as np

import jaxmbs as mbs


#: A flywheel on a motor that a controller drives, with a damper to the ground; the motor's spindle is its bearing.
FLYWHEEL = """
chrono-version: 10.0
model:
  name: flywheel
  bodies:
    - {name: ground, fixed: true, location: [0, 0, 0]}
    - {name: wheel, location: [0, 0, 0], mass: 2, inertia: {moments: [1, 1, 0.5]}}
  motors:
    - name: drive
      type: ROTATION
      body1: wheel
      body2: ground
      location: [0, 0, 0]
      axis: [0, 0, 1]
      actuation_type: FORCE
      actuation_function: {type: CONTROLLER}
  tsdas:
    - {name: spring, body1: wheel, body2: ground, point1: [0, 0, 0], point2: [0, 0, 1], free_length: 1,
       spring_coefficient: 10}
"""
#: Of the flywheel about its axis [kg m2].
FLYWHEEL_INERTIA = 0.5


def four_bar(turn: np.ndarray | None = None) -> mbs.ModelDescription:
    """A planar four-bar of 3-D revolutes: ground 1 m, crank 0.3 at 60 degrees, coupler 0.9, rocker; 1 kg/m.

    - turn: a rotation matrix that is applied to all of it, gravity included.
    """
    turn = np.eye(3) if turn is None else turn
    crank, coupler, rocker = np.radians([60.0, 29.0719, 95.1957])
    a, d = np.zeros(3), np.array([1.0, 0.0, 0.0])
    b = 0.3 * np.array([np.cos(crank), 0.0, np.sin(crank)])
    c = b + 0.9 * np.array([np.cos(coupler), 0.0, np.sin(coupler)])
    del rocker  # its length and angle follow from c
    model = mbs.ModelDescription(name="four-bar", gravity=turn @ [0.0, 0.0, -9.81])
    model.add_body("ground", fixed=True)
    for name, start, end in (("crank", a, b), ("coupler", b, c), ("rocker", d, c)):
        length = float(np.linalg.norm(end - start))
        x = (end - start) / length
        inertia = length**3 / 12 * (np.eye(3) - np.outer(x, x)) + 1e-6 * np.eye(3)
        model.add_body(name, mass=length, inertia=turn @ inertia @ turn.T, pos=turn @ (start + end) / 2)
    axis = turn @ [0.0, 1.0, 0.0]
    pairs = (("A", "ground", "crank", a), ("B", "crank", "coupler", b), ("C", "coupler", "rocker", c))
    for name, body1, body2, pos in (*pairs, ("D", "ground", "rocker", d)):
        model.add_joint(name, mbs.JointKind.REVOLUTE, body1, body2, pos=turn @ pos, axis=axis)
    return model
