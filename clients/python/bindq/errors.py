"""Errors of lookups."""

from __future__ import annotations


class BindqError(Exception):
    """An error that bindq reported, or a failure to reach it.

    ``code`` is a code of docs/serve.md, "Errors". ``connection`` means that bindq could not be started or reached,
    or did not answer in time.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return "%s [%s]" % (self.message, self.code)


class KeyFailed(BindqError):
    """The value of a key cannot be computed. ``place`` is the position of its binding, or ``""``."""

    def __init__(self, key: str, message: str, code: str, place: str) -> None:
        super().__init__(message, code)
        self.key = key
        self.place = place

    def __str__(self) -> str:
        subject = "" if "'%s'" % self.key in self.message else self.key + ": "
        return subject + super().__str__() + (" (%s)" % self.place if self.place else "")


class NotFound(BindqError, KeyError):
    """Nothing binds the key for this node."""

    def __init__(self, key: str) -> None:
        super().__init__("%s: nothing binds this key for this node" % key, "not_found")
        self.key = key

    __str__ = BindqError.__str__


class SnapshotReplaced(BindqError):
    """The server has lost a node's session, and a different snapshot is active now.

    The node's earlier answers came from the first snapshot. Start over with a new node.
    """

    def __init__(self, before: str, now: str) -> None:
        super().__init__("the snapshot was replaced (%s by %s) after this node had used it, and bindq no longer has "
                         "the first one; start over with a new node" % (before, now), "replaced")


class Forgotten(Exception):
    """The server has ended the session. The client opens it again."""


class Lost(Exception):
    """The connection has ended. The client opens it again."""
