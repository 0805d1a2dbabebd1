"""Variables of a host, for expressions in the table of facts."""

from __future__ import annotations

from typing import Any, Iterator, Mapping


class Templated(Mapping):
    """Variables whose templates are evaluated when they are read."""

    def __init__(self, templar: Any, variables: Mapping[str, Any]) -> None:
        self._templar = templar
        self._variables = variables

    def __getitem__(self, name: str) -> Any:
        return self._templar.template(self._variables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)
