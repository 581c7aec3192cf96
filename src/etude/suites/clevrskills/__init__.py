"""ClevrSkills: 33 tasks in three levels of composition."""

from etude.suites.clevrskills import (  # noqa: F401
    balancing,
    colours,
    moving,
    novelty,
    placing,
    rotating,
    sorting,
    stacking,
    throwing,
    touching,
)
