"""Passes the questions of all processes of a run to one child ``bindq serve --stdio``.

Ansible runs each task of each host in a process of its own, and none of them lives as long as the run. This program
does: it starts the child, listens on a socket, and ends when the main process of the run has ended. The child ends with
its input, even if this program is killed.

    relay.py SOCKET PID COMMAND...
"""

from __future__ import annotations

import os
import select
import selectors
import socket
import struct
import subprocess
import sys
from typing import IO, Optional

PATIENCE = 10.0  # seconds for the rest of a question that has begun, and for a client to read its answer
POLL = 0.2  # seconds between two looks at the main process, where the system cannot report its end
BACKLOG = 1024


class Ended(Exception):
    """The child has ended."""


def main(path: str, pid: int, command: list[str]) -> int:
    watch = watch_process(pid)
    directory = os.getcwd()
    os.chdir(os.path.dirname(path))  # the path may be longer than that of a socket can be
    path = os.path.basename(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path + ".new")
    os.chmod(path + ".new", 0o600)
    listener.listen(BACKLOG)
    try:
        start = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                 cwd=directory)
    except OSError as error:
        print(error.strerror, file=sys.stderr)
        return 1
    with start as child:
        os.rename(path + ".new", path)
        try:
            relay(listener, watch, pid, child)
        except Ended:
            print("it ended with status %d" % child.wait(), file=sys.stderr)
            return 1
        finally:
            listener.close()
            if os.path.exists(path):
                os.unlink(path)
    return 0


def watch_process(pid: int) -> Optional[int]:
    """Returns a descriptor that becomes readable when the process ends, or None if the system has none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        sys.exit(0)
    except OSError:
        return None


def relay(listener: socket.socket, watch: Optional[int], pid: int, child: "subprocess.Popen[bytes]") -> None:
    """Answers clients until the process has ended."""
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    if watch is not None:
        selector.register(watch, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select(None if watch is not None else POLL):
            if key.fileobj == watch:
                return
            if key.fileobj is listener:
                client, _ = listener.accept()
                client.settimeout(PATIENCE)
                selector.register(client, selectors.EVENT_READ)
            elif isinstance(key.fileobj, socket.socket) and not answer_all(key.fileobj, child):
                selector.unregister(key.fileobj)
                key.fileobj.close()
        if watch is None and not is_alive(pid):
            return


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def answer_all(client: socket.socket, child: "subprocess.Popen[bytes]") -> bool:
    """Answers the questions that a client has sent together, before those of other clients. A client opens its session
    in this way, and the child cannot end the session in between. Reports whether the client is still connected."""
    try:
        with client.makefile("rb", buffering=0) as stream:
            while True:
                question = read_frame(stream)
                if question is None:
                    return False
                client.sendall(ask(child, question))
                if not select.select([client], [], [], 0)[0]:
                    return True
    except (OSError, EOFError):
        return False


def ask(child: "subprocess.Popen[bytes]", question: bytes) -> bytes:
    assert child.stdin and child.stdout
    try:
        child.stdin.write(question)
        answer = read_frame(child.stdout)
    except (OSError, EOFError) as error:
        raise Ended() from error
    if answer is None:
        raise Ended()
    return answer


def read_frame(stream: IO[bytes]) -> Optional[bytes]:
    """Returns a frame with its length, or None at the end of the stream."""
    head = stream.read(4)
    if not head:
        return None
    head += read_all(stream, 4 - len(head))
    return head + read_all(stream, struct.unpack(">I", head)[0])


def read_all(stream: IO[bytes], size: int) -> bytes:
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            raise EOFError()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
