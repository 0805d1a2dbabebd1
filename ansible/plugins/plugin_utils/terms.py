"""Terms of the lookup plugin: arguments of the command ``hiera``."""

from __future__ import annotations

import getopt
import json
import shlex
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

import yaml

from ansible.errors import AnsibleLookupError

SHORT, LONG = "adhy:j:f:", ["array", "debug", "hash", "yaml=", "json=", "format="]
FORMATS = ("ruby", "json")


@dataclass
class Term:
    """``KEY [DEFAULT] [NAME=VALUE ...]``"""

    key: str
    default: Optional[str] = None
    flag: str = ""  # "array" or "hash", how to merge
    format: Optional[str] = None
    scope: Dict[str, Any] = field(default_factory=dict)
    surplus: List[str] = field(default_factory=list)  # words after the default


def parse(text: Any) -> Term:
    """Returns a term."""
    if not isinstance(text, str):
        raise AnsibleLookupError("bindc: the term %r: expected a text, found a %s; pass each key as a term of its own, "
                                 "such as query('bindc.data.hiera', *keys)" % (text, type(text).__name__))
    term = Term("")
    try:
        flags, words = getopt.gnu_getopt(shlex.split(text), SHORT, LONG)
    except ValueError as error:
        raise _wrong(text, str(error)) from None
    except getopt.GetoptError as error:
        raise _wrong(text, "%s; a term can have -a, -h, -y FILE, -j FILE and -f FORMAT, and the configuration is the "
                           "option 'snapshot'" % error.msg) from None
    for flag, value in flags:
        _set_flag(term, text, flag, value)
    loose = [word for word in words if "=" not in word]
    if not loose:
        raise _wrong(text, "expected KEY [DEFAULT] [NAME=VALUE ...]")
    term.key, term.default, term.surplus = loose[0], loose[1] if len(loose) > 1 else None, loose[2:]
    _set_variables(term, text, [word for word in words if "=" in word])
    return term


def _set_flag(term: Term, text: str, flag: str, value: str) -> None:
    if flag in ("-a", "--array"):
        term.flag = "array"
    elif flag in ("-h", "--hash"):
        term.flag = "hash"
    elif flag in ("-y", "--yaml"):
        term.scope = _read(text, value, yaml.safe_load)
    elif flag in ("-j", "--json"):
        term.scope = _read(text, value, json.load)
    elif flag in ("-f", "--format"):
        if value not in FORMATS:
            raise _wrong(text, "unknown format '%s'; expected %s. For YAML, use the filter to_nice_yaml without "
                               "old_plugin" % (value, " or ".join(FORMATS)))
        term.format = value


def _read(text: str, path: str, load: Any) -> Dict[str, Any]:
    """Returns the variables in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            scope = load(file)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise _wrong(text, "%s: %s" % (path, error)) from None
    if not isinstance(scope, dict):
        raise _wrong(text, "%s: expected a hash of variables" % path)
    return scope


def _set_variables(term: Term, text: str, words: List[str]) -> None:
    given: Dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        name = name[2:] if name.startswith("::") else name
        if given.setdefault(name, value) != value:
            raise _wrong(text, "two values of the variable %s; %%{%s} and %%{::%s} are the same variable"
                               % (name, name, name))
    term.scope.update(given)


def _wrong(text: str, what: str) -> AnsibleLookupError:
    return AnsibleLookupError("bindc: the term %r: %s" % (text, what))
