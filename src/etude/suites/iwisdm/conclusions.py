"""What iWISDM concludes of those it asked (section 3), each as two sides that are compared; and what copies of the small decider that is
trained here are expected to lack."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from etude.evaluation.decisions import answers_of, sliced
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.iwisdm.models import COPIES
from etude.suites.iwisdm.paper import DELAYS, listed
from etude.suites.paper import ClaimSide, PaperClaim, Scores

WHOLE, BLIND, DEAF, *_ = (who for who, _ in COPIES.values())
WITHOUT_OR, SHORT = COPIES["decider-without-or"][0], COPIES["decider-short-delays"][0]


def _right(records: Sequence[Record], delays: str = "") -> Scores:
    """Shares of right answers by trial; with ``delays``, of the trials with so many empty frames."""
    found: Scores = {}
    for record in records:
        name, answers = name_of(record), answers_of([record])
        if answers and (not delays or delays in sliced(answers, "delays")):
            found[name.task, name.split, name.seed] = math.fsum(one.right for one in answers) / len(answers)
    return found


def _side(name: str, who: str = WHOLE) -> ClaimSide:
    return ClaimSide((who,), "", listed(name), _right)


def _after(delays: str, who: str = WHOLE) -> ClaimSide:
    return ClaimSide((who,), "", DELAYS, functools.partial(_right, delays=delays))


CLAIMS = (
    PaperClaim("complexity", "3", "the more complex the level, the fewer answers are right", _side("low"), _side("high")),
    PaperClaim(
        "features", "3", "what is missing is not the sight of a category: in single frames it is told better than in the level low",
        _side("single_frame_category"), _side("low_category"),
    ),
    PaperClaim("places", "3.1", "where something is, is harder than what it is", _side("low_category"), _side("low_location")),
    PaperClaim("delays", "3.1", "empty frames have little effect", _after("0"), _after("8"), "alike"),
    PaperClaim("sees", "Figure 2", "who is blind is right less often", _side("single_frame_category"),
               _side("single_frame_category", BLIND), own=True),
    PaperClaim("hears", "Figure 2", "who is deaf is right less often", _side("single_frame_category"),
               _side("single_frame_category", DEAF), own=True),
    PaperClaim("or", "Figure 2", "who has never heard Or does less in the level low", _side("low"), _side("low", WITHOUT_OR), own=True),
    PaperClaim("long delays", "Figure 11", "who has never waited longer than two frames does less after eight", _after("8"),
               _after("8", SHORT), own=True),
    PaperClaim("holds", "Study 2", "what was seen earlier is compared as well as what is seen now", _side("perception_category_compare"),
               _side("memory_category_compare"), "alike", own=True),
    PaperClaim("picks", "Study 2", "two of several things are compared as well as two that come alone",
               _side("perception_location_compare"), _side("temporal_attention_location_compare"), "alike", own=True),
    PaperClaim("joins", "Study 2", "two comparisons that are joined are harder than one among several things",
               _side("temporal_attention_location_compare"), _side("low_location"), own=True),
)  # fmt: skip
