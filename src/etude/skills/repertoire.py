"""Everything the oracle can do: importing this registers the skill for every kind of leaf."""

from etude.skills import (
    balancing,  # noqa: F401
    contact,  # noqa: F401
    laying,  # noqa: F401
    moving,  # noqa: F401
    placing,  # noqa: F401
    sweeping,  # noqa: F401
    throwing,  # noqa: F401
    units,  # noqa: F401
)
