"""The node of a host: what a plugin looks values up for."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

from ansible.errors import AnsibleLookupError

from .bindq import BindqError, Node
from .facts import HostFacts, put, table, trusted
from .run import client

NAMES_OF_NODE = ("fqdn", "clientcert", "certname", "trusted.certname")
RESERVED = ("environment", "facts", "trusted")


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
    certname = next((str(scope[name]) for name in NAMES_OF_NODE if name in scope), "" if given == "none" else host)
    changes, certificate = _changes(given, scope, trusted(certname) if certname else {})
    certificate.update(options("trusted") or {})
    facts = (HostFacts(gathered, variables, table(options("facts_table")), changes) if given == "gathered" else
             HostFacts({}, {}, {}, changes))
    loose = {name: value for name, value in scope.items() if "." not in name and name not in RESERVED}
    return client(options).node(facts, environment=environment_of(options, scope), variables=loose, trusted=certificate)


def _changes(given: Any, scope: Mapping[str, Any], certificate: Dict[str, Any],
             ) -> Tuple[List[Tuple[str, Any]], Dict[str, Any]]:
    """Returns the facts that replace those of the host, by name, and the certificate with the changes of a term."""
    changes: List[Tuple[str, Any]] = list(given.items()) if isinstance(given, Mapping) else []
    for name, value in scope.items():
        first, _, rest = name.partition(".")
        if name == "facts" and isinstance(value, Mapping):  # in a file of variables
            changes.extend(value.items())
        elif name == "trusted" and isinstance(value, Mapping):
            certificate.update(value)
        elif first == "trusted" and rest:
            put(certificate, rest, value)
        elif name != "environment":
            changes.append((rest if first == "facts" and rest else name, value))
    if "fqdn" in scope:
        changes.append(("networking.fqdn", scope["fqdn"]))
    return changes, certificate


def environment_of(options: Any, scope: Mapping[str, Any]) -> Optional[str]:
    """Returns the Puppet environment, or None for an empty text and for the old plugin, which had none."""
    environment = scope.get("environment", options("environment"))
    if environment is None:
        return None if options("old_plugin") else "production"
    return str(environment) or None


def failure(error: BindqError, key: str = "") -> AnsibleLookupError:
    """Returns an error of bindq as an error of Ansible, with the key, the place and the code."""
    text = str(error)
    return AnsibleLookupError("bindc: %s%s" % (key + ": " if key and key not in text else "", text))
