"""The JSON Schema of Chrono YAML files."""

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from jaxmbs.loaders.chrono.schema import ModelFile
from jaxmbs.loaders.chrono.schema_files import SimulationFile, SolverFile


class _WithoutNull(GenerateJsonSchema):
    """An optional key may be left out, but not left empty, so that `null` is no choice in the schema."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default", 0) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def json_schema() -> dict[str, Any]:
    """One JSON Schema for model, simulation and solver files, so that an editor needs only one."""
    files = TypeAdapter(ModelFile | SimulationFile | SolverFile)
    schema = files.json_schema(schema_generator=_WithoutNull)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Chrono YAML"}
    return head | schema
