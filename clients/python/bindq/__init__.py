"""Looks up values in a snapshot of bindc, through ``bindq serve``.

::

    from bindq import Client

    with Client.start("/var/lib/bindc/production.snap") as client:
        node = client.node({"networking": {"fqdn": "web1.example.org"}})
        print(node.lookup("ntp::servers"))
"""

from .client import Client, Explanation, Needs, Node, Values
from .errors import BindqError, KeyFailed, NotFound, SnapshotReplaced
from .values import DEFAULT, Default, Regexp, Sensitive, Type

__all__ = ["Client", "Node", "Needs", "Values", "Explanation", "BindqError", "KeyFailed", "NotFound",
           "SnapshotReplaced", "Sensitive", "Regexp", "Type", "Default", "DEFAULT"]
