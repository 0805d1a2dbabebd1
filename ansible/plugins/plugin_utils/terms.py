"""Terms of the lookup plugin: arguments of the command ``hiera``."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from ansible.errors import AnsibleLookupError

FLAGS = {"-a": "unique", "--array": "unique", "-h": "hash", "--hash": "hash"}


@dataclass
class Term:
    """``KEY [DEFAULT] [NAME=VALUE ...]``"""

    key: str
    default: Optional[str] = None
    merge: Optional[str] = None
    scope: Dict[str, str] = field(default_factory=dict)


def parse(text: Any) -> Term:
    """Returns a term. Raises an error for other flags of the command, which have no meaning here."""
    try:
        words = shlex.split(str(text))
    except ValueError as error:
        raise AnsibleLookupError("bindc: the term %r: %s" % (text, error)) from None
    loose: List[str] = []
    term = Term("")
    for word in words:
        name, equals, value = word.partition("=")
        if word in FLAGS:
            term.merge = FLAGS[word]
        elif word.startswith("-"):
            raise AnsibleLookupError("bindc: the term %r: the flag %s has no meaning here; there are -a and -h"
                                     % (text, word))
        elif equals:
            term.scope[name[2:] if name.startswith("::") else name] = value
        else:
            loose.append(word)
    if not loose or len(loose) > 2:
        raise AnsibleLookupError("bindc: the term %r: expected KEY [DEFAULT] [NAME=VALUE ...]" % (text,))
    term.key, term.default = loose[0], loose[1] if len(loose) == 2 else None
    return term
