"""Runs the steps of testdata/protocol with the Python client: one JSON object per line, one answer per line."""

from __future__ import annotations

import base64
import json
import math
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from bindq import DEFAULT, BindqError, Client, Node, NotFound, Regexp, Sensitive, Type  # noqa: E402


def rich(value: Any) -> Any:
    """Returns a value in the form of the protocol."""
    if isinstance(value, (list, tuple)):
        return [rich(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) and key != "__ptype" for key in value):
            return {key: rich(item) for key, item in value.items()}
        return {"__ptype": "Hash", "__pvalue": [rich(part) for pair in value.items() for part in pair]}
    if isinstance(value, Sensitive):
        return {"__ptype": "Sensitive", "__pvalue": rich(value.unwrap())}
    if isinstance(value, Regexp):
        return {"__ptype": "Regexp", "__pvalue": value.source}
    if isinstance(value, Type):
        return {"__ptype": "Type", "__pvalue": value.text}
    if value is DEFAULT:
        return {"__ptype": "Default"}
    if isinstance(value, bytes):
        return {"__ptype": "Binary", "__pvalue": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return {"__ptype": "Float", "__pvalue": name}
    return value


def main(path: str) -> None:
    client = Client.connect(path, timeout=1)
    nodes: dict[str, Node] = {}
    for line in sys.stdin:
        step = json.loads(line)
        if step["do"] == "node":
            nodes[step["node"]] = client.node(step.get("facts"), variables=step.get("vars"),
                                              trusted=step.get("trusted"))
            answer: Any = {}
        else:
            answer = lookup(nodes[step["node"]], step["key"])
        print(json.dumps(answer), flush=True)


def lookup(node: Node, key: str) -> Any:
    try:
        return {"value": rich(node.lookup(key))}
    except NotFound:
        return {"absent": True}
    except BindqError as error:
        return {"error": error.code}


if __name__ == "__main__":
    main(sys.argv[1])
