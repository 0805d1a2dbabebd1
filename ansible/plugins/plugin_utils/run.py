"""The bindq of a run. All processes of a run share it, and it ends with the run."""

from __future__ import annotations

import fcntl
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from typing import Any, Dict, List

from ansible import constants as C
from ansible.errors import AnsibleLookupError
from ansible.utils.display import Display

from .bindq import Client
from .bindq.transport import Socket

RELAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")

display = Display()
_clients: Dict[str, Client] = {}


def client(options: Any) -> Client:
    """Returns the client of this process for the options of a plugin."""
    command = command_of(options)
    name = hashlib.sha256(json.dumps(command).encode()).hexdigest()[:16]
    timeout = options("timeout")
    if name not in _clients:
        _clients[name] = Client(lambda: _connect(_socket(name, command, options)), " ".join(command), timeout)
    return _clients[name]


def command_of(options: Any) -> List[str]:
    """Returns the command of the child. Its name and options are settings of the user, not data."""
    snapshot, executable = options("snapshot") or options("config_file"), options("executable")
    if not snapshot:
        raise AnsibleLookupError("bindc: no snapshot; set 'snapshot' in the section [bindc] of ansible.cfg, or "
                                 "BINDQ_SNAPSHOT, to the file that bindc build writes")
    if os.path.basename(executable) == "hiera":
        raise AnsibleLookupError("bindc: 'executable' is %s, but this plugin needs bindq; unset ANSIBLE_HIERA_BIN"
                                 % executable)
    if os.path.splitext(snapshot)[1] in (".yaml", ".yml"):
        raise AnsibleLookupError("bindc: the snapshot is %s, a Hiera configuration; compile its directory with "
                                 "'bindc build DIR -o FILE.snap', and use that file" % snapshot)
    return [executable, "serve", "--stdio", "--keep", "-s", os.path.abspath(snapshot), *options("arguments")]


def _check(options: Any) -> None:
    """Checks the settings that are worth a message only once in a run."""
    snapshot, old, executable = options("snapshot"), options("config_file"), options("executable")
    if snapshot and old and os.path.abspath(snapshot) != os.path.abspath(old):
        display.warning("bindc: config_file (ANSIBLE_HIERA_CFG) is %s and has no effect, because the snapshot is %s; "
                        "unset one of them" % (old, snapshot))
    if not shutil.which(executable):
        raise AnsibleLookupError("bindc: there is no program %s%s; install bindq, or set 'executable' in the section "
                                 "[bindc] of ansible.cfg to its path"
                                 % (executable, "" if os.sep in executable else " in PATH"))


def _socket(name: str, command: List[str], options: Any) -> str:
    """Returns the socket of the run's relay, and starts the relay if this is the first question of the run."""
    directory = C.DEFAULT_LOCAL_TMP  # belongs to the run; Ansible removes it at the end
    path = os.path.join(directory, "bindq-" + name)
    with open(path + ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path):
            return path
        if os.path.exists(path + ".log"):
            raise _ended(path + ".log", command, "has ended during this run; start the run again")
        _check(options)
        _start(path, command, options("timeout"))
    return path


def _connect(path: str) -> Socket:
    """Returns a connection to a socket. Its path may be longer than the 107 bytes that Linux allows."""
    directory = os.open(os.path.dirname(path), os.O_PATH)
    try:
        return Socket("/proc/self/fd/%d/%s" % (directory, os.path.basename(path)))
    finally:
        os.close(directory)


def _start(path: str, command: List[str], timeout: float) -> None:
    with open(path + ".log", "wb") as log:
        relay = subprocess.Popen([sys.executable, RELAY, path, str(_main_process()), *command],
                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    deadline = time.monotonic() + timeout
    while not os.path.exists(path):
        if relay.poll() is not None or time.monotonic() > deadline:
            raise _ended(path + ".log", command, "does not start")
        time.sleep(0.005)


def _ended(log: str, command: List[str], what: str) -> AnsibleLookupError:
    with open(log, errors="replace") as file:
        lines = file.read().strip().splitlines()
    last = lines[-1] if lines else "it printed nothing"
    return AnsibleLookupError("bindc: %s %s: %s" % (" ".join(command), what, last))


def _main_process() -> int:
    """Returns the main process of the run, which outlives the processes of tasks."""
    parent = multiprocessing.parent_process()
    return parent.pid if parent and parent.pid else os.getpid()
