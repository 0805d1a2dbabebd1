"""Keeps sensitive values out of everything that Ansible prints or stores.

Ansible evaluates lookups in the process of one task, which sends its results and messages to the main process through
one queue. After a lookup of a sensitive value, this module makes the task ``no_log``, and replaces the value in
everything that is put into that queue.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, List, Optional

from ansible.errors import AnsibleLookupError
from ansible.executor.task_executor import TaskExecutor
from ansible.utils.display import Display
from ansible.utils.fqcn import add_internal_fqcns

try:
    from ansible.executor.task_result import TaskResult
except ImportError:  # ansible-core has other internals
    TaskResult = None

MASK = "********"
SHORT = 4  # texts shorter than this occur by chance, and are only replaced as whole values
STORING = add_internal_fqcns(("set_fact", "add_host", "group_by"))  # actions whose arguments become variables
PRINTING = add_internal_fqcns(("debug",))

display = Display()
_secrets: List[str] = []  # of the task of this process


def reveal(key: str, value: Any) -> Any:
    """Returns a sensitive value to the task that is running, and hides it in the task's results and messages."""
    executor = _executor()
    if TaskResult is None:
        raise AnsibleLookupError("bindc: %s is sensitive, and this version of ansible-core cannot hide it; use one "
                                 "that the README of the collection lists" % key)
    if executor is None:
        raise AnsibleLookupError("bindc: %s is sensitive, and is only available to tasks; names of plays and tasks, "
                                 "and keywords that Ansible evaluates before a task starts, would be printed" % key)
    if executor._task.action in STORING:
        raise AnsibleLookupError("bindc: %s is sensitive, and %s would store it without protection; use the lookup "
                                 "where the value is needed, or in 'vars' of a task, block or play; give public "
                                 "elements of a hash with a secret keys of their own in the data"
                                 % (key, executor._task.action))
    if executor._task.action in PRINTING:
        display.warning("bindc: %s is sensitive, so debug does not print it" % key)
    executor._task.no_log = True
    executor._play_context.no_log = True
    _secrets.extend(text for text in _texts(value) if text and text not in _secrets)
    _guard(executor._final_q)
    return value


def _executor() -> Optional[Any]:
    """Returns the executor of the task that is running in this process."""
    frame = sys._getframe()
    while frame is not None:
        executor = frame.f_locals.get("self")
        if isinstance(executor, TaskExecutor):
            return executor
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _guard(queue: Any) -> None:
    """Makes the queue mask what is sent. The queue object belongs to this process, which ends with the task."""
    if getattr(queue, "_bindc_guarded", False):
        return
    queue._bindc_guarded = True
    for name in ("send_task_result", "send_callback", "send_display"):
        setattr(queue, name, _masking(getattr(queue, name)))


def _masking(send: Callable[..., None]) -> Callable[..., None]:
    def masked(*arguments: Any, **named: Any) -> None:
        send(*[mask(argument) for argument in arguments], **{name: mask(value) for name, value in named.items()})
    return masked


def mask(value: Any) -> Any:
    """Returns a copy of a value without the secrets. Marks results of tasks as no_log."""
    if isinstance(value, str):
        return _mask_text(value)
    if isinstance(value, bytes):
        return _mask_text(value.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    if isinstance(value, TaskResult):
        value._result, value._task_fields = _mask_result(value._result), mask(value._task_fields)
        return value
    if isinstance(value, dict):
        return _mask_result(value) if "_ansible_no_log" in value else {mask(k): mask(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)([mask(item) for item in value])
    if not isinstance(value, bool) and isinstance(value, (int, float)) and str(value) in _secrets:
        return MASK
    return value


def _mask_result(result: Any) -> Any:
    masked = {mask(name): mask(value) for name, value in result.items()}
    masked["_ansible_no_log"] = True
    return masked


def _mask_text(text: str) -> str:
    for secret in sorted(_secrets, key=len, reverse=True):
        if text == secret:
            return MASK
        if len(secret) >= SHORT and secret in text:
            text = type(text)(text.replace(secret, MASK)) if type(text) is not str else text.replace(secret, MASK)
    return text


def _texts(value: Any) -> List[str]:
    """Returns the texts in a value, with the lines of those that have several."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, bool) or value is None:
        return []
    text = str(value)
    return [text, *(line for line in text.splitlines() if len(line) >= SHORT)]
