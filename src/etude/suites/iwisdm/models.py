"""Small deciders that are trained here, for the figures of iWISDM: one that sees and hears, copies of it that do not, and three that never
learned from something.

The paper's models are not trained but asked, so these are lines of our own. They learn the lists of the figures and, of the abilities,
those that these are put together from: others have longer instructions or more answers, and would take most of the time.
"""

from __future__ import annotations

from etude.suites.iwisdm.benchmarks import LISTS
from etude.suites.iwisdm.paper import ABILITIES, BY_PROPERTY
from etude.suites.paper import PaperModel

LESSONS = (
    *(name for lists in BY_PROPERTY.values() for name in lists if name),
    *(name for name in LISTS if name.startswith((*(f"{one}_" for one in ABILITIES), "match_to_sample"))),
)
COMMON = (
    f"data.source.tasks={','.join(LESSONS)}",
    "schedule.batch=256",
    "schedule.warmup=200",
    "schedule.ema=0.995",
    "schedule.steps=40000",
)
COPIES = {
    "decider": ("Learned", ()),
    "decider-blind": ("Learned, blind", ("model.sees=instruction",)),
    "decider-deaf": ("Learned, deaf", ("model.sees=frames",)),
    "decider-without-or": ("Learned without Or", ("data.source.without=Or",)),
    "decider-short-delays": ("Learned with 2 delay frames at most", ("data.source.delays=2",)),
    "decider-four-fifths": ("Learned without structures of fifth 3", ("data.source.fifth=3",)),
}
MODELS = tuple(PaperModel(name, who, "", "decider", (*COMMON, *own), added=True) for name, (who, own) in COPIES.items())
