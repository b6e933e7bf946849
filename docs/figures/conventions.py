"""Draws docs/img/conventions.svg: frames of a body and the signs of the elements.

Run it with `python docs/figures/conventions.py` after a change; the picture is committed.
"""

from pathlib import Path

import matplotlib


matplotlib.use("svg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.patches import Arc, Circle, FancyArrowPatch, FancyBboxPatch, PathPatch  # noqa: E402
from matplotlib.path import Path as Outline  # noqa: E402
from matplotlib.transforms import Affine2D  # noqa: E402


BODY1, BODY2, EFFORT, INK, FAINT = "#2f6fb0", "#d9822b", "#c0213e", "#22303c", "#8a96a3"
SIZE = 9.5


def turn(angle: float) -> np.ndarray:
    """Rotation matrix of the plane; the angle is in degrees."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return np.array([[c, -s], [s, c]])


def arrow(ax: Axes, start, end, color=INK, width=1.6, head=9.0, style="-|>", bend=0.0, line="-") -> None:
    """A straight arrow, or a bent one."""
    ax.add_patch(
        FancyArrowPatch(
            tuple(start),
            tuple(end),
            arrowstyle=style,
            mutation_scale=head,
            color=color,
            lw=width,
            shrinkA=0,
            shrinkB=0,
            connectionstyle=f"arc3,rad={bend}",
            linestyle=line,
            zorder=5,
        )
    )


def around(ax: Axes, center, radius: float, start: float, end: float, color=EFFORT, width=1.8) -> None:
    """An arrow along a circle, from one angle to another [degrees]."""
    tip = 7.0 / radius if abs(end - start) > 20 else 3.0  # the head takes the last degrees
    sign = np.sign(end - start)
    low, high = sorted((start, end - sign * tip))
    ax.add_patch(Arc(tuple(center), 2 * radius, 2 * radius, theta1=low, theta2=high, color=color, lw=width, zorder=5))
    at = [np.asarray(center) + radius * turn(angle) @ [1, 0] for angle in (end - 1.2 * sign * tip, end)]
    arrow(ax, at[0], at[1], color, width)


def frame(ax: Axes, origin, angle: float, names: tuple[str, str], size=0.62, color=INK) -> None:
    """Two axes of a frame with their names."""
    origin = np.asarray(origin, float)
    for name, axis in zip(names, ([1, 0], [0, 1]), strict=True):
        end = origin + size * turn(angle) @ axis
        arrow(ax, origin, end, color, 1.4, 8)
        x, y = origin + (size + 0.14) * turn(angle) @ axis
        ax.text(x, y, name, color=color, ha="center", va="center", fontsize=SIZE - 1)
    ax.add_patch(Circle(tuple(origin), 0.045, color=color, zorder=6))


def bar(ax: Axes, start, angle: float, length: float, color: str, height=0.34) -> None:
    """A rounded link that starts at a point."""
    patch = FancyBboxPatch(
        (-0.02, -height / 2 + 0.08),
        length - 0.06,
        height - 0.16,
        boxstyle="round,pad=0.08,rounding_size=0.16",
        fc=color + "38",
        ec=color,
        lw=1.4,
        zorder=2,
    )
    patch.set_transform(Affine2D().rotate_deg(angle).translate(*start) + ax.transData)
    ax.add_patch(patch)


def blob(ax: Axes, center, scale: float, color: str, angle=0.0) -> None:
    """A body of no particular shape."""
    radii = np.array([1.0, 1.08, 0.9, 1.05, 1.15, 0.95, 0.88, 1.04])
    angles = np.linspace(0, 2 * np.pi, len(radii), endpoint=False)
    points = (radii * np.stack([1.25 * np.cos(angles), np.sin(angles)])).T * scale @ turn(angle).T + np.asarray(center)
    count = len(points)
    middle = [(points[i] + points[(i + 1) % count]) / 2 for i in range(count)]
    vertices, codes = [middle[-1]], [Outline.MOVETO]
    for corner, end in zip(points, middle, strict=True):
        vertices += [corner, end]
        codes += [Outline.CURVE3, Outline.CURVE3]
    ax.add_patch(PathPatch(Outline(vertices, codes), fc=color + "30", ec=color, lw=1.4, zorder=1))


def out_of_page(ax: Axes, center, label: str, offset=(0.2, -0.27)) -> None:
    """An axis that points at the reader."""
    ax.add_patch(Circle(tuple(center), 0.11, fc="white", ec=INK, lw=1.4, zorder=7))
    ax.add_patch(Circle(tuple(center), 0.03, color=INK, zorder=8))
    ax.text(center[0] + offset[0], center[1] + offset[1], label, fontsize=SIZE - 0.5, color=INK, zorder=9)


def note(ax: Axes, x: float, y: float, text: str, color=INK, **kwargs) -> None:
    """Text inside a panel."""
    ax.text(x, y, text, color=color, fontsize=SIZE, va="center", **{"ha": "center", **kwargs}, zorder=9)


def panel(ax: Axes, title: str, caption: str) -> None:
    """Limits, title and the line below."""
    ax.set_xlim(-2.3, 2.3)
    ax.set_ylim(-2.05, 1.75)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.set_title(title, fontsize=SIZE + 2, color=INK, fontweight="bold", loc="left", pad=2)
    ax.text(-2.25, -2.02, caption, fontsize=SIZE - 0.5, color=INK, va="bottom", linespacing=1.35)


def draw_frames(ax: Axes) -> None:
    """World, reference frame, COM frame and a joint frame."""
    panel(
        ax,
        "Frames of a body",
        "pos, vel: of the COM, in world axes.\nomega: in COM axes.  quat: COM axes to world axes.",
    )
    world, ref, com = np.array([-1.95, -1.2]), np.array([-0.25, -0.35]), np.array([0.75, 0.42])
    blob(ax, (0.5, 0.2), 1.08, BODY2, 12)
    frame(ax, world, 0, ("X", "Z"))
    frame(ax, ref, -22, ("x", "z"), 0.5, FAINT)
    frame(ax, com, 50, ("x", "z"), 0.55)
    arrow(ax, world, ref, FAINT, 1.2, 8, line="--")
    arrow(ax, ref, com, FAINT, 1.2, 8, line="--")
    arrow(ax, world, com, BODY1, 1.5, 9, bend=-0.42)
    note(ax, -1.6, -1.43, "world")
    note(ax, -0.3, -0.63, "REF", FAINT)
    note(ax, 1.06, 0.24, "COM")
    note(ax, -0.72, -0.88, "location", FAINT, fontstyle="italic")
    note(ax, 0.36, -0.08, "com.location", FAINT, fontstyle="italic", rotation=38)
    note(ax, -1.3, 0.7, "pos", BODY1, fontweight="bold")


def draw_spring(ax: Axes) -> None:
    """A spring-damper between two points."""
    panel(ax, "TSDA", "Positive force pushes the bodies apart.\nA stretched spring pulls: its force is negative.")
    p1, p2 = np.array([-0.85, 0.1]), np.array([0.85, 0.1])
    blob(ax, (-1.4, 0.1), 0.58, BODY1)
    blob(ax, (1.4, 0.1), 0.58, BODY2)
    x = np.linspace(0, 1, 17)
    y = np.where((np.arange(17) > 2) & (np.arange(17) < 14), 0.13 * (-1.0) ** np.arange(17), 0)
    ax.plot(p1[0] + x * (p2 - p1)[0], p1[1] + y, color=INK, lw=1.5, zorder=4)
    for point, name, shift in ((p1, "p1", -0.05), (p2, "p2", 0.05)):
        ax.add_patch(Circle(tuple(point), 0.055, color=INK, zorder=6))
        note(ax, point[0] + shift, point[1] - 0.22, name)
    arrow(ax, p1 + [0, 0.72], p1 + [-0.95, 0.72], EFFORT, 2.0, 11)
    arrow(ax, p2 + [0, 0.72], p2 + [0.95, 0.72], EFFORT, 2.0, 11)
    ax.plot([p1[0]] * 2, [0.2, 0.95], color=FAINT, lw=0.8, ls=":")
    ax.plot([p2[0]] * 2, [0.2, 0.95], color=FAINT, lw=0.8, ls=":")
    note(ax, -1.33, 1.03, "F > 0 on body1", EFFORT)
    note(ax, 1.33, 1.03, "F > 0 on body2", EFFORT)
    arrow(ax, (-0.85, -0.62), (0.85, -0.62), INK, 1.1, 8, "<|-|>")
    note(ax, 0, -0.8, "length")
    note(ax, -1.5, 0.1, "body1", BODY1, fontweight="bold")
    note(ax, 1.5, 0.1, "body2", BODY2, fontweight="bold")


def draw_turning(ax: Axes, title: str, caption: str, base: str, moved: str, symbol: str) -> None:
    """Two links about an axis; `base` stays, `moved` turns by a positive angle and gets the positive torque."""
    panel(ax, title, caption)
    center = np.array([-0.95, -0.45])
    colors = {"body1": BODY1, "body2": BODY2}
    bar(ax, center, 0, 2.25, colors[base])
    bar(ax, center, 48, 2.25, colors[moved])
    out_of_page(ax, center, "axis", (-0.62, -0.06))
    note(ax, 0.55, -0.45, base, colors[base], fontweight="bold")
    x, y = center + 1.45 * turn(48) @ [1, 0]
    note(ax, x, y, moved, colors[moved], fontweight="bold", rotation=48)
    around(ax, center, 0.88, 8, 40, INK, 1.3)
    note(ax, *(center + 1.16 * turn(24) @ [1, 0]), "angle")
    around(ax, center, 2.08, 56, 84)
    note(ax, -1.0, 1.42, f"{symbol} > 0 on {moved}", EFFORT, ha="right")
    around(ax, center, 2.42, -8, -24)
    note(ax, 1.2, -1.12, f"−{symbol} on {base}", EFFORT, ha="right")


def draw_slider(ax: Axes) -> None:
    """A linear motor."""
    panel(
        ax,
        "LINEAR motor",
        "Position and rate of body1 relative to body2 along\nthe axis, which turns with body2. Effort on body1.",
    )
    bar(ax, (-2.05, -0.62), 0, 4.1, BODY2, 0.42)
    block = FancyBboxPatch(
        (0.15, -0.3),
        1.0,
        0.72,
        boxstyle="round,pad=0.02,rounding_size=0.1",
        fc=BODY1 + "38",
        ec=BODY1,
        lw=1.4,
        zorder=2,
    )
    ax.add_patch(block)
    note(ax, -1.2, -0.62, "body2", BODY2, fontweight="bold")
    note(ax, 0.65, 0.2, "body1", BODY1, fontweight="bold")
    for x in (-1.3, 0.65):
        ax.plot([x, x], [-0.05, 0.86], color=FAINT, lw=0.8, ls=":", zorder=3)
    arrow(ax, (-1.3, 0.8), (0.65, 0.8), INK, 1.3)
    note(ax, -0.33, 0.98, "position > 0")
    arrow(ax, (0.65, 0.02), (1.75, 0.02), EFFORT, 2.0, 11)
    note(ax, 1.62, 0.28, "F > 0", EFFORT)
    arrow(ax, (-1.3, -0.05), (-0.55, -0.05), INK, 1.4)
    note(ax, -0.62, 0.12, "axis")
    arrow(ax, (-0.4, -1.05), (-1.5, -1.05), EFFORT, 2.0, 11)
    note(ax, 0.12, -1.05, "−F on body2", EFFORT, ha="center")


def draw_reaction(ax: Axes) -> None:
    """Force and torque of a joint."""
    panel(
        ax,
        "Joint reactions",
        "On body2, in world axes; the torque is about the\njoint origin that body2 carries. Body1 feels the opposite.",
    )
    center = np.array([-0.1, -0.05])
    bar(ax, center, 200, 1.95, BODY1)
    bar(ax, center, -20, 2.05, BODY2)
    ax.add_patch(Circle(tuple(center), 0.12, fc="white", ec=INK, lw=1.5, zorder=7))
    ax.add_patch(Circle(tuple(center), 0.04, color=BODY2, zorder=8))
    note(ax, -1.25, -0.48, "body1", BODY1, fontweight="bold", rotation=20)
    note(ax, 1.1, -0.48, "body2", BODY2, fontweight="bold", rotation=-20)
    arrow(ax, center, center + [0.95, 1.1], EFFORT, 2.2, 12)
    note(ax, 1.55, 1.12, "joint_force", EFFORT)
    around(ax, center, 0.62, 95, 165)
    note(ax, -0.95, 0.72, "joint_torque", EFFORT)
    frame(ax, (-0.6, -1.42), 0, ("X", "Z"), 0.42, FAINT)
    note(ax, 0.35, -1.42, "world", FAINT)


def main() -> None:
    """Draws the six panels."""
    plt.rcParams.update({"svg.hashsalt": "jaxmbs", "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(2, 3, figsize=(13.2, 8.2), facecolor="white")
    (frames, spring, torsion), (motor, slider, reaction) = axes
    draw_frames(frames)
    draw_spring(spring)
    draw_turning(
        torsion,
        "RSDA",
        "Angle of body2 relative to body1, right-hand rule\nabout the axis fixed in body1. Torque on body2.",
        "body1",
        "body2",
        "T",
    )
    draw_turning(
        motor,
        "ROTATION motor",
        "Angle and rate of body1 relative to body2 about the\naxis fixed in body2. Effort on body1.",
        "body2",
        "body1",
        "T",
    )
    draw_slider(slider)
    draw_reaction(reaction)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.96, bottom=0.01, wspace=0.03, hspace=0.08)
    target = Path(__file__).resolve().parents[1] / "img" / "conventions.svg"
    figure.savefig(target, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
