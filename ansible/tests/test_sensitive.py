"""Sensitive values reach their task, and nothing that Ansible prints or stores."""

from __future__ import annotations

import shutil
import subprocess
import unittest
from typing import List

from world import BINDC, CANARY, World, debug_of, play_of

CALLBACK = '''
import pickle
from ansible.plugins.callback import CallbackBase

class CallbackModule(CallbackBase):
    """Stores everything that Ansible passes to callbacks."""

    CALLBACK_VERSION, CALLBACK_TYPE, CALLBACK_NAME = 2.0, "notification", "everything"

    def _store(self, *values):
        with open("callback.log", "a") as file:
            file.write(repr(values) + "\\\\n")

    def v2_on_any(self, *arguments, **named):
        for argument in [*arguments, *named.values()]:
            task = getattr(argument, "_task", argument)
            self._store(getattr(argument, "_result", None), getattr(argument, "_task_fields", None),
                        task.dump_attrs() if hasattr(task, "dump_attrs") else None)
'''

PASSWORD = "{{ lookup('bindc.data.hiera', 'app::password') }}"

PLAYBOOK = """
- hosts: h0.example.org
  gather_facts: false
  vars:
    password: "PASSWORD"
  tasks:
    - name: a name with PASSWORD
      copy: {content: "PASSWORD", dest: "{{ playbook_dir }}/copied"}
      register: copied
    - debug: {var: copied}
    - debug: {msg: "PASSWORD"}
      register: message
    - debug: {var: message}
    - debug: {var: password}
    - debug: {var: application_password}
    - debug: {msg: "{{ lookup('bindc.data.hiera', 'app::credentials') }}"}
    - debug: {msg: "{{ lookup('bindc.data.hiera', 'app::credentials').tokens[1] }}"}
    - debug: {msg: "{{ item }}"}
      loop: "{{ lookup('bindc.data.hiera', 'app::credentials').tokens }}"
      register: looped
    - debug: {var: looped}
    - debug: {msg: "{{ item }} {{ password }}"}
      loop: [1, 2]
      register: inside
    - debug: {var: inside}
    - debug: {msg: "{{ hostvars[inventory_hostname].application_password }}"}
    - debug: {var: "hostvars[inventory_hostname]"}
      ignore_errors: true
    - template: {src: "template.j2", dest: "{{ playbook_dir }}/rendered"}
    - lineinfile: {path: "{{ playbook_dir }}/rendered", line: "again={{ password }}"}
    - raw: "printf %s '{{ password }}' > {{ playbook_dir }}/raw; echo '{{ password }}'"
      register: raw
    - debug: {var: raw}
    - shell: "echo $SECRET | tee {{ playbook_dir }}/shell; exit 3"
      environment: {SECRET: "{{ password }}"}
      ignore_errors: true
      register: failed
    - debug: {var: failed}
    - fail: {msg: "it is {{ password }}"}
      ignore_errors: true
    - debug: {msg: "{{ password.nothing }}"}
      ignore_errors: true
    - debug: {msg: "{{ password | from_json }}"}
      ignore_errors: true
    - debug: {msg: x}
      when: password == 'other'
    - debug: {msg: x}
      failed_when: password != 'other'
      ignore_errors: true
    - assert: {that: ["password == 'other'"], fail_msg: "not {{ password }}"}
      ignore_errors: true
    - command: "echo {{ password }}"
      until: password == 'other'
      retries: 1
      delay: 0
      ignore_errors: true
    - set_fact: {stored: "{{ password }}", cacheable: true}
      ignore_errors: true
    - debug: {msg: "the fact is {{ stored | default('not set') }}"}
    - add_host: {name: other, secret: "{{ password }}"}
      ignore_errors: true
    - debug: {var: "hostvars['other']"}
      ignore_errors: true
    - debug: {msg: "after sensitive tasks, others are printed"}
    - include_tasks: "{{ password }}.yml"
""".replace("PASSWORD", PASSWORD)


class SensitiveTest(unittest.TestCase):
    def setUp(self) -> None:
        self.world = World()
        self.addCleanup(self.world.close)
        self.world.inventory(self.world.hosts(1))
        self.world.write("callbacks/everything.py", CALLBACK)
        self.world.write("template.j2", "password={{ password }}\n")
        self.world.configure("prefixes = app::=application_", """
            callback_plugins = callbacks
            callbacks_enabled = everything
            fact_caching = jsonfile
            fact_caching_connection = cache
            log_path = ansible.log
            vars_plugins_enabled = host_group_vars,bindc.data.values
            retry_files_enabled = true
            """.replace("            ", ""))

    def found_in(self) -> List[str]:
        """Returns the files that contain the sensitive value."""
        return sorted(str(path.relative_to(self.world.dir)) for path in self.world.dir.rglob("*")
                      if path.is_file() and CANARY.encode() in path.read_bytes())

    def test_canary_is_in_no_output_log_cache_or_callback(self) -> None:
        before = self.found_in()
        out = self.world.play(PLAYBOOK, "-vvvv", "--diff", status=None)
        self.assertNotIn(CANARY, out)
        self.assertEqual(self.found_in(), sorted([*before, "copied", "raw", "rendered", "shell"]))
        for name, expected in (("copied", CANARY), ("rendered", "password=%s\nagain=%s\n" % (CANARY, CANARY)),
                               ("raw", CANARY), ("shell", CANARY + "\n")):
            self.assertEqual((self.world.dir / name).read_text(), expected)
        self.assertIn("after sensitive tasks, others are printed", out)
        self.assertIn("the fact is not set", out)
        self.assertGreater(len((self.world.dir / "callback.log").read_text()), 10000)
        self.assertIn("censored", out)
        self.assertIn("app::password is sensitive, so debug does not print it", " ".join(out.split()))

    def test_free_strategy_and_error_of_template(self) -> None:
        out = self.world.play("""
            - hosts: all
              strategy: free
              gather_facts: false
              tasks:
                - debug: {msg: "PASSWORD"}
                - debug: {msg: "{{ lookup('pipe', 'echo ' ~ PASSWORD ~ '; exit 1') }}"}
                  ignore_errors: true
            """.replace("'echo ' ~ PASSWORD", "'echo ' ~ lookup('bindc.data.hiera', 'app::password')")
                              .replace("PASSWORD", PASSWORD), "-vvv", status=None)
        self.assertNotIn(CANARY, out)
        self.assertIn("censored", out)

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_text_that_eyaml_decrypts_is_sensitive_with_the_whole_hash(self) -> None:
        private, public = self.world.dir / "private.pem", self.world.dir / "public.pem"
        subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/", "-keyout",
                        str(private), "-out", str(public)], check=True, capture_output=True)
        text = subprocess.run([BINDC, "eyaml", "encrypt", "--public-key", str(public)], input=CANARY, check=True,
                              capture_output=True, text=True).stdout
        self.world.write("site/old.yaml", """
            :backends: [eyaml]
            :eyaml:
              :datadir: %s/secrets
            :hierarchy: [common]
            """ % (self.world.dir / "site"))
        self.world.write("site/secrets/common.eyaml",
                         "old::account: {user: admin, password: '%s'}\nold::user: admin\n" % text.strip())
        self.world.build("--global-hiera", str(self.world.dir / "site/old.yaml"))
        self.world.configure("old_plugin = true\narguments = --eyaml-key,%s" % private)
        tasks = [play_of("- copy: {content: \"{{ lookup('bindc.data.hiera', 'old::account') }}\", dest: %s}"
                         % (self.world.dir / "account")), debug_of("lookup('bindc.data.hiera', 'old::account')"),
                 debug_of("lookup('bindc.data.hiera', 'old::user')")]
        copied, printed, public_user = [self.world.play(play, "-vvv") for play in tasks]
        self.assertNotIn(CANARY, copied + printed)
        self.assertEqual((self.world.dir / "account").read_text(), '{"user"=>"admin", "password"=>"%s"}' % CANARY)
        self.assertNotIn("found", printed)
        self.assertIn("found admin", public_user)
        for key in ("old::account", "old::account.user"):
            out = self.world.play(play_of("- set_fact: {stored: \"{{ lookup('bindc.data.hiera', '%s') }}\"}" % key),
                                  status=2)
            self.assertIn("%s is sensitive, and set_fact would store it" % key, out)
            self.assertIn("give public elements of a hash with a secret keys of their own", out)


if __name__ == "__main__":
    unittest.main()
