"""The tree of a checked CEL expression, read from the engine's own serialized form (cel.expr.CheckedExpr).

The engine has no way to walk an expression; its protobuf form is small and stable, and this reads the little of it
that a check needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_CHECKED = b"type.googleapis.com/cel.expr.CheckedExpr"
_CONSTANT, _NAME, _SELECT, _CALL, _LIST, _STRUCT, _LOOP = 3, 4, 5, 6, 7, 8, 9
_TEXT_CONSTANT = 6

Bytes = bytes | int


class UnreadableExpression(ValueError):
    """The serialized form is not what is expected."""


@dataclass(frozen=True, slots=True)
class Constant:
    text: str | None
    """The value of a text; None for any other constant."""


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    of: Node


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """A literal map or message, which is read no further."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro such as `exists`: `over` is gone through, `body` runs for each item and `result` once."""

    names: frozenset[str]
    over: Node
    body: tuple[Node, ...]
    result: Node


Node = Constant | Name | Select | Call | Items | Struct | Loop


def tree_of(serialized: bytes) -> Node:
    """The tree of `Expression.serialize()`, a google.protobuf.Any. Raises UnreadableExpression."""
    try:
        outer = dict(_fields(serialized))
        if outer.get(1) == _CHECKED:
            for number, value in _fields(_bytes(outer.get(2, b""))):
                if number == 4:
                    return _node(_bytes(value))
    except (IndexError, UnicodeDecodeError, KeyError) as error:
        raise UnreadableExpression("the expression cannot be read") from error
    raise UnreadableExpression("the expression cannot be read")


def _node(data: bytes) -> Node:
    for number, value in _fields(data):
        if number in _READERS:
            return _READERS[number](_bytes(value))
    raise UnreadableExpression("a part of the expression cannot be read")


def _constant(data: bytes) -> Node:
    texts = [_bytes(value).decode() for number, value in _fields(data) if number == _TEXT_CONSTANT]
    return Constant(texts[0] if texts else None)


def _name(data: bytes) -> Node:
    return Name(_bytes(dict(_fields(data))[1]).decode())


def _select(data: bytes) -> Node:
    return Select(_node(_bytes(dict(_fields(data))[1])))


def _call(data: bytes) -> Node:
    parts = list(_fields(data))
    target = [_node(_bytes(value)) for number, value in parts if number == 1]
    arguments = [_node(_bytes(value)) for number, value in parts if number == 3]
    return Call(_bytes(dict(parts)[2]).decode(), tuple(target + arguments))


def _list(data: bytes) -> Node:
    return Items(tuple(_node(_bytes(value)) for number, value in _fields(data) if number == 1))


def _struct(_data: bytes) -> Node:
    return Struct()


def _loop(data: bytes) -> Node:
    parts = dict(_fields(data))
    names = frozenset(_bytes(parts[number]).decode() for number in (1, 3, 8) if number in parts)
    body = tuple(_node(_bytes(parts[number])) for number in (4, 5, 6))
    return Loop(names, over=_node(_bytes(parts[2])), body=body, result=_node(_bytes(parts[7])))


_READERS = {_CONSTANT: _constant, _NAME: _name, _SELECT: _select, _CALL: _call, _LIST: _list, _STRUCT: _struct,
            _LOOP: _loop}  # fmt: skip


def _bytes(value: Bytes) -> bytes:
    if not isinstance(value, bytes):
        raise UnreadableExpression("a part of the expression cannot be read")
    return value


def _fields(data: bytes) -> Iterator[tuple[int, Bytes]]:
    """The fields of a protobuf message: their numbers, and their values as bytes or a whole number."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, place = _varint(data, place)
            yield number, value
            continue
        length = {1: 8, 5: 4}.get(kind)
        if length is None:
            if kind != 2:
                raise UnreadableExpression("a part of the expression cannot be read")
            length, place = _varint(data, place)
        yield number, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value, place, shift = value | (byte & 0x7F) << shift, place + 1, shift + 7
        if byte < 0x80:
            return value, place
