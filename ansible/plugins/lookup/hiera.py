from __future__ import annotations

DOCUMENTATION = r'''
name: hiera
author: [bindc]
short_description: Looks up Hiera data in a snapshot
description:
  - Looks up keys in a snapshot of bindc, for the host that the task runs for.
  - Takes the terms of the removed plugin C(community.general.hiera).
  - Templates in values are not evaluated.
  - A sensitive value makes its task C(no_log), and is masked in results and messages.
requirements: [bindq]
extends_documentation_fragment: [bindc.data.options]
options:
  _terms:
    description:
      - Keys. A key can be followed by a default and by variables, such as C(ntp::servers fqdn=web1.example.org).
      - Variables take precedence over facts. C(environment=NAME) selects the environment.
      - The flags of the command C(hiera) can be used. C(-a) and C(-h) merge arrays and hashes. C(-y FILE) and
        C(-j FILE) read variables from a file of YAML or JSON. C(-f json) returns the value as text in JSON.
    type: list
    elements: str
    required: true
  merge:
    description: A merge strategy, as for Puppet's C(lookup()) - first, unique, hash, deep, or a hash of options.
    type: raw
  merge_behavior:
    description:
      - How C(-h) merges hashes, as C(:merge_behavior) of Hiera 3. C(native) merges only the top level.
      - With C(deep), values of lower levels take precedence, and with C(deeper) those of higher levels.
      - A snapshot does not contain this setting of Hiera 3. C(bindc build) warns if it is not C(native).
    type: str
    choices: [native, deep, deeper]
    default: native
    ini: [{section: bindc, key: merge_behavior}]
  deep_merge_options:
    description:
      - Options of C(deep) and C(deeper), as C(:deep_merge_options) of Hiera 3.
      - "A hash such as C({knockout_prefix: '--'}). In C(ansible.cfg), write it on one line."
    type: raw
    ini: [{section: bindc, key: deep_merge_options}]
  default:
    description: The value for keys that are not found. Without it they are an error.
    type: raw
'''

EXAMPLES = r'''
- name: A value for this host
  ansible.builtin.debug:
    msg: "{{ lookup('bindc.data.hiera', 'ntp::servers') }}"

- name: A merged value, with a default
  ansible.builtin.debug:
    msg: "{{ lookup('bindc.data.hiera', 'users', merge='unique', default=[]) }}"

- name: A value for another node and environment
  ansible.builtin.debug:
    msg: "{{ lookup('bindc.data.hiera', 'ntp::servers fqdn=web1.example.org environment=testing') }}"
'''

RETURN = r'''
_raw:
  description: The values of the keys, with the types of the data.
  type: list
  elements: raw
'''

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ansible_collections.bindc.data.plugins.plugin_utils import sensitive
from ansible_collections.bindc.data.plugins.plugin_utils.bindq import BindqError, NotFound, Sensitive
from ansible_collections.bindc.data.plugins.plugin_utils.merges import flat_array, hash_merge
from ansible_collections.bindc.data.plugins.plugin_utils.node import failure, open_node
from ansible_collections.bindc.data.plugins.plugin_utils.terms import parse
from ansible_collections.bindc.data.plugins.plugin_utils.values import text_of, unsafe
from ansible_collections.bindc.data.plugins.plugin_utils.variables import Templated


# Options that variables can set
VARIABLES = {"snapshot": "bindc_snapshot", "environment": "bindc_environment", "facts": "bindc_facts",
             "trusted": "bindc_trusted"}

display = Display()


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):  # Ansible passes terms by name for with_bindc.data.hiera
        self.set_options(var_options=variables, direct=kwargs)
        self._given = kwargs
        return [self._lookup(parse(term), variables or {}) for term in terms]

    def _lookup(self, term, variables):
        self._report_surplus(term)
        try:
            node = open_node(lambda name: self._option(name, variables),
                             variables.get("inventory_hostname", "localhost"), variables.get("ansible_facts", {}),
                             Templated(self._templar, variables), term.scope)
            value = node.lookup(term.key, merge=self.get_option("merge") or self._merge_of(term))
        except NotFound as error:
            return self._default(term, error)
        except BindqError as error:
            raise failure(error, term.key) from None
        secret = isinstance(value, Sensitive)
        value = value.unwrap() if secret else value
        if term.flag == "array" and not self.get_option("merge"):
            value = flat_array(value)
        value = self._result(term, value)
        return sensitive.reveal(term.key, value) if secret else value

    def _option(self, name, variables):
        if name == "snapshot" and "config_file" in self._given and "snapshot" not in self._given:
            return None  # the lookup itself names the snapshot in config_file
        variable = VARIABLES.get(name)
        if name in self._given or variable not in variables:
            return self.get_option(name)
        return self._templar.template(variables[variable])

    def _merge_of(self, term):
        if term.flag == "hash":
            return hash_merge(self.get_option("merge_behavior"), self.get_option("deep_merge_options"))
        return "unique" if term.flag == "array" else None

    def _report_surplus(self, term):
        if not term.surplus:
            return
        message = "bindc: the term of %s has surplus words: %s; quote a default that has several words" % (
            term.key, " ".join(term.surplus))
        if not self.get_option("old_plugin"):
            raise AnsibleLookupError(message)
        display.warning(message)

    def _default(self, term, error):
        if "default" in self._given:
            return self.get_option("default")
        if term.default is None and not self.get_option("old_plugin"):
            raise failure(error, term.key) from None
        return self._result(term, term.default)

    def _result(self, term, value):
        format = term.format or ("ruby" if self.get_option("old_plugin") else None)
        return unsafe(text_of(value, format) if format else value)
