"""Moves and states in OpenSpiel's own words."""

from __future__ import annotations

from typing import Any

from tapete.bridges.guests.nodes import Node, loaded
from tapete.bridges.guests.worlds import worlds_of
from tapete.core.spec import Spec


def node_of(spec: Spec, s: Any) -> Node:
    """OpenSpiel's state of a record."""
    return loaded(str(spec.parameters["game"])).node(s["moves"][: s["length"]].tobytes())


def write(spec: Spec, s: Any, action: int) -> str:
    """As OpenSpiel writes it, in one word."""
    return node_of(spec, s).words.get(int(action), f"#{action}")


def describe(spec: Spec, s: Any, seat: int) -> str:
    """What OpenSpiel says that the seat knows, and whose turn it is."""
    return node_of(spec, s).line(seat)


def is_secret(spec: Spec, s: Any, seat: int) -> bool:
    """Whether the seat may not know what is done now: OpenSpiel doesn't say, so found out where worlds are few."""
    return spec.hidden and not worlds_of(str(spec.parameters["game"])).are_moves_seen(node_of(spec, s), seat)
