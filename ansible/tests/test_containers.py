"""Hosts with file systems of their own, which Ansible reaches with chroot, as root and without a network."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import unittest
from typing import Dict, Tuple

from world import CANARY, World

PROGRAMS = ("cat chmod chown cp dd echo env head id ls mkdir mktemp mv python3 rm sh sleep stat tail test true "
            "uname").split()

# Lines of os-release, and the facts that Facter has for such a system.
SYSTEMS: Dict[str, Tuple[str, Dict[str, str]]] = {
    "debian.example.org": ('NAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="11"\nVERSION_CODENAME=bullseye\n',
                           {"name": "Debian", "family": "Debian", "major": "11"}),
    "ubuntu.example.org": ('NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\n',
                           {"name": "Ubuntu", "family": "Debian", "major": "22.04"}),
    "rocky.example.org": ('NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"\n',
                          {"name": "Rocky", "family": "RedHat", "major": "9"}),
}

PLAYBOOK = """
- hosts: all
  gather_subset: ['!all', '!facter']
  vars:
    system: "{{ lookup('bindc.data.hiera', 'system') }}"
  tasks:
    - copy: {content: "{{ system }}", dest: /etc/system}
      check_mode: false
    - copy: {content: "{{ hiera.system }}", dest: /etc/variable}
      check_mode: false
    - copy: {content: "{{ lookup('bindc.data.hiera', 'packages') | to_json }}", dest: /etc/packages}
    - copy: {content: "{{ lookup('bindc.data.hiera', 'app::password') }}", dest: /etc/password}
"""


def make_root(root: pathlib.Path) -> None:
    """Writes a file system with Python and the programs that Ansible runs on a host."""
    for name in ("usr/bin", "etc", "dev", "proc", "tmp", "root"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (root / "usr" / name).mkdir(exist_ok=True)
        os.symlink("usr/" + name, root / name)
    for program in PROGRAMS:
        shutil.copy("/usr/bin/" + program, root / "usr/bin")
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    shutil.copytree(library, root / library.relative_to("/"), symlinks=True, ignore_dangling_symlinks=True,
                    ignore=shutil.ignore_patterns("dist-packages", "__pycache__", "test"))
    binaries = [*(root / "usr/bin").iterdir(), *(library / "lib-dynload").glob("*.so")]
    listed = subprocess.run(["ldd", *map(str, binaries)], check=False, capture_output=True, text=True).stdout
    for path in set(re.findall(r"(?:=> |^\s)(/\S+) \(", listed, re.MULTILINE)):
        (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path[1:])
    (root / "dev/null").touch()  # as a file it does not depend on mount options
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")


@unittest.skipUnless(os.geteuid() == 0, "chroot needs root")
@unittest.skipUnless(importlib.util.find_spec("ansible_collections.community.general"),
                     "Debian's package ansible, which has the connection plugin chroot, is not installed")
class ContainersTest(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        self.world = World()
        self.addCleanup(self.world.close)
        self.world.write("site/hiera.yaml", """
            version: 5
            hierarchy:
              - {name: Systems, path: "os/%{facts.os.name}.yaml"}
              - {name: Families, path: "os/%{facts.os.family}.yaml"}
              - {name: Common, path: common.yaml}
            """)
        self.world.write("site/data/os/Ubuntu.yaml", "packages: [snapd]\n")
        self.world.write("site/data/common.yaml", """
            lookup_options:
              packages: {merge: unique}
            packages: [vim]
            system: "%{facts.os.name} %{facts.os.release.major} %{trusted.certname}"
            """)
        self.world.build()
        self.world.configure("", "vars_plugins_enabled = host_group_vars,bindc.data.values")
        make_root(self.world.dir / "base")
        for name, (release, _) in SYSTEMS.items():
            shutil.copytree(self.world.dir / "base", self.root(name), symlinks=True, copy_function=os.link)
            (self.root(name) / "etc/os-release").write_text(release)
        (self.root("rocky.example.org") / "etc/redhat-release").write_text("Rocky Linux release 9.3 (Blue Onyx)\n")
        hosts = {name: {"ansible_host": str(self.root(name))} for name in SYSTEMS}
        variables = {"ansible_connection": "community.general.chroot", "ansible_python_interpreter": "/usr/bin/python3"}
        self.world.write("inventory.json", json.dumps({"all": {"hosts": hosts, "vars": variables}}))

    def root(self, host: str) -> pathlib.Path:
        return self.world.dir / "roots" / host

    def test_facts_of_containers_select_values_of_bindq(self) -> None:
        for arguments in (["--check"], []):
            self.assertNotIn(CANARY, self.world.play(PLAYBOOK, "--diff", "-vv", *arguments))
            for name, (_, system) in SYSTEMS.items():
                release = {"major": system["major"]}
                facts = {"os": {"name": system["name"], "family": system["family"], "release": release}}
                expected = self.world.lookup(["system", "packages"], name, facts)
                self.assertEqual(expected["system"], "%s %s %s" % (system["name"], system["major"], name))
                etc = self.root(name) / "etc"
                self.assertEqual((etc / "system").read_text(), expected["system"])
                self.assertEqual((etc / "variable").read_text(), expected["system"])
                self.assertEqual((etc / "packages").exists(), not arguments)
                if not arguments:
                    self.assertEqual(json.loads((etc / "packages").read_text()), expected["packages"])
                    self.assertEqual((etc / "password").read_text(), CANARY)


if __name__ == "__main__":
    unittest.main()
