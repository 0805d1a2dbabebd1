"""What ``-h`` means: the options ``merge_behavior`` and ``deep_merge_options``, as Hiera 3 has them."""

from __future__ import annotations

from typing import Any, Dict, Mapping

import yaml

from ansible.errors import AnsibleLookupError

BEHAVIORS: Dict[str, Dict[str, Any]] = {
    "native": {"strategy": "hash"},
    "deep": {"strategy": "unconstrained_deep", "preserve_unmergeables": True},
    "deeper": {"strategy": "unconstrained_deep"},
}
OPTIONS = ("extend_existing_arrays", "knockout_prefix", "merge_debug", "merge_hash_arrays", "overwrite_arrays",
           "preserve_unmergeables", "sort_merged_arrays", "unpack_arrays")


def hash_merge(behavior: str, options: Any) -> Dict[str, Any]:
    """Returns the merge strategy of ``-h``. The options are a hash or its text in YAML."""
    given = _parsed(options)
    if given and behavior == "native":
        raise _wrong("it has no effect while 'merge_behavior' is native; set that to deep or deeper")
    for name in given:
        if name not in OPTIONS:
            raise _wrong("unknown option '%s'; expected %s" % (name, ", ".join(OPTIONS)))
    return {**BEHAVIORS[behavior], **given}


def _parsed(options: Any) -> Mapping[str, Any]:
    parsed = options
    if isinstance(options, str):
        try:
            parsed = yaml.safe_load(options)
        except yaml.YAMLError:
            pass  # parsed is still a text
    if parsed is None:
        return {}
    if not isinstance(parsed, Mapping):
        raise _wrong("expected a hash such as {knockout_prefix: '--'}, found %r" % (options,))
    return parsed


def _wrong(what: str) -> AnsibleLookupError:
    return AnsibleLookupError("bindc: the option 'deep_merge_options': " + what)
