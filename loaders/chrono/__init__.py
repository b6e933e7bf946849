"""Chrono YAML: model, simulation and solver files."""

from jaxmbs.loaders.chrono.dialect import Dialect as Dialect
from jaxmbs.loaders.chrono.json_schema import json_schema as json_schema
from jaxmbs.loaders.chrono.loader import LoaderChrono as LoaderChrono
