"""Functions of time, loads on bodies and motors."""

import numpy as np

from jaxmbs._description import Actuation, FunctionDescription, FunctionKind, Guide, LoadKind, MotorKind, Repeat
from jaxmbs.loaders.chrono.context import Context
from jaxmbs.loaders.chrono.parse import Place
from jaxmbs.loaders.chrono.rotation import rotate
from jaxmbs.loaders.chrono.schema_forces import (
    BodyLoad,
    FunctionSection,
    FunctionType,
    LoadController,
    LoadType,
    Motor,
    MotorType,
    RepeatSection,
)


def lower_motors(context: Context) -> None:
    """Add all motors that make sense."""
    for motor, place in context.elements("motors", context.model.motors):
        fine = context.axes_fine(motor, place, "axis")
        fine = context.bodies_fine(motor, place, "body1", "body2") and fine
        with context.placing(place):
            function = _lower_function(context, motor.actuation_function, motor.name, place, "actuation_function")
            if fine and function is not None:
                _lower_motor(context, motor, function, place)


def _lower_motor(context: Context, motor: Motor, function: FunctionDescription, place: Place) -> None:
    """Chrono and the description agree: a motor moves body1 relative to body2."""
    is_linear = motor.type is MotorType.LINEAR
    context.description.add_motor(
        motor.name,
        MotorKind[motor.type.name],
        motor.body1,
        motor.body2,
        pos=motor.location,
        axis=motor.axis,
        actuation=Actuation[motor.actuation_type.name],
        function=function,
        guide=Guide[motor.guide.name if is_linear else motor.spindle.name],
    )
    context.defaults(motor, place)


def lower_loads(context: Context) -> None:
    """Add all loads that make sense, those of controllers included."""
    for load, place in context.elements("body_loads", context.model.body_loads):
        fine = _point_given(context, load, place)
        fine = context.bodies_fine(load, place, "body") and fine
        with context.placing(place):
            modulation = None
            if load.modulation_function is not None:
                modulation = _lower_function(context, load.modulation_function, load.name, place, "modulation_function")
                fine = fine and modulation is not None
            if fine:
                _lower_load(context, load, place, load.load, modulation, None)
    for load, place in context.elements("load_controllers", context.model.load_controllers):
        fine = _point_given(context, load, place)
        fine = context.bodies_fine(load, place, "body") and fine
        if load.load is not None and any(load.load):
            (place / "load").warning("this has no effect: the controller gives the load", "remove it")
        name = context.add_input(load.name, place)
        if fine and name is not None:
            with context.placing(place):
                _lower_load(context, load, place, [0.0, 0.0, 0.0], None, name)


def _point_given(context: Context, load: BodyLoad | LoadController, place: Place) -> bool:
    """Chrono 10 fails without the two keys that its schema gives defaults for."""
    if not context.is_chrono or load.type is not LoadType.FORCE:
        return True
    missing = [key for key in ("point", "local_point") if key not in load.model_fields_set]
    for key in missing:
        description = type(load).model_fields[key].description
        place.error(f"missing key {key!r}; Chrono 10 needs it for a FORCE", f"add {key!r}: {description}")
    return not missing


def _lower_load(
    context: Context,
    load: BodyLoad | LoadController,
    place: Place,
    vector: list[float],
    modulation: FunctionDescription | None,
    input: str | None,
) -> None:
    direction, point = np.array(vector), np.array(load.point)
    if context.is_chrono:
        # Chrono 10 takes "local" for the centre-of-mass frame, the description for the reference frame.
        body = context.description.body(load.body)
        if load.local_load:
            direction = rotate(body.com_quat, direction)
        if load.local_point:
            point = body.com_pos + rotate(body.com_quat, point)
        if input is not None and load.local_load and not np.allclose(body.com_quat, [1, 0, 0, 0], atol=1e-12):
            message = f"the controller's load is given in reference axes of body {body.name!r}, Chrono's in COM axes"
            (place / "local_load").warning(message)
    context.description.add_load(
        load.name,
        LoadKind[load.type.name],
        load.body,
        load=direction,
        local_load=load.local_load,
        point=point if load.type is LoadType.FORCE else (0.0, 0.0, 0.0),
        local_point=load.local_point,
        modulation=modulation,
        input=input,
    )
    context.defaults(load, place)


def _lower_function(
    context: Context, function: FunctionSection, owner: str, place: Place, key: str
) -> FunctionDescription | None:
    """A function of time in SI units and radians; `None` when an error was recorded."""
    repeat = None if function.repeat is None else _lower_repeat(context, function.repeat)
    if function.type is FunctionType.CONTROLLER:
        name = context.add_input(owner, place)
        return None if name is None else FunctionDescription.controller(name)
    if function.type is FunctionType.DATA:
        return FunctionDescription.data(function.data or [], repeat=repeat)
    context.defaults(function, place / key)
    numbers = {
        FunctionType.CONSTANT: [function.value],
        FunctionType.POLYNOMIAL: function.coefficients or [],
        FunctionType.SINE: [function.amplitude, function.frequency, context.angle(function.phase), function.shift],
        FunctionType.RAMP: [function.slope, function.intercept],
    }[function.type]
    coefficients = tuple(float(number or 0.0) for number in numbers)
    return FunctionDescription(FunctionKind[function.type.name], coefficients, repeat=repeat)


def _lower_repeat(context: Context, repeat: RepeatSection) -> Repeat:
    return Repeat(repeat.start, repeat.width, repeat.shift, truncated=context.is_chrono)
