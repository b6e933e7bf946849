import re
from typing import Any

import pytest
import yaml

from jaxmbs.loaders import json_schema
from tests.loaders.texts import DATA


SCHEMA = json_schema("chrono")


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    return SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def valid(value: Any, schema: dict[str, Any]) -> bool:
    """As much of JSON Schema as these schemas use."""
    schema = resolve(schema)
    checks = []
    if "anyOf" in schema:
        checks.append(any(valid(value, choice) for choice in schema["anyOf"]))
    if "enum" in schema:
        checks.append(value in schema["enum"])
    if "const" in schema:
        checks.append(value == schema["const"])
    if "pattern" in schema and isinstance(value, str):
        checks.append(re.search(schema["pattern"], value) is not None)
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
    if "type" in schema:
        checks.append(isinstance(value, types[schema["type"]]))
    if isinstance(value, list):
        checks.append(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)))
        checks.extend(valid(item, schema["items"]) for item in value if "items" in schema)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        checks.append(set(schema.get("required", ())) <= set(value))
        checks.append(schema.get("additionalProperties", True) or set(value) <= set(properties))
        checks.extend(valid(item, properties[key]) for key, item in value.items() if key in properties)
        for key, others in schema.get("dependentRequired", {}).items():
            checks.append(key not in value or set(others) <= set(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        checks.append(value >= schema.get("minimum", value) and value <= schema.get("maximum", value))
        checks.append("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
    for rule in (schema, *schema.get("allOf", ())):
        if "if" in rule:
            checks.append(valid(value, rule.get("then" if valid(value, rule["if"]) else "else", {})))
    return all(checks)


def as_editor(name: str) -> Any:
    """The file as an editor sees it: YAML 1.2, where 1e5 is a number."""
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
    )
    return yaml.load((DATA / name).read_text(), loader)


def test_it_accepts_files():
    for name, kind in (("everything.yaml", 0), ("run.yaml", 1), ("solver.yaml", 2)):
        tree = as_editor(name)
        assert [valid(tree, choice) for choice in SCHEMA["anyOf"]] == [index == kind for index in range(3)]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda model: model.update(extra=1),
        lambda model: model.pop("bodies"),
        lambda model: model["bodies"][1].pop("mass"),
        lambda model: model["bodies"][1].update(mass=-1),
        lambda model: model["bodies"][1].update(mass="heavy"),
        lambda model: model["joints"][0].update(type="WELD"),
        lambda model: model["joints"][1].pop("axis"),
        lambda model: model["joints"][1].update(axis=[1, 2]),
        lambda model: model["tsdas"][0].pop("free_length"),
        lambda model: model["motors"][0]["actuation_function"].pop("value"),
    ],
)
def test_it_refuses_what_is_wrong(break_it):
    tree = as_editor("everything.yaml")
    break_it(tree["model"])
    assert not valid(tree, SCHEMA)


def test_every_key_has_a_description():
    for name, definition in SCHEMA["$defs"].items():
        for key, value in definition.get("properties", {}).items():
            assert value.get("description"), f"{name}.{key}"


def test_enumerations_offer_their_values_and_accept_any_case():
    joint = SCHEMA["$defs"]["JointType"]
    assert joint["anyOf"][0]["enum"][:2] == ["LOCK", "REVOLUTE"]
    assert re.search(joint["anyOf"][1]["pattern"], "POinT_liNE")
    assert not re.search(joint["anyOf"][1]["pattern"], "POINT-LINE")


def test_an_unknown_format():
    with pytest.raises(ValueError, match="there is no format 'urdf'; choose from chrono"):
        json_schema("urdf")
