"""A mkdocs hook: formulas between dollar signs become MathML, which browsers render without any script."""

import html
import re

from latex2mathml.converter import convert


# Code is matched first, so that a dollar sign in it stays what it is.
_TOKEN = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]+`)|\$\$(?P<block>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^$\n]+?)\$(?![\w$])",
    re.MULTILINE | re.DOTALL,
)


def on_page_markdown(markdown: str, **_) -> str:
    """Replace `$$...$$` and `$...$` outside code."""

    def replace(match: re.Match) -> str:
        if match["code"]:
            return match["code"]
        if match["block"]:
            return f"\n\n<div>{convert(match['block'].strip(), display='block')}</div>\n\n"
        # The span keeps Markdown from taking a formula at the start of a line for a block of its own.
        return f"<span>{convert(html.unescape(match['inline']))}</span>"

    return _TOKEN.sub(replace, markdown)
