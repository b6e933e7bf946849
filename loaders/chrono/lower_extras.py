"""What is checked and kept, but not simulated: contact, visualization and finite elements."""

from typing import Any

from jaxmbs.loaders._reader import did_you_mean
from jaxmbs.loaders._source import is_file
from jaxmbs.loaders.chrono.context import Context
from jaxmbs.loaders.chrono.parse import Place
from jaxmbs.loaders.chrono.schema import Body
from jaxmbs.loaders.chrono.schema_fea import Fea, FeaNode


def lower_extras(context: Context) -> None:
    """Fill `not_simulated`.

    - `contact`: by the name of the body.
    - `visualization`: `bodies` and `tsdas`, by name.
    - `fea`: the section.

    All are JSON-able and as in the file, but with quaternions for orientations and full paths for files.
    """
    contact, drawn_bodies, drawn_tsdas = {}, {}, {}
    for body, place in context.elements("bodies", context.model.bodies):
        if body.contact is not None:
            contact[body.name] = _lower_contact(context, body, place / "contact")
        if body.visualization is not None:
            drawn_bodies[body.name] = _lower_visualization(context, body, place / "visualization")
    for tsda in context.model.tsdas:
        if tsda.visualization is not None:
            drawn_tsdas[tsda.name] = tsda.visualization.model_dump(mode="json", exclude_none=True)
    kept = context.description.not_simulated
    if contact:
        kept["contact"] = contact
    drawn = {"bodies": drawn_bodies, "tsdas": drawn_tsdas}
    if any(drawn.values()):
        kept["visualization"] = {section: items for section, items in drawn.items() if items}
    if context.model.FEA is not None:
        _check_fea(context, context.model.FEA)
        kept["fea"] = context.model.FEA.model_dump(mode="json", exclude_none=True)


def _lower_contact(context: Context, body: Body, place: Place) -> dict[str, Any]:
    assert body.contact is not None
    names = {material.name for material in body.contact.materials}
    result = body.contact.model_dump(mode="json", exclude_none=True)
    for index, shape in enumerate(body.contact.shapes):
        at = place / "shapes" / index
        _check_name(shape.material, names, "material", at / "material")
        _lower_shape(context, result["shapes"][index], at, file_is_needed=True)
    return result


def _lower_visualization(context: Context, body: Body, place: Place) -> dict[str, Any]:
    assert body.visualization is not None
    result = body.visualization.model_dump(mode="json", exclude_none=True)
    if "model_file" in result:
        result["model_file"] = _lower_file(context, result["model_file"], place / "model_file", is_needed=False)
    for index, shape in enumerate(result["shapes"]):
        _lower_shape(context, shape, place / "shapes" / index, file_is_needed=False)
    return result


def _lower_shape(context: Context, shape: dict[str, Any], place: Place, *, file_is_needed: bool) -> None:
    if "orientation" in shape:
        quat = context.orientation(shape["orientation"], place / "orientation")
        shape["orientation"] = [] if quat is None else quat.tolist()
    if "filename" in shape:
        shape["filename"] = _lower_file(context, shape["filename"], place / "filename", is_needed=file_is_needed)
    if "axis" in shape and not any(shape["axis"]):
        (place / "axis").error("the axis is zero", "give a direction such as [0, 0, 1]")


def _lower_file(context: Context, name: str, place: Place, *, is_needed: bool) -> str:
    path = context.data_file(name)
    if not is_file(path):
        message, fix = f"there is no file {str(path)!r}", "check the name and 'data_path'"
        if is_needed:
            place.error(message, fix)
        else:
            place.warning(message, fix)
    return str(path.absolute())


def _check_fea(context: Context, fea: Fea) -> None:
    """Every name must lead to something, and every node to one of its mesh."""
    root = ("model", "FEA")
    sections = context.parsed.names((*root, "beam_sections"))
    materials = context.parsed.names((*root, "materials"))
    meshes = context.parsed.names((*root, "beams")) | context.parsed.names((*root, "shells"))
    for beam, place in context.parsed.elements((*root, "beams"), fea.beams):
        _check_name(beam.section, sections, "beam section", place / "section")
        _check_name(beam.material, materials, "material", place / "material")
        if beam.start_point == beam.end_point:
            (place / "end_point").error("the beam has no length", "move one of its ends")
    for constraint, place in context.parsed.elements((*root, "constraints"), fea.constraints):
        for key in ("node", "node1", "node2"):
            node = getattr(constraint, key)
            if node is not None:
                _check_name(node.mesh, meshes, "mesh", place / key / "mesh")
                _check_index(fea, node, place / key / "index")
        if constraint.body is not None:
            context.bodies_fine(constraint, place, "body")
        context.axes_fine(constraint, place, "body_direction")


def _check_name(name: str | None, names: set[str], what: str, place: Place) -> None:
    if name is not None and name not in names:
        place.error(f"there is no {what} {name!r}", did_you_mean(name, sorted(names)))


def _check_index(fea: Fea, node: FeaNode, place: Place) -> None:
    for beam in fea.beams:
        if beam.name == node.mesh and node.index > beam.num_elements + 1:
            place.error(f"mesh {node.mesh!r} has {beam.num_elements + 1} nodes", "nodes are counted from one")
