"""Action and reaction, and the balance of power."""

import numpy as np
import pytest

from jaxmbs.dynamics.rows import row_plan
from tests.laws.elements import BUSHINGS, GROUPS, LANES, UNDAMPED
from tests.laws.evaluation import Sample, sample


#: Relative rounding of some hundred operations in float64.
EXACT = 1e-12


def _moment(point: np.ndarray, pos: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """The moment about `point` (3, lanes) of wrenches (n, 6, lanes) given about points `pos` (n, 3, lanes)."""
    return np.cross(pos - point, wrench[:, :3], axis=1) + wrench[:, 3:]


def _points() -> np.ndarray:
    return np.random.default_rng(2).uniform(-5, 5, (3, 3, LANES))


#: COM positions (n, 3, lanes) of body1, wrenches (n, 6, lanes) on it, and the same of body2.
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _assert_balanced(pairs: Pairs, names: list[str]) -> None:
    """Wrenches on two bodies cancel, about any point."""
    pos1, wrench1, pos2, wrench2 = pairs
    size = np.max(np.abs(wrench1), axis=(1, 2))
    assert np.all(size > 1e-3), f"nothing acts: {[name for name, s in zip(names, size, strict=True) if s <= 1e-3]}"
    _assert_small(wrench1[:, :3] + wrench2[:, :3], size, names)
    for point in _points():
        # arms are of up to 10 m
        _assert_small(_moment(point, pos1, wrench1) + _moment(point, pos2, wrench2), 10 * size, names)


def _assert_small(values: np.ndarray, size: np.ndarray, names: list[str]) -> None:
    worst = np.max(np.abs(values), axis=tuple(range(1, values.ndim)))
    bad = {name: (w, s) for name, w, s in zip(names, worst, size, strict=True) if not w <= EXACT * s}
    assert not bad, f"element: (sum, size of the terms): {bad}"


def _stack(group: Sample, name: str):
    return next(force for force in group.model.forces if type(force).__name__ == name)


def _wrenches(group: Sample, name: str, chosen: list[int]) -> Pairs:
    stack, pos = _stack(group, name), group.result["pos"]
    on1, on2 = group.result["wrenches"][name]
    index1, index2 = np.array(stack.body1)[chosen], np.array(stack.body2)[chosen]
    return pos[index1], on1[chosen], pos[index2], on2[chosen]


@pytest.mark.parametrize(("group", "name"), [("forces", "Tsda"), ("forces", "Rsda"), ("motors", "MotorForce")])
def test_forces_between_bodies_balance(group: str, name: str):
    data = sample(group)
    names = _stack(data, name).names
    _assert_balanced(_wrenches(data, name, list(range(len(names)))), list(names))


def test_bushing_forces_balance():
    """The forces of every bushing cancel; the moments too where stiffness is isotropic and nothing damps."""
    data = sample("forces")
    names = data.model.bushings.names
    pos1, on1, pos2, on2 = _wrenches(data, "Bushing", list(range(len(names))))
    _assert_small(on1[:, :3] + on2[:, :3], np.max(np.abs(on1), axis=(1, 2)), list(names))
    isotropic = names.index("bushing isotropic")
    _assert_balanced(_wrenches(data, "Bushing", [isotropic]), ["bushing isotropic"])
    # and the law is not balanced otherwise, as SEMANTICS says of Chrono's
    point = _points()[0]
    gap = _moment(point, pos1, on1) + _moment(point, pos2, on2)
    assert np.max(np.abs(gap[names.index("bushing lock")])) > 0.1


def test_loads_act_on_one_body():
    data = sample("forces")
    on1, on2 = data.result["wrenches"]["BodyLoad"]
    assert np.all(on1 == 0)
    assert np.all(np.max(np.abs(on2), axis=(1, 2)) > 0.1)


@pytest.mark.parametrize("group", ["constraints", "motors"])
def test_reactions_balance(group: str):
    """J1^T lambda on body1 and J2^T lambda on body2, row by row."""
    data = sample(group)
    plan, result = row_plan(data.model), data.result
    names = [f"{data.model.constraints[s].names[e]}, row {k}" for s, e, k in zip(plan.stack, plan.element, plan.kind)]
    multipliers = result["multipliers"][:, None]
    pos = result["pos"]
    on1, on2 = result["jacobian1"] * multipliers, result["jacobian2"] * multipliers
    _assert_balanced((pos[plan.body1], on1, pos[plan.body2], on2), names)


@pytest.mark.parametrize("group", ["constraints", "motors"])
def test_reported_reactions_are_those_of_the_rows(group: str):
    """The forces of the results are the sums of J2^T lambda over the rows of an element."""
    data = sample(group)
    plan, result, outputs = row_plan(data.model), data.result, data.result["outputs"]
    joints = [s for s, c in enumerate(data.model.constraints) if type(c).__name__ in ("FrameJoint", "UniversalJoint")]
    others = [s for s in range(len(data.model.constraints)) if s not in joints]
    for kind, stacks in (("joint", joints), ("constraint", others)):
        force = []
        for stack in stacks:
            for element in range(data.model.constraints[stack].count):
                rows = np.flatnonzero((plan.stack == stack) & (plan.element == element))
                force.append(np.sum(result["jacobian2"][rows, :3] * result["multipliers"][rows][:, None], axis=0))
        if not stacks:
            continue
        # found by another iteration, to about 1e-12 of the largest reaction in a well-conditioned mechanism
        expected = np.moveaxis(np.stack(force), -1, 0)
        np.testing.assert_allclose(outputs[f"{kind}_force"], expected, rtol=0, atol=1e-8 * np.max(np.abs(expected)))


@pytest.mark.parametrize("group", GROUPS)
def test_energy_changes_by_the_work_done(group: str):
    """d/dt (T + V) = - dissipation + power of motors + power of loads, along the motion, in every lane."""
    result = sample(group).result
    change = result["energy_rate"][0] + result["energy_rate"][1]
    dissipated, motors, loads = result["work_rate"]
    # rounding of the largest terms; the solve for multipliers leaves 1e-12 of them
    size = np.max(np.abs(np.stack([*result["energy_rate"], *result["work_rate"]])))
    np.testing.assert_allclose(change, motors + loads - dissipated, rtol=0, atol=1e-11 * size)
    # and the law has something to say: energy is exchanged, and by the right kinds of work
    assert np.all(np.abs(result["energy_rate"]) > 1e-3)
    assert (np.max(np.abs(motors)) > 1) == (group == "motors")
    assert (np.max(np.abs(loads)) > 1) == (group == "forces")
    assert (np.max(np.abs(dissipated)) > 1) == (group == "forces")


@pytest.mark.parametrize("name", ["Tsda", "Rsda", "Bushing"])
def test_dissipation(name: str):
    """What a spring does not store it dissipates: nothing without a damper, and never less than nothing."""
    data = sample("forces")
    names = _stack(data, name).names
    power, stored = data.result["power"][name], data.result["stored"][name]
    dissipated = -power - stored
    size = np.max(np.abs(power), axis=1) + np.max(np.abs(stored), axis=1)
    for element, rate, largest in zip(names, dissipated, size, strict=True):
        if element in UNDAMPED or element == "bushing isotropic":
            assert np.max(np.abs(rate)) <= EXACT * largest, element
            assert np.max(np.abs(power)) > 0.1, element
        elif element not in BUSHINGS and element != "rsda off axis":
            assert np.min(rate) >= -EXACT * largest, element
            assert np.max(rate) > 0.1, element


def test_dampers_dissipate_what_their_law_says():
    data = sample("forces")
    outputs = data.result["outputs"]
    for name, kind in (("tsda linear", "tsda"), ("rsda linear", "rsda")):
        stack = data.model.tsdas if kind == "tsda" else data.model.rsdas
        element = stack.names.index(name)
        rate = outputs[f"{kind}_rate"][:, element]
        key = type(stack).__name__
        dissipated = -(data.result["power"][key] + data.result["stored"][key])[element]
        np.testing.assert_allclose(dissipated, float(stack.damping[element]) * rate**2, rtol=1e-9, atol=1e-9)
