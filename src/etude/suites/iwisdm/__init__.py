"""iWISDM: decisions about what was seen when, in limitless variety. No robot: frames are shown, and questions answered."""

from __future__ import annotations

from collections.abc import Callable

from etude.decisions.trial import Trial
from etude.suites.iwisdm.benchmarks import LISTS, VARIED, delays, trial
from etude.suites.iwisdm.spaces import OPTIONS
from etude.suites.iwisdm.summaries import summary
from etude.suites.suite import Draw, Suite, later

iwisdm = Suite(
    "iwisdm",
    "iWISDM",
    paper="iWISDM: Assessing Instruction Following in Multimodal Models at Scale (2024)",
    splits={"val": "test", "train": "training", "test": "test"},  # the paper's benchmarks show views of the split it calls val
    horizon=40,  # frames: more than any trial has
    control="answer",
    plans={"delays": delays},
    tables=later("etude.suites.iwisdm.tables", "TABLES"),
    paper_tables=later("etude.suites.iwisdm.paper", "tables"),
    paper_models=later("etude.suites.iwisdm.models", "MODELS"),
    paper_claims=later("etude.suites.iwisdm.conclusions", "CLAIMS"),
    benches={"decisions": later("etude.suites.iwisdm.bench", "bench_decisions")},
)


def _sampler(asked: str) -> Callable[[Draw], Trial]:
    def sampled(draw: Draw) -> Trial:
        options = dict(draw.name.options)
        return trial(draw.name.task, draw.split, draw.name.seed, None, options.pop("stimuli", "procedural"), **options)

    sampled.__doc__ = asked
    return sampled


for _name in LISTS:
    iwisdm.task(_name, options=(*VARIED, *(OPTIONS if _name == "auto" else ())))(_sampler(summary(_name)))
