"""The table of facts against the facts of Ansible and Facter on this machine, and the old plugin's terms."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
from typing import Any, Dict, List, Tuple

import yaml
from world import COLLECTION, World, debug_of, play_of

TABLE = COLLECTION / "plugins/plugin_utils/facts.yml"


def dig(facts: Any, path: str) -> Any:
    for name in path.split("."):
        facts = facts.get(name) if isinstance(facts, dict) else None
    return facts


class FactsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.world = World()
        self.addCleanup(self.world.close)
        self.world.configure()
        self.world.inventory(self.world.hosts(1))

    def mapped(self, code: str = "dict(HostFacts(facts, {'inventory_hostname': 'h0'}, table(None)))") -> Any:
        """Returns the facts of this machine as Ansible gathers them, under the names of Facter."""
        self.world.play("""
            - hosts: h0.example.org
              gather_subset: ['all', '!facter', '!ohai']
              tasks:
                - copy: {content: "{{ ansible_facts | to_json }}", dest: "{{ playbook_dir }}/gathered.json"}
            """)
        program = """
            import json, sys
            from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder
            _AnsibleCollectionFinder([sys.argv[1]])._install()
            from ansible_collections.bindc.data.plugins.plugin_utils.facts import HostFacts, table
            facts = json.load(open(sys.argv[2]))
            print(json.dumps(%s))
            """ % code
        command = ["/usr/bin/python3", str(self.world.write("map.py", program)), str(self.world.dir / "coll"),
                   str(self.world.dir / "gathered.json")]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    @unittest.skipUnless(shutil.which("facter"), "Facter is not installed")
    def test_table_gives_facts_of_facter(self) -> None:
        facter = json.loads(subprocess.run(["facter", "--json", "--show-legacy"], check=False, capture_output=True,
                                           text=True).stdout)
        mapped = self.mapped()
        compared = []
        for path in yaml.safe_load(TABLE.read_text()):
            ours, theirs = dig(mapped, path), dig(facter, path)
            if theirs is not None:
                compared.append(path)
                self.assertEqual((path, ours), (path, theirs))
            elif path.split(".")[0] not in ("dmi", "virtual", "is_virtual", "clientcert"):
                self.assertIsNone(ours, "%s: Facter has no such fact" % path)
        self.assertGreater(len(compared), 40, compared)

    def test_facts_of_facter_replace_those_of_table(self) -> None:
        facts = self.mapped("dict(HostFacts({**facts, 'facter_kernel': 'Minix', 'facter_own': 7}, {}, table(None)))")
        self.assertEqual((facts["kernel"], facts["own"]), ("Minix", 7))

    def test_gathered_facts_select_data(self) -> None:
        self.world.write("site/data/common.yaml",
                         "who: '%{facts.os.family} %{facts.networking.hostname} %{osfamily}'\n")
        self.world.build()
        hostname = subprocess.run(["hostname", "-s"], check=True, capture_output=True, text=True).stdout.strip()
        self.world.write("inventory.json", json.dumps({"all": {"hosts": {"localhost": {
            "ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}}}}))
        out = self.world.play("""
            - hosts: localhost
              gather_subset: ['all', '!facter', '!ohai']
              tasks:
                - debug: {msg: "{{ lookup('bindc.data.hiera', 'who') }}"}
            """)
        self.assertIn("Debian %s Debian" % hostname, out)

    def test_table_of_user_replaces_and_removes_entries(self) -> None:
        path = self.world.write("own.yml", "os.name: \"'Own'\"\nkernel: null\nrole: vars.role\n")
        facts = self.mapped("dict(HostFacts(facts, {'role': 'db'}, table('%s')))" % path)
        self.assertEqual((facts["os"]["name"], "kernel" in facts, facts["role"]), ("Own", False, "db"))


OLD_CONFIG = """
---
:backends:
  - yaml
:yaml:
  :datadir: DATA
:hierarchy:
  - "nodes/%{fqdn}"
  - "%{environment}"
  - common
"""

OLD_TERMS = ["motd environment=production", "-y scope.yaml motd", "--json=scope.json motd",
             "motd -y scope.yaml fqdn=other", "-d motd", "--debug --hash hash", "list -f json", "motd --format json",
             "absent -f json", "flag -f ruby", "motd fallback and more",
             "motd ::fqdn=web1.example.org fqdn=web1.example.org", "motd", "port", "flag", "list", "hash",
             "motd fqdn=web1.example.org", "motd environment=testing",
             "motd fqdn=web1.example.org environment=testing", "absent", "absent fallback", "motd fallback",
             "-a mixed", "-a mixed fqdn=web1.example.org", "-a kinds", "-a motd", "control",
             "-a list fqdn=web1.example.org", "-h hash fqdn=web1.example.org", "special", "nothing", "multiline",
             "floats", "infinite", "large", "large -f json", "floats -f json"]


MERGES: List[Tuple[str, Dict[str, Any]]] = [
    ("native", {}), ("deep", {}), ("deeper", {}), ("deeper", {"knockout_prefix": "--"}),
    ("deeper", {"knockout_prefix": "--", "sort_merged_arrays": True}), ("deeper", {"merge_hash_arrays": True}),
    ("deeper", {"overwrite_arrays": True}), ("deeper", {"unpack_arrays": ","}), ("deep", {"merge_hash_arrays": True}),
    ("deep", {"preserve_unmergeables": False, "knockout_prefix": "--"})]


@unittest.skipUnless(shutil.which("hiera"), "the command hiera is not installed")
class OldPluginTest(unittest.TestCase):
    maxDiff = None

    def test_terms_give_text_of_command_hiera(self) -> None:
        world = World()
        self.addCleanup(world.close)
        shutil.rmtree(world.dir / "site")
        world.write("site/hiera.yaml", """
            version: 5
            hierarchy:
              - {name: Nodes, path: "nodes/%{fqdn}.yaml"}
              - {name: Environments, path: "%{environment}.yaml"}
              - {name: Common, path: common.yaml}
            """)
        world.write("site/data/nodes/web1.example.org.yaml", "motd: node\nlist: [n]\nhash: {a: {x: 1}, n: 2}\n"
                    "mixed: [z, ~, [a, z, ~]]\n")
        world.write("site/data/production.yaml", "motd: 'the command hiera has no default environment'\n")
        world.write("site/data/testing.yaml", "motd: 'testing %{environment}'\n")
        world.write("site/data/common.yaml", r"""
            motd: "common %{fqdn}|"
            port: 80
            flag: true
            list: [a, 'b "q" \ #{x} ü', 1.5, true]
            hash: {a: {b: [1, ~]}, 'k y': text}
            special: "  spaces and 'quotes'  "
            multiline: "one\ntwo\n"
            nothing: ~
            floats: [1.0e+20, 1.5e+16, 1.0e-05, 0.0001, 123456789012345.0]
            large: [1.0e+15, -1.5e+15, 1234567890123456.0, 1234567890123456.5, 1.0e+16]
            infinite: [.inf, -.inf, .nan]
            mixed: [a, a, [b, [a]], ~, c, [~, c]]
            kinds: [1, 1.0, true, '1', {k: 1}, {k: 1}, {k: 1.0}, {a: 1, b: 2}, {b: 2, a: 1}]
            control: ["\0\x01\x7f\u2028\x85"]
            """)
        world.write("scope.yaml", "fqdn: web1.example.org\n")
        world.write("scope.json", '{"fqdn": "web1.example.org"}')
        world.build()
        old = world.write("old.yaml", OLD_CONFIG.replace("DATA", str(world.dir / "site/data")))
        world.configure("old_plugin = true")
        world.inventory(world.hosts(1))
        self.assertEqual(self.answers(world, OLD_TERMS), {term: self.old(world, old, term) for term in OLD_TERMS})

    def test_hash_flag_merges_as_command_hiera_for_each_behavior(self) -> None:
        world = World()
        self.addCleanup(world.close)
        shutil.rmtree(world.dir / "site")
        plain = OLD_CONFIG.replace("DATA", str(world.dir / "site/data"))
        world.write("site/data/nodes/web1.example.org.yaml", """
            order: {a: [1, 2], z: 1, k: top}
            kinds: {text: x, list: [1], hash: {a: 1}, nothing: ~, flag: false}
            knock: {list: [--b, c, --absent], gone: --, deep: {x: [--]}, same: [d, --d]}
            hashes: {list: [{a: 1, n: [2]}, {b: 2}], text: [x], split: 'c,a'}
            """)
        world.write("site/data/common.yaml", """
            order: {a: [3, 1], b: 1, k: low}
            kinds: {text: [y], list: text, hash: [2], nothing: 1, flag: true, more: {b: 1}}
            knock: {list: [b, a], gone: [1, 2], deep: {x: [1], y: [--q]}, same: [e]}
            hashes: {list: [{a: 3, n: [1]}], text: y, split: [b]}
            """)
        world.build("--global-hiera", str(world.write("old.yaml", plain)))
        world.inventory(world.hosts(1))
        expected, expressions = [], []
        for number, (behavior, options) in enumerate(MERGES):
            lines = "".join("  :%s: %s\n" % (name, json.dumps(options[name])) for name in options)
            old = world.write("old%d.yaml" % number, plain + ":merge_behavior: %s\n:deep_merge_options:\n%s"
                              % (behavior, lines))
            sorts = "sort_merged_arrays" in options  # neither can sort arrays of hashes
            for term in ("-h order", "-h kinds", "-h knock", "-h hashes")[:3 if sorts else 4]:
                term += " fqdn=web1.example.org"
                text = self.old(world, old, term)  # Ruby breaks long lines
                text = re.sub(r",\n *", ", ", re.sub(r"=>\n *", "=>", text))
                expected.append((behavior, options, term, text))
                expressions.append("lookup('bindc.data.hiera', '%s', merge_behavior='%s', deep_merge_options=%s)"
                                   % (term, behavior, json.dumps(options) if options else "none"))
        world.configure("old_plugin = true")
        found = self.evaluate(world, "[%s]" % ", ".join(expressions))
        self.assertEqual([(*case[:3], text) for case, text in zip(expected, found)], expected)
        world.configure("old_plugin = true\nmerge_behavior = deeper\n"
                        'deep_merge_options = {"knockout_prefix":"--","sort_merged_arrays":true}')
        settings = ("deeper", {"knockout_prefix": "--", "sort_merged_arrays": True})
        self.assertIn(settings, MERGES)
        self.assertEqual([self.evaluate(world, "lookup('bindc.data.hiera', '%s')" % case[2])
                          for case in expected if case[:2] == settings],
                         [case[3] for case in expected if case[:2] == settings])

    def test_wrong_merge_options_are_errors(self) -> None:
        world = World()
        self.addCleanup(world.close)
        world.inventory(world.hosts(1))
        for settings, message in (
                ("merge_behavior = deep\ndeep_merge_options = {knockout: '--'}", "unknown option 'knockout'; expected"),
                ("merge_behavior = deep\ndeep_merge_options = --", "expected a hash such as {knockout_prefix: '--'}"),
                ("deep_merge_options = {knockout_prefix: '--'}", "no effect while 'merge_behavior' is native")):
            world.configure(settings)
            out = world.play(debug_of("lookup('bindc.data.hiera', '-h limits')"), status=2)
            self.assertIn(message, out)

    def test_configuration_of_hiera_3_is_compiled_as_it_is(self) -> None:
        world = World()
        self.addCleanup(world.close)
        shutil.rmtree(world.dir / "site")
        old = world.write("site/hiera.yaml", OLD_CONFIG.replace("DATA", str(world.dir / "site/data")))
        world.write("site/data/nodes/web1.example.org.yaml", "motd: node\n")
        world.write("site/data/common.yaml", "motd: 'common %{fqdn}|'\n")
        world.build("--global-hiera", str(old))
        world.configure("old_plugin = true")
        world.inventory(world.hosts(1))
        terms = ["motd", "motd fqdn=web1.example.org", "motd fqdn=web2", "absent"]
        self.assertEqual(self.answers(world, terms), {term: self.old(world, old, term) for term in terms})

    def answers(self, world: World, terms: List[str]) -> Dict[str, str]:
        """Returns the answers of the lookup plugin."""
        return dict(zip(terms, self.evaluate(world, "query('bindc.data.hiera', *terms)", terms=terms)))

    def evaluate(self, world: World, expression: str, **variables: Any) -> Any:
        """Returns the value of an expression in a playbook."""
        world.write("variables.json", json.dumps(variables))
        world.write("expression.j2", "{{ (%s) | to_json }}" % expression)
        world.play(play_of('- template: {src: expression.j2, dest: "{{ playbook_dir }}/out.json"}'),
                   "-e", "@variables.json")
        return json.loads((world.dir / "out.json").read_text())

    def old(self, world: World, config: pathlib.Path, term: str) -> str:
        """Returns the answer of the removed plugin, which ran this command."""
        return subprocess.run("hiera -c %s %s" % (config, term), shell=True, check=False, cwd=world.dir,
                              stdout=subprocess.PIPE, stderr=sys.stderr, text=True).stdout.strip()


if __name__ == "__main__":
    unittest.main()
