"""Variables of a host, for expressions in the table of facts."""

from __future__ import annotations

import sys
from typing import Any, Iterator, Mapping, Tuple

from ansible.template import Templar
from ansible.vars.clean import namespace_facts
from ansible.vars.manager import VariableManager

try:
    from ansible.vars.fact_cache import FactCache
except ImportError:  # it is an internal class, and the variable manager usually has the facts
    FactCache = dict


class Templated(Mapping):
    """Variables whose templates are evaluated when they are read."""

    def __init__(self, templar: Any, variables: Mapping[str, Any]) -> None:
        self._templar = templar
        self._variables = variables

    def __getitem__(self, name: str) -> Any:
        return self._templar.template(self._variables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def of_host(loader: Any, host: Any) -> Tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Returns the facts of a host that Ansible has gathered or cached, and its variables.

    A vars plugin gets neither. The variable manager, which is calling the plugin, has them. The variables are those of
    groups and of the inventory; templates in them can use each other and facts.
    """
    frame: Any = sys._getframe()
    while frame is not None and not isinstance(frame.f_locals.get("self"), VariableManager):
        frame = frame.f_back
    if frame is None:
        cached, known = FactCache(), {}
    else:
        cached, known = frame.f_locals["self"]._fact_cache, frame.f_locals.get("all_vars", {})
    facts = namespace_facts(cached[host.name])["ansible_facts"] if host.name in cached else {}
    variables = {**known, **host.get_vars(), "ansible_facts": facts}
    return facts, Templated(Templar(loader=loader, variables=variables), variables)
