"""Values that JSON cannot express, and their decoding (docs/serve.md, "values")."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from .errors import BindqError


class Sensitive:
    """A value that must not be printed. ``unwrap`` returns the value."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def unwrap(self) -> Any:
        return self._value

    def __repr__(self) -> str:
        return "Sensitive(value redacted)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sensitive) and self._value == other._value

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        raise TypeError("a sensitive value cannot be pickled; call unwrap() if the value may be stored")


@dataclass(frozen=True)
class Regexp:
    """A regular expression of Puppet."""

    source: str


@dataclass(frozen=True)
class Type:
    """A type of Puppet, such as ``Array[String]``."""

    text: str


@dataclass(frozen=True)
class Default:
    """The value ``default`` of Puppet."""


DEFAULT = Default()


class EqualKeys(Exception):
    """Two keys of a hash differ in Puppet but are equal in Python, such as ``1`` and ``true``."""


def read_rich(value: Any) -> Any:
    """Decodes a value of the member ``rich`` of an answer."""
    if isinstance(value, list):
        return [read_rich(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__ptype" not in value:
        return {key: read_rich(item) for key, item in value.items()}
    return _special(value["__ptype"], value.get("__pvalue"))


def _special(kind: str, value: Any) -> Any:
    if kind == "Sensitive":
        return Sensitive(read_rich(value))
    if kind == "Hash":
        return _hash(value)
    if kind == "Regexp":
        return Regexp(value)
    if kind == "Type":
        return Type(value)
    if kind == "Default":
        return DEFAULT
    if kind == "Float":
        return float(value)
    if kind == "Binary":
        return base64.b64decode(value)
    raise BindqError("bindq answers with a %s, which this client does not know; install a newer client" % kind,
                     "protocol")


def _hash(items: list[Any]) -> dict[Any, Any]:
    """Returns the dict of keys and values that follow each other. The error names no key: a key may be sensitive."""
    result: dict[Any, Any] = {}
    for key, value in zip(items[::2], items[1::2]):
        key = _hashable(read_rich(key))
        if key in result:
            other = next(known for known in result if known == key)
            raise EqualKeys("a hash has two keys that are equal in Python (%s and %s), so a dict cannot hold both; "
                            "quote one of them in the data" % (type(other).__name__, type(key).__name__))
        result[key] = read_rich(value)
    return result


def _hashable(key: Any) -> Any:
    """Returns a key for a dict: a list becomes a tuple, a hash a tuple of pairs."""
    if isinstance(key, list):
        return tuple(_hashable(item) for item in key)
    if isinstance(key, dict):
        return tuple((_hashable(name), _hashable(item)) for name, item in key.items())
    return key
