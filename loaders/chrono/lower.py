"""Schema to `ModelDescription`: the only place where the conventions of the format are settled."""

from pathlib import Path

import numpy as np

from jaxmbs._description import ModelDescription
from jaxmbs.loaders.chrono.context import Context
from jaxmbs.loaders.chrono.dialect import Dialect
from jaxmbs.loaders.chrono.lower_actuation import lower_loads, lower_motors
from jaxmbs.loaders.chrono.lower_bodies import lower_bodies
from jaxmbs.loaders.chrono.lower_extras import lower_extras
from jaxmbs.loaders.chrono.lower_joints import lower_constraints, lower_joints
from jaxmbs.loaders.chrono.lower_springs import lower_rsdas, lower_tsdas
from jaxmbs.loaders.chrono.parse import Parsed, Place


#: The format's own default [m/s2].
GRAVITY = (0.0, 0.0, -9.8)


def lower(parsed: Parsed, dialect: Dialect, folder: Path) -> ModelDescription:
    """Fill a description from a model file.

    **Arguments:**

    - `parsed`: the model file; its schema must be there.
    - `dialect`: which meaning the file has.
    - `folder`: where RELATIVE data paths start.

    **Returns:** the description; it is complete only if no errors were recorded.
    """
    model = parsed.schema.model
    description = ModelDescription(name=model.name, gravity=np.array(GRAVITY))
    context = Context(parsed, dialect, description, folder)
    if not model.bodies and not parsed.names(("model", "bodies")):
        Place(parsed.reader, ("model", "bodies")).warning("the model has no bodies")
    context.defaults(model, Place(parsed.reader, ("model",)), *_SECTIONS)
    if model.data_path is not None:
        context.defaults(model.data_path, Place(parsed.reader, ("model", "data_path")))
    lower_bodies(context)
    lower_joints(context)
    lower_constraints(context)
    lower_tsdas(context)
    lower_rsdas(context)
    lower_motors(context)
    lower_loads(context)
    lower_extras(context)
    return description


_SECTIONS = ("bodies", "joints", "constraints", "tsdas", "rsdas", "motors", "body_loads", "load_controllers")
