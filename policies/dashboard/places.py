"""Where in a YAML text the value of a pointer stands, so that a problem can be shown at its line."""

from __future__ import annotations

import yaml

from policies.dashboard.fields import Path


def path_of(pointer: str) -> Path:
    """The steps of an RFC 6901 pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def line_of(text: str, pointer: str) -> int:
    """The line (from 1) of what a pointer names, or of the closest object around it; 1 when the text is no YAML."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return 1
    line = 1
    for step in path_of(pointer):
        found = _inside(node, step)
        if found is None:
            break
        node, line = found
    return line


def _inside(node: yaml.Node | None, step: str) -> tuple[yaml.Node, int] | None:
    """The value of a step, and the line that names it."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == step:
                return value, key.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
        value = node.value[int(step)]
        return value, value.start_mark.line + 1
    return None
