"""Frames over the pipes of a child process or over a socket (docs/serve.md, "Frames")."""

from __future__ import annotations

import os
import select
import socket
import struct
import subprocess
import time
from typing import Optional, Sequence, Union

from .errors import BindqError, Lost

MAX_ANSWER = 64 << 20


class Transport:
    """Sends and receives frames. Every call has a deadline, a time of ``time.monotonic``."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        for number in (reading, writing):
            os.set_blocking(number, False)

    def send(self, texts: Sequence[bytes], deadline: float) -> None:
        """Sends each text as one frame."""
        rest = memoryview(b"".join(struct.pack(">I", len(text)) + text for text in texts))
        while rest:
            try:
                rest = rest[os.write(self._writing, rest):]
            except BlockingIOError:
                self._wait([], [self._writing], deadline)
            except OSError as error:
                raise Lost(str(error)) from error

    def receive(self, deadline: float) -> bytes:
        """Returns the next frame."""
        (length,) = struct.unpack(">I", self._read(4, deadline))
        if length > MAX_ANSWER:
            raise Lost("its answer is not a frame")
        return self._read(length, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        parts, missing = [], size
        while missing:
            try:
                part = os.read(self._reading, missing)
            except BlockingIOError:
                self._wait([self._reading], [], deadline)
                continue
            except OSError as error:
                raise Lost(str(error)) from error
            if not part:
                raise Lost("it closed the connection")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _wait(self, reading: list[int], writing: list[int], deadline: float) -> None:
        poll = select.poll()
        for number in reading:
            poll.register(number, select.POLLIN)
        for number in writing:
            poll.register(number, select.POLLOUT)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise Lost("no answer in time")

    def close(self, wait: float) -> Optional[str]:
        """Closes the connection. Returns how the child ended, if it ended by itself."""
        raise NotImplementedError

    def drop(self) -> None:
        """Closes the copies that a forked process has of its parent's descriptors."""
        raise NotImplementedError


class Child(Transport):
    """``bindq serve --stdio`` as a child process. It ends when its input is closed, and so with this process."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise BindqError("cannot start %s: %s; install bindq, or give its path" % (command[0], error.strerror),
                             "connection") from error
        assert self._process.stdin and self._process.stdout
        super().__init__(self._process.stdout.fileno(), self._process.stdin.fileno())

    def close(self, wait: float) -> Optional[str]:
        by_itself = self._ended(0.1)
        self._close_pipes()
        if not by_itself and not self._ended(wait):
            self._process.kill()
            self._process.wait()
        status = self._process.returncode
        if not by_itself or status == 0:
            return None
        return "it ended with %s" % ("signal %d" % -status if status < 0 else "status %d" % status)

    def drop(self) -> None:
        self._close_pipes()
        self._process.returncode = 0  # the parent waits for the process

    def _ended(self, wait: float) -> bool:
        try:
            self._process.wait(wait)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


class Socket(Transport):
    """A connection to a ``bindq serve --listen``."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(os.fspath(path))
        except OSError as error:
            self._socket.close()
            raise BindqError("cannot connect to %s: %s; start bindq serve --listen unix:%s, and let this user read and "
                             "write the socket" % (path, error.strerror or error, path), "connection") from error
        super().__init__(self._socket.fileno(), self._socket.fileno())

    def close(self, wait: float) -> Optional[str]:
        self._socket.close()
        return None

    def drop(self) -> None:
        self._socket.close()
