"""Runs of real Ansible: the same values as bindq lookup, forks, check mode, and a snapshot that is replaced."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import textwrap
import time
import unittest
from typing import Any, Dict

from world import COLLECTION, KEYS, World, debug_of, gone, play_of


class RunTest(unittest.TestCase):
    def setUp(self) -> None:
        self.world = World()
        self.addCleanup(self.world.close)
        self.world.configure()
        self.hosts = self.world.hosts(20)
        self.world.inventory(self.hosts)

    def results(self, expression: str, *arguments: str, gather: bool = False, **more: str) -> Dict[str, Any]:
        """Returns the value of an expression for each host."""
        self.world.play("""
            - hosts: all
              gather_facts: %s
              tasks:
                - copy: {content: "{{ %s | to_json }}", dest: "{{ playbook_dir }}/{{ inventory_hostname }}.out"}
                  check_mode: false
            """ % (str(gather).lower(), expression), *arguments, **more)
        results = {name: json.loads((self.world.dir / (name + ".out")).read_text()) for name in self.hosts}
        for name in self.hosts:
            (self.world.dir / (name + ".out")).unlink()
        return results

    def test_lookup_returns_values_of_bindq_for_20_hosts_and_in_check_mode(self) -> None:
        expected = {name: list(self.world.lookup(KEYS, name, facts).values()) for name, facts in self.hosts.items()}
        self.assertGreater(len({json.dumps(values) for values in expected.values()}), 15)
        expression = "query('bindc.data.hiera', *terms)"
        self.assertEqual(self.results(expression), expected)
        [child] = self.world.children()
        self.assertTrue(gone(child), "the child outlives the run")
        self.assertEqual(self.results(expression, "--check"), expected)

    def test_loop_with_the_plugin_has_its_values(self) -> None:
        out = self.world.play(play_of("""
            - debug: {msg: "item {{ item }}"}
              with_bindc.data.hiera: [ntp::port]
            """))
        self.assertIn("item %s" % self.world.lookup(["ntp::port"], "h0.example.org", self.hosts["h0.example.org"])
                      ["ntp::port"], out)

    def test_vars_plugin_returns_values_of_bindq(self) -> None:
        table = self.world.write("table.yml", """
            role: vars.role
            os.family: vars.family
            networking.fqdn: vars.inventory_hostname
            networking.hostname: vars.short
            networking.domain: "'example.org'"
            """)
        self.world.configure("prefixes = ntp::=ntp_,app::=application_\nfacts_table = %s" % table,
                             "vars_plugins_enabled = host_group_vars,bindc.data.values")
        plain = [key for key in KEYS if "." not in key] + ["dotted.key"]
        found = self.results("[hiera, ntp_servers, ntp_port, application_port]")
        for name, facts in self.hosts.items():
            answers = self.world.lookup(plain[:-1], name, facts)
            answers["dotted.key"] = "dots"
            values, *variables = found[name]
            self.assertEqual({key: values[key] for key in plain}, answers)
            self.assertEqual(variables, [answers["ntp::servers"], answers["ntp::port"], answers["app::port"]])
            self.assertNotIn("app::password", values)
            self.assertNotIn("app::wrong", values)

    def test_facts_of_a_lookup_replace_those_of_host(self) -> None:
        self.hosts = self.world.hosts(1)
        self.world.inventory(self.hosts)
        found = self.results("[lookup('bindc.data.hiera', 'packages', facts={'role': 'db'}), "
                             "lookup('bindc.data.hiera', 'packages role=db'), lookup('bindc.data.hiera', 'packages')]")
        self.assertEqual(found["h0.example.org"], [["postgresql", "vim"], ["postgresql", "vim"], ["nginx", "vim"]])
        found = self.results("lookup('bindc.data.hiera', 'packages')", "-e", "{bindc_facts: {role: '{{ r }}'}, r: db}")
        self.assertEqual(found["h0.example.org"], ["postgresql", "vim"])

    def test_50_forks_share_one_child(self) -> None:
        self.hosts = self.world.hosts(100)
        self.world.inventory(self.hosts)
        found = self.results("lookup('bindc.data.hiera', 'greeting')", "--forks", "50")
        self.assertEqual(found, {name: "Hello %s %s %s" % (facts["networking"]["hostname"], facts["role"], name)
                                 for name, facts in self.hosts.items()})
        [child] = self.world.children()
        self.assertTrue(gone(child))

    def test_run_keeps_snapshot_that_is_replaced(self) -> None:
        self.world.write("site2/data/common.yaml", "generation: 2\n")
        self.world.write("site2/hiera.yaml", "version: 5\n")
        self.hosts = self.world.hosts(4)
        self.world.inventory(self.hosts)
        playbook = play_of("""
            - debug: {msg: "first {{ lookup('bindc.data.hiera', 'generation') }}"}
              when: inventory_hostname == 'h0.example.org'
            - command: %s build %s -o %s
              run_once: true
            - pause: {seconds: 3}
            - debug: {msg: "then {{ lookup('bindc.data.hiera', 'generation') }}"}
            """, "all") % (os.environ.get("BINDC", "bindc"), self.world.dir / "site2", self.world.snapshot)
        out = self.world.play(playbook)
        self.assertEqual((out.count("first 1"), out.count("then 1"), out.count("then 2")), (1, 4, 0), out)
        out = self.world.play(playbook)
        self.assertEqual((out.count("first 2"), out.count("then 2")), (1, 4), out)

    def test_child_ends_when_run_is_killed(self) -> None:
        run = subprocess.Popen(self.world.command(play_of("""
            - debug: {msg: "{{ lookup('bindc.data.hiera', 'generation') }}"}
            - command: sleep 60
            """)), cwd=self.world.dir, env=self.world.environment(), stdout=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 120
        while not self.world.started.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        run.kill()
        run.wait()
        [child] = self.world.children()
        self.assertTrue(gone(child), "the child outlives the run")

    def test_child_that_is_killed_ends_lookups_with_an_error(self) -> None:
        out = self.world.play(play_of("""
            - debug: {msg: "{{ lookup('bindc.data.hiera', 'generation') }}"}
            - shell: kill -9 $(cat %s)
            - debug: {msg: "{{ lookup('bindc.data.hiera', 'generation') }}"}
            """) % self.world.started, status=2)
        self.assertIn("has ended during this run; start the run again: it ended with status -9", out)

    def test_templates_in_values_are_not_evaluated(self) -> None:
        text = '{{ 7 * 7 }} {% raw %} {{ lookup("pipe", "echo pwned") }}'
        self.hosts = self.world.hosts(1)
        self.world.inventory(self.hosts)
        self.world.configure("", "vars_plugins_enabled = host_group_vars,bindc.data.values")
        self.world.write("t.j2", "{{ lookup('bindc.data.hiera', 'template') }}|{{ hiera['template'] }}")
        found = self.results("[lookup('bindc.data.hiera', 'template'), hiera['template'], lookup('template', 't.j2')]")
        self.assertEqual(found["h0.example.org"], [text, text, text + "|" + text])

    def test_errors_name_key_place_and_code(self) -> None:
        for term, expected in (("app::wrong", "'app::wrong': expected Integer, found String [type_mismatch] "
                                              "(bindings/default.yaml:6:12)"),
                               ("absent", "absent: nothing binds this key for this node [not_found]"),
                               ("role=db", "expected KEY [DEFAULT] [NAME=VALUE ...]"),
                               ("a b c", "the term of a has surplus words: c"),
                               ("a -c hiera.yaml", "option -c not recognized"),
                               ("a -f yaml", "unknown format 'yaml'; expected ruby or json"),
                               ("a -y absent.yaml", "No such file or directory"),
                               ("a role=db ::role=web", "two values of the variable role"),
                               ("-a", "expected KEY [DEFAULT] [NAME=VALUE ...]"),
                               ("greeting environment=eu/prod", "expected an environment name")):
            out = self.world.play(debug_of("lookup('bindc.data.hiera', '%s')") % term, status=2)
            self.assertIn(expected, out.replace("\\n", " "))

    def test_installed_collection_has_client_and_documentation(self) -> None:
        environment = self.world.environment(ANSIBLE_COLLECTIONS_PATH=str(self.world.dir / "installed"))
        for command in (["ansible-galaxy", "collection", "install", str(COLLECTION), "-p",
                         str(self.world.dir / "installed")],
                        ["ansible-doc", "-t", "lookup", "bindc.data.hiera"],
                        ["ansible-doc", "-t", "vars", "bindc.data.values"]):
            run = subprocess.run(command, cwd=self.world.dir, env=environment, check=False, capture_output=True,
                                 text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
        out = self.world.play(debug_of("lookup('bindc.data.hiera', 'generation')"),
                              ANSIBLE_COLLECTIONS_PATH=str(self.world.dir / "installed"))
        self.assertIn("found 1", out)
        self.assertFalse([path for path in (self.world.dir / "installed").rglob("*") if path.is_symlink()])

    def test_missing_snapshot_is_an_error_with_fix(self) -> None:
        playbook = debug_of("lookup('bindc.data.hiera', 'generation')")
        self.world.snapshot.unlink()
        self.assertIn("expected a file written by bindc build [snapshot_missing]", self.world.play(playbook, status=2))
        self.world.write("ansible.cfg", "")
        self.assertIn("BINDQ_SNAPSHOT", self.world.play(playbook, status=2))
        self.assertIn("a Hiera configuration; compile its directory",
                      self.world.play(playbook, status=2, ANSIBLE_HIERA_CFG="/etc/hiera.yaml"))
        self.assertIn("there is no program bindq in PATH; install bindq, or set 'executable'",
                      self.world.play(playbook, status=2, PATH="/usr/bin:/bin", BINDQ_SNAPSHOT="x.snap"))
        self.assertIn("unset ANSIBLE_HIERA_BIN", self.world.play(
            playbook, status=2, ANSIBLE_HIERA_BIN="/usr/bin/hiera", BINDQ_SNAPSHOT="x.snap"))

    def test_old_configuration_without_effect_is_reported_once(self) -> None:
        playbook = debug_of("lookup('bindc.data.hiera', 'generation'%s)", "all")
        out = " ".join(self.world.play(playbook % "", ANSIBLE_HIERA_CFG="/etc/hiera.yaml").split())
        self.assertEqual((out.count("found 1"), out.count("is /etc/hiera.yaml and has no effect")), (20, 1), out)
        self.assertIn("the snapshot is /etc/hiera.yaml, a Hiera configuration",
                      self.world.play(playbook % ", config_file='/etc/hiera.yaml'", status=2))

    def test_directory_of_run_can_have_long_path(self) -> None:
        self.hosts = self.world.hosts(1)
        self.world.inventory(self.hosts)
        found = self.results("lookup('bindc.data.hiera', 'generation')",
                             ANSIBLE_LOCAL_TEMP=str(self.world.dir / ("long" * 30)))
        self.assertEqual(found, {"h0.example.org": 1})

    def test_list_as_one_term_is_an_error(self) -> None:
        out = self.world.play(debug_of("lookup('bindc.data.hiera', ['ntp::port', 'packages'])"), status=2)
        self.assertIn("expected a text, found a list; pass each key as a term of its own", out)

    def test_empty_environment_makes_variable_empty(self) -> None:
        self.world.write("site/data/common.yaml", "environment: 'in %{environment}|'\n")
        self.world.build()
        self.hosts = self.world.hosts(1)
        self.world.inventory(self.hosts)
        expression = "query('bindc.data.hiera', 'environment', 'environment environment=')"
        self.assertEqual(self.results(expression), {"h0.example.org": ["in production|", "in |"]})
        self.world.configure("environment =")
        self.assertEqual(self.results(expression), {"h0.example.org": ["in |", "in |"]})

    def test_command_of_readme_renames_plugin_in_all_files(self) -> None:
        [command] = re.findall(r"```sh\n(.*?)```", (COLLECTION / "README.md").read_text(), re.DOTALL)
        before = r"""
            - debug: {msg: "{{ lookup('community.general.hiera', 'a') }} {{ q( 'hiera', 'hiera') }}"}
            - debug: {msg: '{{ query("hiera", "b") }} in hiera'}
              with_hiera: [c]
            - debug: {msg: d}
              with_community.general.hiera: [d]
            - debug: {msg: "{{ lookup(\"hiera\", \"e\") }}"}
            - debug:
                msg: "{{ lookup(
                  'hiera', 'f') }}"
            - debug: {msg: "{{ lookup(plugin, 'g') }}"}
              vars: {plugin: hiera}
            - debug: {msg: "{{ lookup('hiera', 'h') ~ lookup(p | default('hiera'), 'i') }}"}
            - debug: {msg: "{{ lookup ('hiera', 'j') }}"}
              "with_hiera": [k]
            - debug: {msg: l}
              with_hiera : f
            - debug: {msg: "{{ lookup('bindc.data.hiera', 'm') }} of the_hiera and hieradata"}
            """
        after = r"""
            - debug: {msg: "{{ lookup('bindc.data.hiera', 'a') }} {{ q( 'bindc.data.hiera', 'hiera') }}"}
            - debug: {msg: '{{ query("bindc.data.hiera", "b") }} in hiera'}
              with_bindc.data.hiera: [c]
            - debug: {msg: d}
              with_bindc.data.hiera: [d]
            - debug: {msg: "{{ lookup(\"bindc.data.hiera\", \"e\") }}"}
            - debug:
                msg: "{{ lookup(
                  'bindc.data.hiera', 'f') }}"
            - debug: {msg: "{{ lookup(plugin, 'g') }}"}
              vars: {plugin: hiera}
            - debug: {msg: "{{ lookup('bindc.data.hiera', 'h') ~ lookup(p | default('hiera'), 'i') }}"}
            - debug: {msg: "{{ lookup ('bindc.data.hiera', 'j') }}"}
              "with_bindc.data.hiera": [k]
            - debug: {msg: l}
              with_bindc.data.hiera : f
            - debug: {msg: "{{ lookup('bindc.data.hiera', 'm') }} of the_hiera and hieradata"}
            """
        names = ["plays/site.yml", "plays/roles/a/tasks/main.yaml", "plays/roles/a/templates/b.j2",
                 "plays/group_vars/all", "plays/a b"]
        paths = [self.world.write(name, before) for name in names]
        data = self.world.write("plays/.git/config", before)
        run = subprocess.run(["bash", "-ec", command], cwd=self.world.dir / "plays", check=True, capture_output=True,
                             text=True)
        self.assertEqual([path.read_text() for path in paths], [textwrap.dedent(after).lstrip("\n")] * len(paths))
        self.assertEqual(data.read_text(), textwrap.dedent(before).lstrip("\n"))
        printed = [(number, line) for number, line in enumerate(textwrap.dedent(after).lstrip("\n").splitlines(), 1)
                   if number in (1, 2, 11, 12)]
        self.assertEqual(sorted(run.stdout.splitlines()),
                         sorted("./%s:%d:%s" % (name[len("plays/"):], number, line)
                                for name in names for number, line in printed))

    def test_command_of_readme_prints_lines_of_files_that_are_not_in_utf_8(self) -> None:
        [command] = re.findall(r"```sh\n(.*?)```", (COLLECTION / "README.md").read_text(), re.DOTALL)
        path = self.world.write("plays/latin.j2", "")
        path.write_bytes("Größe {{ lookup('hiera', 'a') ~ lookup(p | default('hiera'), 'b') }}\n".encode("latin-1"))
        after = "Größe {{ lookup('bindc.data.hiera', 'a') ~ lookup(p | default('hiera'), 'b') }}\n".encode("latin-1")
        run = subprocess.run(["bash", "-ec", command], cwd=path.parent, check=True, capture_output=True,
                             env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertEqual((path.read_bytes(), run.stdout), (after, b"./latin.j2:1:" + after))


if __name__ == "__main__":
    unittest.main()
