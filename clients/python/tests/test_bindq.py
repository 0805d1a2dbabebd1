"""Tests of the client with real children. The programs are in PATH, or in the variables BINDC and BINDQ."""

from __future__ import annotations

import datetime
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from bindq import BindqError, Client, KeyFailed, NotFound, Sensitive, SnapshotReplaced  # noqa: E402
from bindq.transport import Child  # noqa: E402

BINDC = os.environ.get("BINDC", "bindc")
BINDQ = os.environ.get("BINDQ", "bindq")

SITE = """bindings_version: 1
name: default
bind:
  - ['generation', %d]
  - ['role', '${role}']
  - ['app::port', 8080]
  - ['app::db::port', 5432]
  - {name: 'wrong', to_expression: 'join([$role])', type: Integer}
  - {name: 'secret', to: canary, sensitive: true}
  - ['environment', 'in ${environment}']
  - ['ports', {1: http, '1': text}]
  - ['flags::equal', {1: one, true: yes}]
"""


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.snapshot = self.dir / "site.snap"
        self.build(1)
        self.client = Client.start(self.snapshot, bindq=BINDQ)
        self.addCleanup(self.client.close)

    def build(self, generation: int) -> None:
        bindings = self.dir / "site" / "bindings"
        bindings.mkdir(parents=True, exist_ok=True)
        (bindings / "default.yaml").write_text(SITE % generation)
        subprocess.run([BINDC, "build", str(self.dir / "site"), "-o", str(self.snapshot)], check=True,
                       stdout=subprocess.DEVNULL)

    def child(self) -> int:
        return int(self.client._transport._process.pid)  # type: ignore[union-attr]

    def test_lookup_returns_value_default_or_not_found(self) -> None:
        node = self.client.node({"role": "web"})
        self.assertEqual(node.lookup("role"), "web")
        self.assertEqual(node.lookup("absent", default=None), None)
        with self.assertRaises(NotFound) as caught:
            node.lookup("absent")
        self.assertIsInstance(caught.exception, KeyError)
        self.assertEqual(str(caught.exception), "absent: nothing binds this key for this node [not_found]")

    def test_node_has_environment_production_another_or_none(self) -> None:
        for node, expected in ((self.client.node(), "in production"),
                               (self.client.node(environment="testing"), "in testing"),
                               (self.client.node({"environment": "x"}, environment=None), "in ")):
            self.assertEqual(node.lookup("environment"), expected)

    def test_prefix_selects_one_class_with_direct(self) -> None:
        node = self.client.node()
        self.assertEqual(node.prefix("app::"), {"app::port": 8080, "app::db::port": 5432})
        self.assertEqual(node.prefix("app::", direct=True), {"app::port": 8080})

    def test_error_names_key_place_and_code(self) -> None:
        with self.assertRaises(KeyFailed) as caught:
            self.client.node({"role": "web"}).lookup("wrong")
        self.assertEqual((caught.exception.key, caught.exception.code, caught.exception.place),
                         ("wrong", "type_mismatch", "bindings/default.yaml:8:12"))
        self.assertEqual(str(caught.exception), "'wrong': expected Integer, found String [type_mismatch] "
                                                "(bindings/default.yaml:8:12)")

    def test_keys_that_are_equal_in_python_are_an_error(self) -> None:
        node = self.client.node({"role": "web"})
        self.assertEqual(node.lookup("ports"), {1: "http", "1": "text"})
        with self.assertRaises(KeyFailed) as caught:
            node.lookup("flags::equal")
        self.assertEqual((caught.exception.key, caught.exception.code, caught.exception.place),
                         ("flags::equal", "type_mismatch", "bindings/default.yaml:12:6"))
        self.assertIn("two keys that are equal in Python (int and bool)", str(caught.exception))
        everything = node.all()
        self.assertEqual(everything.values["role"], "web")
        self.assertEqual(sorted(everything.errors), ["flags::equal", "wrong"])

    def test_sensitive_value_is_hidden(self) -> None:
        value = self.client.node().lookup("secret")
        self.assertEqual(value, Sensitive("canary"))
        self.assertNotIn("canary", "%s %r %s" % (value, [value], {"a": value}))
        with self.assertRaises(TypeError):
            pickle.dumps(value)

    def test_facts_that_json_cannot_express_are_an_error(self) -> None:
        for value in (datetime.date(2026, 1, 1), float("nan"), "\udcff"):
            with self.assertRaises(BindqError) as caught:
                self.client.node({"role": value}).lookup("role")
            self.assertEqual(caught.exception.code, "facts")

    def test_missing_program_and_snapshot_are_errors_with_fix(self) -> None:
        for client, text in ((Client.start(self.snapshot, bindq="/nowhere/bindq"), "install bindq"),
                             (Client.start(self.dir / "absent.snap", bindq=BINDQ), "expected a file written by bindc build"),
                             (Client.connect(self.dir / "socket"), "start bindq serve --listen")):
            with client, self.assertRaises(BindqError) as caught:
                client.node().lookup("role")
            self.assertIn(text, str(caught.exception))

    def test_child_that_ends_at_once_is_reported_with_status(self) -> None:
        with Client.start(self.snapshot, bindq="false") as client, self.assertRaises(BindqError) as caught:
            client.node().lookup("role")
        self.assertIn("it ended with status 1; gave up after 3 tries [connection]", str(caught.exception))

    def test_killed_child_is_started_again(self) -> None:
        node = self.client.node({"role": "web"})
        self.assertEqual(node.lookup("generation"), 1)
        os.kill(self.child(), signal.SIGKILL)
        self.assertEqual(node.lookup("role"), "web")

    def test_killed_child_and_replaced_snapshot_are_an_error(self) -> None:
        node = self.client.node()
        self.assertEqual(node.lookup("generation"), 1)
        self.build(2)
        os.kill(self.child(), signal.SIGKILL)
        with self.assertRaises(SnapshotReplaced):
            node.lookup("generation")
        self.assertEqual(self.client.node().lookup("generation"), 2)

    def test_node_keeps_its_snapshot(self) -> None:
        node = self.client.node()
        self.assertEqual(node.lookup("generation"), 1)
        self.build(2)
        deadline = time.monotonic() + 10
        while self.client.node().lookup("generation") == 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.client.node().lookup("generation"), 2)
        self.assertEqual(node.lookup("generation"), 1)

    def test_stopped_child_is_ended_after_timeout(self) -> None:
        client = Client(lambda: Child(["sleep", "60"]), "sleep", timeout=0.2)
        with self.assertRaises(BindqError) as caught:
            client.node().lookup("role")
        self.assertIn("no answer in time", str(caught.exception))

    def test_close_ends_child(self) -> None:
        self.client.node().lookup("generation")
        pid = self.child()
        self.client.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_threads_share_a_client(self) -> None:
        results: list[object] = []

        def work(role: str) -> None:
            node = self.client.node({"role": role})
            results.extend(node.lookup("role") == role for _ in range(50))

        threads = [threading.Thread(target=work, args=(str(n),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 400)

    def test_more_nodes_than_sessions(self) -> None:
        nodes = [self.client.node({"role": str(n)}) for n in range(100)]
        for _ in range(2):
            self.assertEqual([node.lookup("role") for node in nodes], [str(n) for n in range(100)])

    def test_forked_process_leaves_child_to_its_parent(self) -> None:
        node = self.client.node({"role": "web"})
        self.assertEqual(node.lookup("role"), "web")
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                status = 0 if node.lookup("generation") == 1 else 2
                self.client.close()
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        before = self.child()
        self.assertEqual(node.lookup("app::port"), 8080)
        self.assertEqual(self.child(), before)


if __name__ == "__main__":
    unittest.main()
