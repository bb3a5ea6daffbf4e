"""What vectors are good for: tasks that are scored like games, so that the price of a defense can be shown."""

from __future__ import annotations

from unembed.registry import Registry
from unembed.utility.base import UtilityTask, check_task_class

UTILITY: Registry[type[UtilityTask]] = Registry(
    "utility task",
    {
        "retrieval": "unembed.utility.retrieval:Retrieval",
        "column": "unembed.utility.column:Column",
    },
    group="unembed.utility",
    check=check_task_class,
)
