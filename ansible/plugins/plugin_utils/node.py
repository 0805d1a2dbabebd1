"""The node of a host: what a plugin looks values up for."""

from __future__ import annotations

from typing import Any, List, Mapping, Tuple

from ansible.errors import AnsibleLookupError

from .bindq import BindqError, Node
from .facts import HostFacts, put, table, trusted
from .run import client

NAMES_OF_NODE = ("fqdn", "clientcert", "certname", "trusted.certname")


def open_node(options: Any, host: str, gathered: Mapping[str, Any], variables: Mapping[str, Any],
              scope: Mapping[str, Any]) -> Node:
    """Returns the node of a host for the options of a plugin. ``scope`` has the variables of a term, which take
    precedence over facts."""
    given = options("facts")
    if options("old_plugin"):
        given = "none"
    if not isinstance(given, Mapping) and given not in ("gathered", "none"):
        raise AnsibleLookupError("bindc: the option 'facts': expected gathered, none or a hash of facts, found %r"
                                 % (given,))
    changes: List[Tuple[str, Any]] = list(given.items()) if isinstance(given, Mapping) else []
    certname = next((str(scope[name]) for name in NAMES_OF_NODE if name in scope), "" if given == "none" else host)
    certificate = dict(trusted(certname) if certname else {}, **(options("trusted") or {}))
    for name, value in scope.items():
        first, _, rest = name.partition(".")
        if first == "trusted" and rest:
            put(certificate, rest, value)
        elif name != "environment":
            changes.append((rest if first == "facts" and rest else name, value))
    if "fqdn" in scope:
        changes.append(("networking.fqdn", scope["fqdn"]))
    facts = (HostFacts(gathered, variables, table(options("facts_table")), changes) if given == "gathered" else
             HostFacts({}, {}, {}, changes))
    loose = {name: value for name, value in scope.items() if "." not in name and name != "environment"}
    environment = str(scope.get("environment") or options("environment"))
    return client(options).node(facts, environment=environment, variables=loose, trusted=certificate)


def failure(error: BindqError, key: str = "") -> AnsibleLookupError:
    """Returns an error of bindq as an error of Ansible, with the key, the place and the code."""
    text = str(error)
    return AnsibleLookupError("bindc: %s%s" % (key + ": " if key and key not in text else "", text))
