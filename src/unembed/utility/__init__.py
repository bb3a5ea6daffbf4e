"""What vectors are good for: tasks that are scored like games, so that the price of a defense can be shown."""

from __future__ import annotations

from unembed.registry import Registry
from unembed.utility.base import UtilityTask, check_task_class

UTILITY: Registry[type[UtilityTask]] = Registry(
    "utility task",
    {
        "retrieval": "unembed.utility.retrieval:Retrieval",
        "column": "unembed.utility.column:Column",
        "news-category": "unembed.utility.news_category:NewsCategory",
        "splice-site": "unembed.utility.case_studies:SpliceSite",
        "department": "unembed.utility.case_studies:Department",
        "sentence-tasks": "unembed.utility.sentence_tasks:SentenceTasks",
    },
    group="unembed.utility",
    check=check_task_class,
)
