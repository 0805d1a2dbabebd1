"""Clients of ``bindq serve``, and the nodes whose values they look up."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import BindqError, Forgotten, KeyFailed, Lost, NotFound, SnapshotReplaced
from .transport import Child, Socket, Transport
from .values import EqualKeys, read_rich

PROTOCOL = 1
TRIES = 3  # how often a question is asked if the connection or the session ends
REPLACEMENTS = 8  # how often a node tries to open its session while the snapshot is being replaced
_MISSING = object()

Path = Union[str, "os.PathLike[str]"]
Answer = Dict[str, Any]


@dataclass(frozen=True)
class Needs:
    """The facts and variables on which answers of a snapshot depend, and the digest of the snapshot."""

    digest: str
    variables: Tuple[str, ...]
    all_facts: bool
    trusted: bool

    @staticmethod
    def of(answer: Answer) -> "Needs":
        return Needs(answer["digest"], tuple(answer["variables"]), answer["all_facts"], answer["trusted"])


@dataclass(frozen=True)
class Explanation:
    """Describes where a value comes from. ``place`` is ``path:line:col``, or ``""``."""

    place: str
    lines: Tuple[str, ...]


@dataclass(frozen=True)
class Values:
    """Values by key, and the errors of keys whose values cannot be computed."""

    values: Dict[str, Any]
    errors: Dict[str, KeyFailed]


class Client:
    """A connection to ``bindq serve``. It opens the connection when needed, and again if it is lost.

    Several threads can use a client; their questions are answered in turn. A forked process opens a connection of its
    own. Use ``Client.start`` or ``Client.connect`` to create a client.
    """

    def __init__(self, open_transport: Callable[[], Transport], name: str, timeout: float) -> None:
        self._open_transport = open_transport
        self._name = name
        self._timeout = timeout
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._transport: Optional[Transport] = None
        self._needs: Dict[str, Needs] = {}
        self.opening = 0  # counts the connections that were opened; a session belongs to one of them

    @staticmethod
    def start(snapshot: Path, bindq: str = "bindq", arguments: Sequence[str] = (), timeout: float = 10) -> "Client":
        """Returns a client with a child ``bindq serve --stdio``. ``snapshot`` may be a directory of environments."""
        command = [bindq, "serve", "--stdio", "-s", os.fspath(snapshot), *arguments]
        return Client(lambda: Child(command), " ".join(command), timeout)

    @staticmethod
    def connect(path: Path, timeout: float = 10) -> "Client":
        """Returns a client of a ``bindq serve --listen unix:PATH``."""
        return Client(lambda: Socket(path), os.fspath(path), timeout)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return self._name

    def close(self) -> None:
        """Ends the connection and the child. A later question opens a new connection."""
        with self._own_lock():
            self._close()

    def node(self, facts: Optional[Mapping[str, Any]] = None, *, environment: Optional[str] = "production",
             variables: Optional[Mapping[str, Any]] = None, trusted: Optional[Mapping[str, Any]] = None,
             strict_variables: bool = False) -> "Node":
        """Returns a node with Facter's facts, variables of top scope that are not facts, and the hash ``$trusted``.

        Only what the snapshot needs is sent. With the environment None, ``$environment`` is undef, and a directory of
        snapshots has the values of production.
        """
        variables = dict(variables or {})
        if environment is None:
            variables["environment"], environment = None, "production"
        return Node(self, facts or {}, environment, variables, trusted, strict_variables)

    def needs(self, environment: str = "production") -> Needs:
        """Returns what the active snapshot of an environment needs."""
        answer = self.retry(lambda: self.ask([_hello(environment)])[0])
        self._needs[environment] = Needs.of(check(answer)["snapshot"])
        return self._needs[environment]

    def known_needs(self, environment: str) -> Optional[Needs]:
        """Returns the needs that the server reported last, which may be those of a previous snapshot."""
        return self._needs.get(environment)

    def learn(self, environment: str, needs: Needs) -> None:
        """Stores the needs of a snapshot."""
        self._needs[environment] = needs

    def retry(self, do: Callable[[], Any]) -> Any:
        """Returns the result of ``do``. Calls it again if the connection is lost or the session has ended."""
        with self._own_lock():
            for _ in range(TRIES):
                try:
                    return do()
                except (Lost, Forgotten) as error:
                    reason = str(error)
        raise BindqError("%s: %s; gave up after %d tries" % (self, reason, TRIES), "connection")

    def ask(self, questions: Sequence[Answer]) -> List[Answer]:
        """Returns the answers to questions that are sent together. Raises ``Lost`` if the connection ends."""
        with self._own_lock():
            self._open()
            return self._exchange(questions)

    def _open(self) -> None:
        if self._transport:
            return
        self._transport = self._open_transport()
        self.opening += 1
        error = self._exchange([_hello("production")])[0].get("error", {})
        if error.get("code") in ("protocol", "busy"):
            self._close()
            raise BindqError("%s: %s" % (self, error["message"]), error["code"])

    def _exchange(self, questions: Sequence[Answer]) -> List[Answer]:
        texts = [_encode(question) for question in questions]
        transport, complete = self._transport, False
        assert transport
        deadline = time.monotonic() + self._timeout
        try:
            transport.send(texts, deadline)
            answers = [self._decode(transport.receive(deadline)) for _ in questions]
            complete = True
            return answers
        except Lost as error:
            ended = self._close()
            raise Lost(", ".join(filter(None, [str(error), ended]))) from error
        finally:
            if not complete:  # a late answer would be taken for the answer to the next question
                self._close()

    def _decode(self, text: bytes) -> Answer:
        try:
            answer = json.loads(text.decode())
        except (ValueError, RecursionError) as error:
            raise BindqError("%s: its answer is not JSON: %s" % (self, type(error).__name__), "protocol") from None
        if not isinstance(answer, dict):
            raise BindqError("%s: its answer is not an object" % self, "protocol")
        return answer

    def _close(self) -> Optional[str]:
        transport, self._transport = self._transport, None
        return transport.close(self._timeout) if transport else None

    def _own_lock(self) -> threading.RLock:
        """Returns the lock of this process. A forked process leaves the connection to its parent."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._lock = threading.RLock()
            transport, self._transport = self._transport, None
            if transport:
                transport.drop()
        return self._lock


class Node:
    """The values of one node. All of them come from one snapshot, even if it is replaced in the meantime."""

    def __init__(self, client: Client, facts: Mapping[str, Any], environment: str, variables: Mapping[str, Any],
                 trusted: Optional[Mapping[str, Any]], strict_variables: bool) -> None:
        self._client = client
        self._facts = facts
        self._environment = environment
        self._variables = variables
        self._trusted = trusted
        self._strict = strict_variables
        self._needs: Optional[Needs] = None  # of the snapshot that the node uses
        self._question: Answer = {}  # opens the session
        self._opening = 0

    def lookup(self, key: str, default: Any = _MISSING, merge: Union[str, Mapping[str, Any], None] = None) -> Any:
        """Returns the value of a key. If nothing binds it, returns ``default`` or raises ``NotFound``."""
        found = self.lookup_all([key], merge)
        if key in found:
            return found[key]
        if default is _MISSING:
            raise NotFound(key)
        return default

    def lookup_all(self, keys: Sequence[str], merge: Union[str, Mapping[str, Any], None] = None) -> Dict[str, Any]:
        """Returns the values of those keys that are bound."""
        return self._values(_with(merge, {"ask": "keys", "keys": list(keys)}))

    def prefix(self, prefix: str, direct: bool = False, merge: Union[str, Mapping[str, Any], None] = None,
               ) -> Dict[str, Any]:
        """Returns the values of all keys that begin with a prefix; with ``direct``, those without a further ``::``."""
        return self._values(_with(merge, {"ask": "prefix", "prefix": prefix, "direct": direct}))

    def all(self, prefix: str = "") -> Values:
        """Returns the values of all keys that begin with a prefix. Unlike ``prefix``, it returns errors of keys."""
        answer = self._ask({"ask": "prefix", "prefix": prefix})
        values, errors = _decoded(answer)
        return Values(values, {key: self._failed(key, error) for key, error in errors.items()})

    def identity(self) -> str:
        """Returns a text that is equal for nodes with equal values: it covers the snapshot, and the facts it needs."""
        self._ask({"ask": "keys", "keys": []})
        return _encode(self._question).decode()

    def explain(self, key: str, merge: Union[str, Mapping[str, Any], None] = None) -> Explanation:
        """Returns where the value of a key comes from, without values."""
        answer = self._ask(_with(merge, {"ask": "explain", "key": key}))
        return Explanation(answer["at"], tuple(answer["lines"]))

    def _values(self, question: Answer) -> Dict[str, Any]:
        values, errors = _decoded(self._ask(question))
        for key, error in errors.items():
            raise self._failed(key, error)
        return values

    def _failed(self, key: str, error: Mapping[str, str]) -> KeyFailed:
        return KeyFailed(key, error["message"], error["code"], self.explain(key).place)

    def _ask(self, question: Answer) -> Answer:
        answer: Answer = self._client.retry(lambda: self._try(question))
        return check(answer)

    def _try(self, question: Answer) -> Answer:
        if not self._opening or self._opening != self._client.opening:
            return self._open_and_ask(question)
        answer = self._client.ask([{**question, "session": self._question["session"]}])[0]
        if answer.get("error", {}).get("code") == "session":
            self._opening = 0
            raise Forgotten("it has ended the session")
        return answer

    def _open_and_ask(self, question: Answer) -> Answer:
        """Opens the session, together with the question, so that the server cannot end the session in between."""
        for _ in range(REPLACEMENTS):
            needs = self._needs or self._client.known_needs(self._environment)
            self._question = self._node(needs)
            opened, answer = self._client.ask([self._question, {**question, "session": self._question["session"]}])
            if "session" in check(opened):
                self._needs, self._opening = needs, self._client.opening
                return answer
            current = Needs.of(opened["snapshot"])
            self._client.learn(self._environment, current)
            if self._needs:
                raise SnapshotReplaced(self._needs.digest, current.digest)
        raise BindqError("the snapshot is replaced faster than this node can be opened; try again", "replaced")

    def _node(self, needs: Optional[Needs]) -> Answer:
        """Returns the question that opens the session, with the facts and variables that the snapshot needs."""
        question: Answer = {"ask": "node", "environment": self._environment}
        if needs:
            names = {*needs.variables, "environment"}
            question["digest"] = needs.digest
            question["facts"] = (dict(self._facts) if needs.all_facts else
                                 {name: self._facts[name] for name in needs.variables if name in self._facts})
            question["vars"] = {name: value for name, value in self._variables.items()
                                if (name[2:] if name.startswith("::") else name) in names}
            if needs.trusted and self._trusted is not None:
                question["trusted"] = self._trusted
            if self._strict:
                question["strict_variables"] = True
        question["session"] = _number(question)
        return question


def _decoded(answer: Answer) -> Tuple[Dict[str, Any], Dict[str, Mapping[str, str]]]:
    """Returns the values and the errors of an answer by key."""
    values, errors = answer.get("values", {}), answer.get("errors", {})
    for key, value in answer.get("rich", {}).items():
        try:
            values[key] = read_rich(value)
        except EqualKeys as error:
            errors[key] = {"message": str(error), "code": "type_mismatch"}
    return values, errors


def _number(question: Answer) -> int:
    """Returns a session number that follows from the node, so that equal nodes share a session."""
    digest = hashlib.sha256(_encode(question)).digest()
    return int.from_bytes(digest[:6], byteorder="big")


def check(answer: Answer) -> Answer:
    """Returns an answer that is not an error. Raises the error otherwise."""
    error = answer.get("error")
    if error:
        raise BindqError(error["message"], error["code"])
    return answer


def _hello(environment: str) -> Answer:
    return {"ask": "hello", "protocol": PROTOCOL, "environment": environment}


def _with(merge: Union[str, Mapping[str, Any], None], question: Answer) -> Answer:
    return question if merge is None else {**question, "merge": merge}


def _encode(question: Answer) -> bytes:
    try:
        return json.dumps(question, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BindqError("a fact or variable of this node cannot be sent: %s" % error, "facts") from None
