"""Contact, visualization and finite elements are checked and kept."""

import json

import pytest

from jaxmbs.loaders import LoaderChrono
from tests.loaders.texts import DATA, GROUND, body, describe, errors, model, only_error


MATERIAL = {"name": "steel"}


def contact(shape, material=MATERIAL, **sections):
    section = {"materials": [material], "shapes": [{"material": "steel"} | shape]}
    return model(bodies=[GROUND, body(contact=section)], **sections)


def drawing(*shapes, **keys):
    return model(bodies=[GROUND, body(visualization={"shapes": list(shapes)} | keys)])


SPHERE = {"type": "SPHERE", "location": [0, 0, 0], "radius": 1}


def test_everything_is_kept_by_name():
    kept = LoaderChrono().describe(DATA / "everything.yaml").not_simulated
    assert json.loads(json.dumps(kept)) == kept
    assert list(kept["contact"]) == ["ground"]
    assert list(kept["visualization"]["bodies"]) == ["arm"]
    assert list(kept["visualization"]["tsdas"]) == ["spring"]
    assert [beam["name"] for beam in kept["fea"]["beams"]] == ["cable"]
    mesh = str(DATA / "meshes" / "wedge.obj")
    assert [shape.get("filename") for shape in kept["contact"]["ground"]["shapes"]] == [None] * 3 + [mesh] * 2
    assert kept["visualization"]["bodies"]["arm"]["model_file"] == mesh


def test_nothing_is_kept_of_a_plain_model():
    assert describe(model()).not_simulated == {}


def test_contact_is_kept_by_body():
    kept = describe(contact(SPHERE)).not_simulated["contact"]
    assert list(kept) == ["rod"]
    assert kept["rod"]["materials"][0] == {
        "name": "steel",
        "coefficient_of_friction": 0.8,
        "coefficient_of_restitution": 0.01,
    }
    assert kept["rod"]["shapes"][0]["type"] == "SPHERE"


def test_orientations_are_kept_as_quaternions():
    box = {"type": "BOX", "location": [0, 0, 0], "orientation": [180, 0, 0], "dimensions": [1, 2, 3]}
    kept = describe(drawing(box)).not_simulated["visualization"]["bodies"]["rod"]["shapes"][0]
    assert kept["orientation"] == pytest.approx([0, 0, 0, 1], abs=1e-15)


@pytest.mark.parametrize(
    ("shape", "missing"),
    [
        ({"type": "SPHERE", "location": [0, 0, 0]}, "radius"),
        ({"type": "BOX", "location": [0, 0, 0], "dimensions": [1, 1, 1]}, "orientation"),
        ({"type": "BOX", "location": [0, 0, 0], "orientation": [0, 0, 0]}, "dimensions"),
        ({"type": "CYLINDER", "location": [0, 0, 0], "radius": 1, "length": 1}, "axis"),
        ({"type": "MESH"}, "filename"),
    ],
)
def test_every_shape_has_keys_that_it_needs(shape, missing):
    expected = f"missing key '{missing}'; type {shape['type']} needs it"
    for text in (contact(shape), drawing(shape)):
        found = only_error(text)
        assert (found.element, found.message) == ("body 'rod', shape 1", expected)


def test_a_key_of_another_shape_is_warned_about():
    (warning,) = describe(drawing(SPHERE | {"dimensions": [1, 1, 1]})).warnings
    assert "body 'rod', shape 1: 'dimensions' has no effect with type SPHERE" in warning


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (SPHERE | {"material": "steal"}, "material: there is no material 'steal'"),
        (SPHERE | {"radius": -1}, "radius: must be greater than or equal to 0, got -1"),
        (SPHERE | {"type": "BALL"}, "type: there is no choice 'BALL'"),
        (SPHERE | {"color": [0, 0, 0]}, "unknown key 'color'"),
    ],
)
def test_what_no_collision_shape_can_have(shape, message):
    assert only_error(contact(shape)).message == message


def test_a_colour_is_between_zero_and_one():
    found = only_error(drawing(SPHERE | {"color": [0, 0, 2]}))
    assert found.message == "color[2]: must be less than or equal to 1, got 2"
    assert only_error(drawing({**SPHERE, "type": "HULL"})).message == "type: there is no choice 'HULL'"


@pytest.mark.parametrize(
    ("material", "message"),
    [
        ({"name": "steel", "coefficient_of_friction": -1}, "coefficient_of_friction: must be greater"),
        ({"name": "steel", "physical_properties": {"Young_modulus": 1}}, "physical_properties: missing key 'Poisson_r"),
        ({"name": "steel", "coefficients": {"normal_stiffness": 1}}, "coefficients: missing key 'normal_damping'"),
    ],
)
def test_what_no_material_can_have(material, message):
    found = errors(contact(SPHERE, material))[0]
    assert found.element == "body 'rod', material 'steel'"
    assert found.message.startswith(message)


def test_spellings_that_the_documents_disagree_on():
    material = {"name": "steel", "physical__properties": {"Youngs_modulus": "2e7", "Poisson_ratio": 0.3}}
    description = describe(contact(SPHERE, material))
    kept = description.not_simulated["contact"]["rod"]["materials"][0]["physical_properties"]
    assert kept == {"Young_modulus": 2e7, "Poisson_ratio": 0.3}
    assert (
        "'physical__properties' is read as 'physical_properties' (write 'physical_properties')"
        in (description.warnings[0])
    )
    assert "'Youngs_modulus' is read as 'Young_modulus'" in description.warnings[1]
    both = {"name": "steel", "physical_properties": {"Youngs_modulus": 1, "Young_modulus": 1, "Poisson_ratio": 0.3}}
    assert "are the same key" in only_error(contact(SPHERE, both)).message


def test_the_leftover_key_of_real_files():
    section = {"materials": [MATERIAL], "shapes": [SPHERE | {"material": "steel"}], "collision_family": 0}
    (warning,) = describe(model(bodies=[body(contact=section)])).warnings
    assert "body 'rod': contact: 'collision_family' has no effect" in warning


@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
def test_missing_meshes(dialect):
    mesh = {"type": "MESH", "filename": "nowhere.obj"}
    found = only_error(contact(mesh), dialect=dialect)
    assert found.element == "body 'rod', shape 1"
    assert found.message.startswith("filename: there is no file 'nowhere.obj'")
    assert only_error(contact({**mesh, "type": "HULL"})).message == found.message
    (warning,) = describe(drawing(mesh), dialect=dialect).warnings
    assert "there is no file 'nowhere.obj'" in warning
    (warning,) = describe(drawing(model_file="nowhere.obj"), dialect=dialect).warnings
    assert "body 'rod': visualization.model_file: there is no file 'nowhere.obj'" in warning


def test_relative_data_paths(tmp_path):
    """Relative to the model file in the seed dialect, to the simulation file in Chrono's."""
    (tmp_path / "models").mkdir()
    data_path = {"type": "relative", "root": "meshes"}
    (tmp_path / "models" / "model.yaml").write_text(contact({"type": "MESH", "filename": "m.obj"}, data_path=data_path))
    (tmp_path / "solver.yaml").write_text((DATA / "solver.yaml").read_text())
    run = tmp_path / "run.yaml"
    run.write_text("chrono-version: 10.0\ntype: MBS\nmodel: models/model.yaml\nsolver: solver.yaml\n")
    for dialect, folder in (("seed", tmp_path / "models"), ("chrono-10", tmp_path)):
        assert str(folder / "meshes" / "m.obj") in only_error(run, dialect=dialect).message
        (folder / "meshes").mkdir()
        (folder / "meshes" / "m.obj").write_text("")
        kept = LoaderChrono(dialect=dialect).describe(run).not_simulated["contact"]["rod"]["shapes"][0]
        assert kept["filename"] == str(folder / "meshes" / "m.obj")
        (folder / "meshes" / "m.obj").unlink()


def test_absolute_data_paths(tmp_path):
    (tmp_path / "m.obj").write_text("")
    for sections in ({}, {"data_path": {"type": "ABSOLUTE"}}):
        describe(contact({"type": "MESH", "filename": str(tmp_path / "m.obj")}, **sections))


CABLE = {
    "name": "cable",
    "type": "ANCF_CABLE",
    "num_elements": 5,
    "start_point": [0, 0, 0],
    "end_point": [1, 0, 0],
    "section": "wire",
}
WIRE = {
    "name": "wire",
    "type": "ANCF_CABLE",
    "diameter": 0.01,
    "Young_modulus": "1e8",
    "density": 1000,
    "Rayleight_damping": 0,
}
END = {"name": "end", "type": "NODE_FRAME", "node": {"mesh": "cable", "index": 6}, "body": "rod"}


def fea(section=WIRE, beam=CABLE, constraint=END):
    return model(FEA={"beam_sections": [section], "beams": [beam], "constraints": [constraint]})


def test_finite_elements_are_kept():
    kept = describe(fea()).not_simulated["fea"]
    assert kept["beam_sections"][0]["Young_modulus"] == 1e8
    assert kept["constraints"][0]["node"] == {"mesh": "cable", "index": 6}


@pytest.mark.parametrize(
    ("keys", "element", "message"),
    [
        ({"section": WIRE | {"diameter": -1}}, "FEA beam section 'wire'", "diameter: must be greater than or"),
        (
            {"section": {"name": "wire", "type": "ANCF_CABLE"}},
            "FEA beam section 'wire'",
            "missing key 'diameter'; type",
        ),
        ({"beam": CABLE | {"section": "wires"}}, "FEA beam 'cable'", "section: there is no beam section 'wires'"),
        ({"beam": CABLE | {"num_elements": 0}}, "FEA beam 'cable'", "num_elements: must be greater than or equal to 1"),
        ({"beam": CABLE | {"num_elements": 1.5}}, "FEA beam 'cable'", "num_elements: needs an integer, got '1.5'"),
        ({"beam": CABLE | {"end_point": [0, 0, 0]}}, "FEA beam 'cable'", "end_point: the beam has no length"),
        ({"beam": CABLE | {"type": "TYMOSHENKO"}}, "FEA beam 'cable'", "type: there is no choice 'TYMOSHENKO'"),
        ({"constraint": END | {"body": "x"}}, "FEA constraint 'end'", "body: there is no body 'x'"),
        ({"constraint": END | {"type": "NODESLOPE_FRAME"}}, "FEA constraint 'end'", "missing key 'body_direction'"),
        (
            {"constraint": END | {"node": {"mesh": "rope", "index": 1}}},
            "FEA constraint 'end'",
            "node.mesh: there is no mesh 'rope'",
        ),
        (
            {"constraint": END | {"node": {"mesh": "cable", "index": 7}}},
            "FEA constraint 'end'",
            "node.index: mesh 'cable' has 6 nodes",
        ),
        (
            {"constraint": END | {"node": {"mesh": "cable", "index": 0}}},
            "FEA constraint 'end'",
            "node.index: must be greater than or equal to 1, got 0",
        ),
    ],
)
def test_what_no_finite_element_can_have(keys, element, message):
    found = errors(fea(**keys))[0]
    assert found.element == element
    assert found.message.startswith(message)


def test_the_key_of_rayleigh_damping():
    section = {key: value for key, value in WIRE.items() if key != "Rayleight_damping"} | {"Rayleigh_damping": 0}
    assert "did you mean 'Rayleight_damping'?" in [error.fix for error in errors(fea(section))]
