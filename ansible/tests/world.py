"""A site, an inventory and runs of ansible-playbook, for the tests of the collection."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import textwrap
import time
from typing import Any, Dict, List, Optional

COLLECTION = pathlib.Path(__file__).resolve().parent.parent
BINDC = os.environ.get("BINDC", "bindc")
BINDQ = os.environ.get("BINDQ", "bindq")
KEYS = ["packages", "limits", "ntp::servers", "ntp::port", "greeting", "ratio", "big", "template", "app::port",
        "'dotted.key'", "limits.open.files"]
CANARY = "canary-5f2e9c"

HIERA = """
version: 5
hierarchy:
  - {name: Nodes, path: "nodes/%{facts.networking.fqdn}.yaml"}
  - {name: Roles, path: "role/%{role}.yaml"}
  - {name: Systems, path: "os/%{facts.os.family}.yaml"}
  - {name: Common, path: common.yaml}
"""

COMMON = """
lookup_options:
  packages: {merge: unique}
  limits: {merge: deep}
packages: [vim]
limits: {open: {files: 1024}, core: 0}
generation: 1
template: '{{ 7 * 7 }} {% raw %} {{ lookup("pipe", "echo pwned") }}'
ntp::servers: [pool.ntp.org]
ntp::port: 123
greeting: "Hello %{facts.networking.hostname} %{role} %{trusted.certname}"
ratio: 1.0
big: 9223372036854775807
nothing: ~
'dotted.key': dots
"""

BINDINGS = """
bindings_version: 1
name: default
bind:
  - {name: 'app::password', to: %s, sensitive: true}
  - {name: 'app::credentials', to: {user: admin, tokens: [%s-1, %s-2]}, sensitive: true}
  - {name: 'app::wrong', to_expression: 'join([$role])', type: Integer}
  - ['app::port', 8080]
""" % (CANARY, CANARY, CANARY)

LAYERS = """
version: 1
layers: [{name: site, include: 'confdir:/default'}, {name: hiera, include: 'hiera:/'}]
"""


def play_of(tasks: str, hosts: str = "h0.example.org") -> str:
    """Returns a playbook with tasks that need no facts of Ansible."""
    return "- hosts: %s\n  gather_facts: false\n  tasks:\n%s\n" % (
        hosts, textwrap.indent(textwrap.dedent(tasks).strip("\n "), "    "))


def debug_of(expression: str, hosts: str = "h0.example.org") -> str:
    """Returns a playbook that prints "found" and the value of an expression."""
    return play_of('- debug: {msg: "found {{ %s }}"}' % expression, hosts)


class World:
    """A directory with a site, its snapshot and what runs leave. ``close`` removes it."""

    def __init__(self) -> None:
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bindc-ansible-"))
        self.snapshot = self.dir / "site.snap"
        self.started = self.dir / "started"  # process numbers of the children
        self.write("coll/ansible_collections/bindc/.keep", "")
        os.symlink(COLLECTION, self.dir / "coll/ansible_collections/bindc/data")
        self.write("bindq", '#!/bin/sh\necho $$ >> "%s"\nexec "%s" "$@"\n' % (self.started, shutil.which(BINDQ)))
        (self.dir / "bindq").chmod(0o755)
        self.write_site()
        self.build()

    def close(self) -> None:
        shutil.rmtree(self.dir, ignore_errors=True)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return path

    def write_site(self) -> None:
        self.write("site/hiera.yaml", HIERA)
        self.write("site/data/common.yaml", COMMON)
        self.write("site/data/role/db.yaml", "packages: [postgresql]\nlimits: {open: {files: 65536}}\n")
        self.write("site/data/role/web.yaml", "packages: [nginx]\nntp::port: 1123\n")
        self.write("site/data/os/RedHat.yaml", "ntp::servers: [redhat.pool.ntp.org]\npackages: [dnf]\n")
        self.write("site/data/nodes/h3.example.org.yaml", "packages: [gdb]\n")
        self.write("site/bindings/default.yaml", BINDINGS)
        self.write("site/binder_config.yaml", LAYERS)

    def build(self, *arguments: str) -> None:
        subprocess.run([BINDC, "build", str(self.dir / "site"), "-o", str(self.snapshot), *arguments], check=True,
                       capture_output=True)

    def hosts(self, count: int) -> Dict[str, Dict[str, Any]]:
        """Returns facts by the name of the host."""
        hosts = {}
        for n in range(count):
            name = "h%d.example.org" % n
            hosts[name] = {"networking": {"fqdn": name, "hostname": "h%d" % n, "domain": "example.org"},
                           "os": {"family": ("Debian", "RedHat")[n % 2]}, "role": ("web", "db", "mail")[n % 3]}
        return hosts

    def inventory(self, hosts: Dict[str, Dict[str, Any]]) -> pathlib.Path:
        entries = {name: {"bindc_facts": facts, "role": facts["role"], "family": facts["os"]["family"],
                          "short": facts["networking"]["hostname"]} for name, facts in hosts.items()}
        variables = {"terms": [shlex.quote(key) for key in KEYS], "ansible_connection": "local",
                     "ansible_python_interpreter": "/usr/bin/python3"}
        return self.write("inventory.json", json.dumps({"all": {"hosts": entries, "vars": variables}}))

    def environment(self, **more: str) -> Dict[str, str]:
        return {**os.environ, "HOME": str(self.dir), "ANSIBLE_HOME": str(self.dir / "home"),
                "ANSIBLE_CONFIG": str(self.dir / "ansible.cfg"), "ANSIBLE_LOCALHOST_WARNING": "0",
                "ANSIBLE_COLLECTIONS_PATH": str(self.dir / "coll"), "ANSIBLE_NOCOWS": "1", **more}

    def configure(self, bindc: str = "", defaults: str = "") -> None:
        self.write("ansible.cfg", "[defaults]\n%s\n[bindc]\nsnapshot = %s\nexecutable = %s\n%s\n"
                   % (defaults, self.snapshot, self.dir / "bindq", bindc))

    def command(self, playbook: str, *arguments: str) -> List[str]:
        path = self.write("playbook.yml", playbook)
        return ["/usr/bin/ansible-playbook", "-i", str(self.dir / "inventory.json"), str(path), *arguments]

    def play(self, playbook: str, *arguments: str, status: Optional[int] = 0, **more: str) -> str:
        """Runs a playbook, and returns everything that it printed."""
        run = subprocess.run(self.command(playbook, *arguments), cwd=self.dir, env=self.environment(**more),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500, check=False)
        if status is not None and run.returncode != status:
            raise AssertionError("status %d\n%s" % (run.returncode, run.stdout))
        return run.stdout

    def children(self) -> List[int]:
        """Returns the process numbers of the children since the last call."""
        numbers = [int(line) for line in self.started.read_text().split()] if self.started.exists() else []
        self.started.unlink(missing_ok=True)
        return numbers

    def lookup(self, keys: List[str], name: str, facts: Dict[str, Any], *arguments: str) -> Dict[str, Any]:
        """Returns the answers of ``bindq lookup``."""
        path = self.write("facts/%s.json" % name, json.dumps(facts))
        out = subprocess.run([BINDQ, "lookup", *keys, "-s", str(self.snapshot), "--facts", str(path), "--node", name,
                              "--format", "json", *arguments], check=True, capture_output=True, text=True).stdout
        answers: Dict[str, Any] = json.loads(out)
        return answers


def gone(pid: int, seconds: float = 10) -> bool:
    """Reports whether a process ends within some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
