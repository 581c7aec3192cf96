"""What VLMbench concludes of its agents (its section D), each as two sides that are compared, and which of them is above the other."""

from __future__ import annotations

import functools

from etude.suites.paper import ClaimSide, PaperClaim
from etude.suites.vlmbench.models import LANGUAGE, TRUE_POSITION, TRUE_ROTATION, VISION, WHOLE
from etude.suites.vlmbench.paper import CONDITIONS
from etude.suites.vlmbench.tables import METRICS, unit_scores


def _side(who: str, metric: str = "SC", lists: str = "seen", group: str = "") -> ClaimSide:
    condition = CONDITIONS[lists, METRICS[metric][0]]
    return ClaimSide((who,), "", condition, functools.partial(unit_scores, metric=metric, lists=lists, group=group))


CLAIMS = (
    PaperClaim("sees", "D.1", "who only hears does less than who sees too", _side(WHOLE), _side(LANGUAGE)),
    PaperClaim("hears", "D.1", "who only sees does less than who hears too", _side(WHOLE), _side(VISION)),
    PaperClaim(
        "sponge", "D.1", "there is one sponge: who only sees takes hold of it as well", _side(WHOLE, "G-G", group="wipe"),
        _side(VISION, "G-G", group="wipe"), "alike",
    ),
    PaperClaim("grasps", "D.1", "with the right grasp given, more is done", _side(WHOLE, "G-M"), _side(WHOLE)),
    PaperClaim("places", "D.3", "true positions help more than true rotations", _side(TRUE_POSITION), _side(TRUE_ROTATION)),
    PaperClaim("positions", "D.3", "true positions help", _side(TRUE_POSITION), _side(WHOLE)),
    PaperClaim("rotations", "D.3", "true rotations help", _side(TRUE_ROTATION), _side(WHOLE)),
)  # fmt: skip
