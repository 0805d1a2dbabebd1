"""The facts of a host under the names of Facter."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import yaml
from jinja2 import ChainableUndefined
from jinja2.sandbox import SandboxedEnvironment

from ansible.errors import AnsibleLookupError

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts.yml")
FACTER = "facter_"  # begins the names of facts that Ansible gets from Facter itself

Expression = Callable[..., Any]
_tables: Dict[Optional[str], Dict[str, Expression]] = {}


def table(path: Optional[str]) -> Dict[str, Expression]:
    """Returns the expressions of facts.yml by the name of the fact. The file at ``path`` can replace entries."""
    if path not in _tables:
        entries = _read(TABLE)
        if path:
            entries.update(_read(path))
        environment = SandboxedEnvironment(undefined=ChainableUndefined)
        _tables[path] = {name: _compile(environment, name, text) for name, text in entries.items() if text is not None}
    return _tables[path]


def _read(path: str) -> Dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            entries = yaml.safe_load(file) or {}
    except (OSError, yaml.YAMLError) as error:
        raise AnsibleLookupError("bindc: the table of facts %s: %s" % (path, error)) from error
    if not isinstance(entries, dict):
        raise AnsibleLookupError("bindc: the table of facts %s: expected names and expressions" % path)
    return entries


def _compile(environment: SandboxedEnvironment, name: str, text: Any) -> Expression:
    try:
        return environment.compile_expression(str(text))
    except Exception as error:
        raise AnsibleLookupError("bindc: the table of facts: %s: %s: %s" % (name, text, error)) from error


class HostFacts(Mapping):
    """The facts of a host by the names of Facter, computed when they are read.

    ``gathered`` has Ansible's facts without the prefix ``ansible_``. Facts that Ansible got from Facter replace those
    of the table. Expressions can use ``vars``, the variables of the host. ``changes`` are pairs of a name such as
    ``os.family`` and a value.
    """

    def __init__(self, gathered: Mapping[str, Any], variables: Mapping[str, Any], expressions: Mapping[str, Expression],
                 changes: Sequence[Tuple[str, Any]] = ()) -> None:
        self._gathered = gathered
        self._variables = variables
        self._changes = changes
        self._entries: Dict[str, List[Tuple[str, Expression]]] = {}
        for path, expression in expressions.items():
            self._entries.setdefault(_first(path), []).append((path, expression))

    def __getitem__(self, name: str) -> Any:
        facts: Dict[str, Any] = {}
        if FACTER + name in self._gathered:
            facts[name] = self._gathered[FACTER + name]
        else:
            for path, expression in self._entries.get(name, ()):
                value = _evaluate(path, expression, self._gathered, self._variables)
                if value is not None:
                    put(facts, path, value)
        for path, value in self._changes:
            if _first(path) == name:
                put(facts, path, value)
        return facts[name]

    def __iter__(self) -> Iterator[str]:
        names = [name[len(FACTER):] for name in self._gathered if name.startswith(FACTER)]
        for name in dict.fromkeys([*names, *self._entries, *(_first(path) for path, _ in self._changes)]):
            if name in self:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _first(path: str) -> str:
    return path.split(".")[0]


def _evaluate(path: str, expression: Expression, ansible_facts: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
    try:
        return expression(ansible_facts, vars=variables)
    except Exception as error:
        raise AnsibleLookupError("bindc: the table of facts: %s: %s" % (path, type(error).__name__)) from None


def put(facts: Dict[str, Any], path: str, value: Any) -> None:
    """Sets a fact such as ``os.family``."""
    *parents, last = path.split(".")
    for name in parents:
        inner = facts.get(name)
        facts[name] = inner = dict(inner) if isinstance(inner, Mapping) else {}
        facts = inner
    facts[last] = value


def trusted(certname: str) -> Dict[str, Any]:
    """Returns Puppet's hash ``$trusted`` for a certificate name."""
    hostname, _, domain = certname.partition(".")
    return {"authenticated": "remote", "certname": certname, "hostname": hostname, "domain": domain, "extensions": {}}
