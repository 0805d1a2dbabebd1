"""What ``-a`` and ``-h`` mean, with the options ``merge_behavior`` and ``deep_merge_options``, as in Hiera 3."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

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


def flat_array(value: Any) -> List[Any]:
    """Returns what ``-a`` makes of a value: one list of its elements, without nulls and duplicates."""
    found: Dict[Any, Any] = {}
    for item in _flat(value):
        if item is not None:
            found.setdefault(_identity(item), item)
    return list(found.values())


def _flat(value: Any) -> List[Any]:
    return [part for item in value for part in _flat(item)] if isinstance(value, list) else [value]


def _identity(value: Any) -> Any:
    """Returns what is equal for values that are equal in Ruby, where 1, 1.0 and true differ."""
    if isinstance(value, dict):
        return dict, frozenset((_identity(key), _identity(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return list, tuple(_identity(item) for item in value)
    return type(value), value


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
