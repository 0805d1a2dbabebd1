from __future__ import annotations

DOCUMENTATION = r'''
name: values
author: [bindc]
short_description: Gives every host its values from a snapshot
description:
  - The values of a host are in one hash by key, C(hiera['ntp::servers']).
  - Values below configured prefixes are variables of their own.
  - The hash does not contain sensitive values and values with errors. A variable of its own can be sensitive; a task
    that uses it becomes C(no_log).
  - Ansible calls the plugin again for each task, so facts count as soon as they are gathered.
  - Expressions of the table of facts can use variables of the inventory and of groups, but not those of plays.
requirements: [bindq]
extends_documentation_fragment: [bindc.data.options, vars_plugin_staging]
options:
  hash:
    description: The name of the variable with the hash. An empty text means that there is none.
    type: str
    default: hiera
    ini: [{section: bindc, key: hash}]
  prefixes:
    description:
      - A list of C(PREFIX=NAME). C(ntp::=ntp_) makes C(ntp::servers) the variable C(ntp_servers).
      - In the rest of the key, characters that are not allowed in names of variables become C(_).
    type: list
    elements: str
    default: []
    ini: [{section: bindc, key: prefixes}]
  stage:
    ini: [{section: bindc, key: stage}]
'''

import re
import shlex

from ansible.errors import AnsibleLookupError
from ansible.inventory.host import Host
from ansible.plugins.vars import BaseVarsPlugin
from ansible.utils.display import Display

try:
    from ansible.template import trust_as_template  # ansible-core 2.19 and later
except ImportError:
    def trust_as_template(text):
        return text

from ansible_collections.bindc.data.plugins.plugin_utils.bindq import BindqError, Sensitive
from ansible_collections.bindc.data.plugins.plugin_utils.node import failure, open_node
from ansible_collections.bindc.data.plugins.plugin_utils.values import unsafe
from ansible_collections.bindc.data.plugins.plugin_utils.variables import of_host

display = Display()


class VarsModule(BaseVarsPlugin):
    def __init__(self):
        super().__init__()
        self._values = {}  # by the facts that determine them
        self._warned = set()

    def get_vars(self, loader, path, entities, cache=True):
        super().get_vars(loader, path, entities)
        variables = {}
        for entity in entities if isinstance(entities, list) else [entities]:
            if isinstance(entity, Host):
                variables.update(self._of_host(loader, entity))
        return variables

    def _of_host(self, loader, host):
        gathered, variables = of_host(loader, host)
        node = open_node(self._option, host.name, gathered, variables, {})
        try:
            identity = node.identity()
            if identity not in self._values:
                self._values[identity] = self._variables(host, node.all())
        except BindqError as error:
            raise failure(error) from None
        return self._values[identity]

    def _option(self, name):
        return False if name == "old_plugin" else self.get_option(name)  # it concerns lookups

    def _variables(self, host, found):
        """Returns the variables for the values of a node."""
        name = self.get_option("hash")
        plain = {key: value for key, value in found.values.items() if not isinstance(value, Sensitive)}
        variables = {name: unsafe({_unquoted(key): value for key, value in plain.items()})} if name else {}
        owners = {}
        for key in [*found.values, *found.errors]:
            variable = self._name_of(_unquoted(key))
            if variable is None:
                continue
            if variable in owners:
                raise AnsibleLookupError("bindc: the keys %s and %s are both the variable %s; change 'prefixes'"
                                         % (owners[variable], key, variable))
            owners[variable] = key
            variables[variable] = unsafe(plain[key]) if key in plain else _lookup_of(key)
        self._warn(host, found)
        return variables

    def _name_of(self, key):
        for entry in self.get_option("prefixes"):
            prefix, equals, begin = entry.partition("=")
            if not equals:
                raise AnsibleLookupError("bindc: the option 'prefixes': expected PREFIX=NAME, found %r" % entry)
            if key.startswith(prefix):
                name = begin + re.sub(r"\W", "_", key[len(prefix):].replace("::", "_"), flags=re.ASCII)
                if name.isidentifier():
                    return name
        return None

    def _warn(self, host, found):
        """Reports the values that the hash does not contain because of an error."""
        for key, error in found.errors.items():
            if self.get_option("hash") and key not in self._warned:
                self._warned.add(key)
                display.warning("bindc: %s has no value of %s in '%s': %s"
                                % (host.name, key, self.get_option("hash"), error))


def _unquoted(key):
    """Returns a key as in the data. A lookup needs quotes around a key with a dot."""
    return key[1:-1] if key[0] in "'\"" and key[0] == key[-1] else key


def _lookup_of(key):
    """Returns a template that looks a key up when it is used: a sensitive value, or one with an error."""
    return trust_as_template("{{ lookup('bindc.data.hiera', %r, old_plugin=false) }}" % shlex.quote(key))
