"""Small deciders that are trained here, for the figures of iWISDM: one that sees and hears, copies of it that do not, and three that never
learned from something.

The paper's models are not trained but asked, so these are lines of our own.
"""

from __future__ import annotations

from etude.suites.paper import PaperModel

LENGTH = ("schedule.steps=40000",)
COPIES = {
    "decider": ("Learned", ()),
    "decider-blind": ("Learned, blind", ("model.sees=instruction",)),
    "decider-deaf": ("Learned, deaf", ("model.sees=frames",)),
    "decider-without-or": ("Learned without Or", ("data.source.without=Or",)),
    "decider-short-delays": ("Learned with 2 delay frames at most", ("data.source.delays=2",)),
    "decider-four-fifths": ("Learned without structures of fifth 3", ("data.source.fifth=3",)),
}
MODELS = tuple(PaperModel(name, who, "", "decider", (*LENGTH, *own), added=True) for name, (who, own) in COPIES.items())
