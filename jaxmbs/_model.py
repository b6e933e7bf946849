"""A compiled mechanism."""

import dataclasses
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._bodies import Bodies
from jaxmbs._functions import Functions, merged_kinks
from jaxmbs._lanes import batch_shape, check_shapes, core_shapes
from jaxmbs.constraints import (
    AbstractConstraint,
    Distance,
    FrameJoint,
    RevoluteSpherical,
    RevoluteTranslational,
    UniversalJoint,
)
from jaxmbs.forces import AbstractForce, BodyLoad, Bushing, MotorForce, Rsda, Tsda


_Element = TypeVar("_Element")


class Model(eqx.Module):
    """Constants of a mechanism: a pytree whose array leaves are the numbers of the model file.

    Every leaf may carry leading batch axes; change them with `equinox.tree_at`. Elements are stacked by type, so
    that the traced program grows with the number of types and not of bodies. `constraints` and `forces` hold one
    stack per type; the properties below find a stack by its type.

    - gravity: (3,) [m/s2], world axes.
    """

    gravity: Array
    bodies: Bodies
    functions: Functions
    constraints: tuple[AbstractConstraint, ...]
    forces: tuple[AbstractForce, ...]
    name: str = eqx.field(static=True)
    #: The shape of every array leaf without a batch, in the order of `jax.tree.leaves`.
    leaf_shapes: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    #: What the file has beside (contact, visualization, fea), with the names of the elements that have it.
    not_simulated: tuple[tuple[str, tuple[str, ...]], ...] = eqx.field(static=True)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The common batch shape of the leaves; () for a single mechanism.

        **Raises** `ValueError` naming a leaf of a wrong shape.
        """
        check_shapes(self, self.leaf_shapes)
        return batch_shape(self, self.leaf_ndims)

    @property
    def leaf_ndims(self) -> tuple[int, ...]:
        """Axes of every array leaf without a batch."""
        return tuple(len(shape) for shape in self.leaf_shapes)

    @property
    def dtype(self) -> jnp.dtype:
        return self.bodies.mass.dtype

    @property
    def joints(self) -> FrameJoint:
        """The stack of frame joints (motors' guides and spindles included)."""
        return _only(self.constraints, FrameJoint)

    @property
    def universal_joints(self) -> UniversalJoint:
        return _only(self.constraints, UniversalJoint)

    @property
    def distances(self) -> Distance:
        return _only(self.constraints, Distance)

    @property
    def revolute_sphericals(self) -> RevoluteSpherical:
        return _only(self.constraints, RevoluteSpherical)

    @property
    def revolute_translationals(self) -> RevoluteTranslational:
        return _only(self.constraints, RevoluteTranslational)

    @property
    def tsdas(self) -> Tsda:
        return _only(self.forces, Tsda)

    @property
    def rsdas(self) -> Rsda:
        return _only(self.forces, Rsda)

    @property
    def bushings(self) -> Bushing:
        return _only(self.forces, Bushing)

    @property
    def motor_forces(self) -> MotorForce:
        return _only(self.forces, MotorForce)

    @property
    def loads(self) -> BodyLoad:
        return _only(self.forces, BodyLoad)

    def input_names(self) -> dict[str, int]:
        """External values and their number of components: 1 for functions, 3 for load controllers."""
        names = dict.fromkeys(self.functions.inputs, 1)
        for force in self.forces:
            if isinstance(force, BodyLoad):
                names.update({name: 3 for name in force.inputs if name is not None})
        return names


def _only(stacks: tuple[object, ...], kind: type[_Element]) -> _Element:
    for stack in stacks:
        if isinstance(stack, kind):
            return stack
    raise AttributeError(f"the model has no {kind.__name__} elements")


def with_element(model: Model, element: AbstractConstraint | AbstractForce) -> Model:
    """The model with one more stack of elements, for types that the model description does not know.

    The elements' arrays must be unbatched, in the model's dtype.
    """
    constraints, forces = model.constraints, model.forces
    if isinstance(element, AbstractConstraint):
        constraints = (*constraints, element)
    else:
        forces = (*forces, element)
    if model.batch_shape != ():
        raise ValueError("add elements before the model is batched")
    bodies = model.bodies.count
    for index in (*element.body1, *element.body2):
        if not -1 <= index < bodies:
            raise ValueError(f"{type(element).__name__}: body index {index} is outside -1 (the world) .. {bodies - 1}")
    return make_model(
        gravity=model.gravity,
        bodies=model.bodies,
        functions=model.functions,
        constraints=constraints,
        forces=forces,
        name=model.name,
        not_simulated=model.not_simulated,
    )


def make_model(**fields: Any) -> Model:
    """A model of unbatched parts; records their number of axes."""
    parts = {name: fields[name] for name in ("gravity", "bodies", "functions", "constraints", "forces")}
    draft = Model(**parts, name=fields["name"], leaf_shapes=(), not_simulated=fields["not_simulated"])
    return dataclasses.replace(draft, leaf_shapes=core_shapes(draft))


def stack(models: list[Model]) -> Model:
    """One batched model from models of the same structure: every leaf gets a leading batch axis.

    **Raises** `ValueError` when the structures differ.
    """
    if not models:
        raise ValueError("stack needs at least one model")
    wrong = [type(model).__name__ for model in models if not isinstance(model, Model)]
    if wrong:
        raise TypeError(f"stack needs a list of compiled models, got {wrong[0]}; see jaxmbs.compile_model")
    batches = list(dict.fromkeys(model.batch_shape for model in models))
    if len(batches) > 1:
        raise ValueError(
            f"stack needs models of one batch shape, got {batches[0]} and {batches[1]}; bring the others to it with "
            "jaxmbs.broadcast, or join batches with jax.tree.map(lambda *x: jax.numpy.concatenate(x), ...)"
        )
    dtypes = list(dict.fromkeys(str(model.dtype) for model in models))
    if len(dtypes) > 1:
        raise ValueError(f"stack needs models of one dtype, got {dtypes[0]} and {dtypes[1]}")
    functions = merged_kinks([model.functions for model in models])
    models = [dataclasses.replace(m, functions=f) for m, f in zip(models, functions, strict=True)]
    structures = {jax.tree.structure(dataclasses.replace(model, leaf_shapes=())) for model in models}
    if len(structures) > 1:
        raise ValueError("the models differ in structure (elements, names or connections), not only in numbers")
    if len({core_shapes(model) for model in models}) > 1:
        raise ValueError("the models differ in the lengths of their tables; give tables of equally many points")
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)


def broadcast(model: Model, count: int) -> Model:
    """`count` copies of a model as a batch, ready to have single leaves replaced."""
    if not isinstance(count, int | np.integer):
        raise TypeError(f"broadcast needs a number of copies, got {count!r}")
    if count < 1:
        raise ValueError(f"broadcast needs a positive count, got {count}")
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), model)
