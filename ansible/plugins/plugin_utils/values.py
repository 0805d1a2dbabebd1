"""Values of a snapshot as values of Ansible."""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Any

from ansible.utils.unsafe_proxy import wrap_var

from .bindq import Default, Regexp, Type


def unsafe(value: Any) -> Any:
    """Returns a value that Ansible never evaluates as a template."""
    return wrap_var(plain(value))


def plain(value: Any) -> Any:
    """Returns a value with the types of Ansible. Other types of Puppet become text, and binary data base64."""
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, Regexp):
        return value.source
    if isinstance(value, Type):
        return value.text
    if isinstance(value, Default):
        return "default"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def text_of(value: Any, format: str) -> str:
    """Returns a value as text, as the command ``hiera`` prints it with ``--format``."""
    if format == "json":
        return _json(plain(value))
    return value.strip() if isinstance(value, str) else _inspect(value)


def _json(value: Any) -> str:
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (_json(_json_key(key)), _json(item)) for key, item in value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join(map(_json, value))
    if isinstance(value, float) and math.isfinite(value):
        return _float(value)
    return json.dumps(value, ensure_ascii=False)


def _json_key(key: Any) -> str:
    return key if isinstance(key, str) else _json(key)


def _inspect(value: Any) -> str:
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"%s"' % _escape(value)
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s=>%s" % (_inspect(key), _inspect(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(_inspect(item) for item in value)
    return _float(value) if isinstance(value, float) else str(value)


def _float(value: float) -> str:
    """Returns a number as Ruby prints it: 1.0e+20 and Infinity."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if math.isnan(value):
        return "NaN"
    digits, e, exponent = repr(value).partition("e")
    if 1e15 <= abs(value) < 1e16 and value.is_integer():  # Python writes only larger numbers with an exponent
        digits, e, exponent = "%s.%s" % (digits[:-17], digits[-17:-2].rstrip("0") or "0"), "e", "+15"
    return digits + (".0" if e and "." not in digits else "") + e + exponent


ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e", "\f": "\\f", "\v": "\\v",
           "\b": "\\b", "\a": "\\a"}
CONTROL = re.compile("[\x00-\x1f\x7f-\x84\x86-\x9f\u2028\u2029]")


def _escape(text: str) -> str:
    text = "".join(ESCAPES.get(char, char) for char in text)
    for begin in ("#{", "#$", "#@"):
        text = text.replace(begin, "\\" + begin)
    return CONTROL.sub(lambda char: "\\u%04X" % ord(char[0]), text)
