"""VIMA-Bench with CoGeLoT's difficulties: 17 tasks, told in words and pictures, at four levels of generalisation."""

from etude.suites.vima import (  # noqa: F401
    colours,
    imitation,
    manipulation,
    memory,
    novelty,
    rearranging,
    sameness,
    sweeping,
    twisting,
    understanding,
)
