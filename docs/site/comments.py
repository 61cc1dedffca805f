"""What the reference reads, made ready for it: fields and docstrings are explained where they are written."""

from __future__ import annotations

import ast
import re
from typing import Any

from griffe import Attribute, Docstring, Extension, Object

EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.M | re.S)
ROLE = re.compile(r":\w+:(`[^`]+`)")


class Comments(Extension):
    """Gives attributes the comment on their line where they have no docstring, and puts examples into fences."""

    def on_attribute_instance(self, *, node: Any, attr: Attribute, **kwargs: Any) -> None:
        """Called by griffe for every attribute that it finds."""
        if attr.docstring is not None or not isinstance(node, ast.AnnAssign) or attr.lineno is None:
            return
        comment = attr.lines_collection[attr.filepath][attr.lineno - 1].partition("  # ")[2]
        if comment:
            attr.docstring = Docstring(comment[:1].upper() + comment[1:] + ".", lineno=attr.lineno, parent=attr)

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Called by griffe when all is known of something."""
        if obj.docstring is not None:
            text = ROLE.sub(r"\1", obj.docstring.value)
            obj.docstring.value = EXAMPLE.sub(lambda example: f"```python\n{example[0]}\n```", text)
