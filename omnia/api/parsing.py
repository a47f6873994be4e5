"""Request bodies, read strictly: one meaning or none (security cases M).

What two parsers could read differently (duplicate keys, NaN, huge numbers, a byte order mark) and
what the store cannot hold (NUL, lone surrogates) is refused here, once, for every field of every
route. orjson does the reading; the rest is told from the text by searches that cost next to nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

import orjson
from django.http import HttpRequest
from rest_framework.parsers import BaseParser

from omnia.core.errors import BadInput, TooLarge

LARGEST_BODY = 16 * 1024 * 1024
DEEPEST = 64
MOST_KEYS = 1_000
"""Keys of one object: each unknown one would cost a problem of its own to tell."""
_DRAINED, _PIECE = 64 * 1024 * 1024, 1024 * 1024
_INTEGERS = range(-(2**63), 2**63)
_MOST_DIGITS = 20
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"[ \t\r\n]*+(:?)', re.DOTALL)
"""A string of a valid JSON text; the group is one character long for a key, empty for a value."""
_LONG_NUMBER = re.compile(rb"[0-9]{19}")


class StrictJSONParser(BaseParser):
    """`application/json`, for the framework."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: object = None) -> Any:
        return parse_json(stream.read())


def read_body(request: HttpRequest) -> bytes:
    """The body's bytes. Raises TooLarge over 16 MiB, BadInput when nothing sound says where it ends.

    A chunked body has no Content-Length; it is read when the server marks its end.
    """
    told = request.META.get("CONTENT_LENGTH") or "0"
    if not told.isdecimal():
        raise BadInput("Content-Length is a number of bytes.", code="bad_request")
    if int(told) > LARGEST_BODY:
        raise _too_large(request)
    if "HTTP_TRANSFER_ENCODING" in request.META and not hasattr(request, "_body"):
        request._body = _read_chunks(request)  # where Django keeps a body once read
    return request.body


def _read_chunks(request: HttpRequest) -> bytes:
    if not _end_is_marked(request):
        raise BadInput("Send the body with a Content-Length.", code="length_required")
    body: bytes = request.META["wsgi.input"].read(LARGEST_BODY + 1)
    if len(body) > LARGEST_BODY:
        raise _too_large(request)
    return body


def _too_large(request: HttpRequest) -> TooLarge:
    """The refusal, once what is on its way is read and dropped.

    A server that closes on unread bytes resets the connection, and the client never sees the answer.
    """
    left = _DRAINED if _end_is_marked(request) else 0
    while left > 0 and (piece := request.META["wsgi.input"].read(_PIECE)):
        left -= len(piece)
    return TooLarge("The request body is larger than 16 MiB.")


def _end_is_marked(request: HttpRequest) -> bool:
    """Whether reading past the body's end answers nothing, rather than waiting for more."""
    return bool(request.META.get("wsgi.input_terminated"))


def parse_json(body: bytes) -> Any:
    """The value of one strict JSON text.

    Raises BadInput with code `invalid_json`, `duplicate_key`, `nul_character`, `too_deep`, `too_many_keys` or
    `number_out_of_range`.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise BadInput("The body is not valid JSON in UTF-8.", code="invalid_json") from None
    if _count_keys(value, DEEPEST) != sum(map(len, _STRING.findall(body))):
        raise BadInput("The body names a key twice in one object.", code="duplicate_key")
    if _LONG_NUMBER.search(body):
        _refuse_numbers_out_of_range(body)
    if b"\\u0000" in body and any("\x00" in text for text in _texts(value)):
        raise BadInput("The body holds a NUL character.", code="nul_character")
    return value


def _count_keys(value: Any, depth: int) -> int:
    """The keys of every object in `value`, which may nest `depth` levels."""
    if not isinstance(value, (dict, list)):
        return 0
    if not depth:
        raise BadInput(f"The body nests deeper than {DEEPEST} levels.", code="too_deep")
    if len(value) > MOST_KEYS and isinstance(value, dict):
        raise BadInput(f"An object in the body has more than {MOST_KEYS} keys.", code="too_many_keys")
    inner, keys = (value.values(), len(value)) if isinstance(value, dict) else (value, 0)
    for each in inner:
        if each.__class__ is dict or each.__class__ is list:
            keys += _count_keys(each, depth - 1)
    return keys


def _refuse_numbers_out_of_range(body: bytes) -> None:
    """orjson reads an integer beyond 64 bits as a float, and so as another number."""
    json.loads(body, parse_int=_integer)


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS or int(digits) not in _INTEGERS:
        raise BadInput("The body holds a number beyond 64 bits.", code="number_out_of_range")
    return int(digits)


def _texts(value: Any) -> Iterator[str]:
    """Every key and text in `value`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
