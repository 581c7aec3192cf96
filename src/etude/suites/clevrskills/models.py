"""The models of ClevrSkills' tables as recipes to be trained: four architectures of one size, on one stream for each level.

Each learns L0 first; what it has learned there is fine-tuned on L1, and that on L2 (ClevrSkills 5.2). Table 5 is about the same models told
in text alone. One more of our own plays itself while it learns.
"""

from __future__ import annotations

from etude.suites.clevrskills.paper import DAGGER, IN_WORDS, LEVELS
from etude.suites.paper import PaperModel

LINES = {"stream": "StreamRoboLM (Opt)", "window": "JAT", "readout": "Octo", "frame": "RoboFlamingo"}
EPISODES = {"L0": 12_000, "L1": 5000, "L2": 4000}  # some 16 GB of frames on the device
FIRST, FRESH = 1000, 4  # episodes that are there when training begins, and that come with every step
STEPS = {"L0": 5000, "L1": 3000, "L2": 2000}
TUNED = ("schedule.rate=0.0002", "schedule.warmup=200")  # what was learned shall not be forgotten at once
TEXT, PLAYING = "data.source.told=text", "data.dagger.share=0.5"


def _model(form: str, level: str, way: str, begins: str, *settings: str) -> PaperModel:
    """``way``: what tells its training apart from the plain one, in a word of the tables."""
    data = (
        f"data.source.levels={level}", f"data.start={FIRST}", f"data.fresh={FRESH}", f"data.most={EPISODES[level]}",
        f"schedule.steps={STEPS[level]}",
    )  # fmt: skip
    return PaperModel(
        f"{form}-{level}{way and '-' + way.split()[-1].lower()}", LINES[form], f"{level} {way}".strip(), form,
        (*data, *(TUNED if begins else ()), *settings), begins=begins, stream=level,
    )  # fmt: skip


def _protocol(form: str, way: str, *settings: str) -> list[PaperModel]:
    """A level after the other."""
    found: list[PaperModel] = []
    for level in LEVELS:
        found.append(_model(form, level, way, found[-1].name if found else "", *settings))
    return found


MODELS = (
    *(model for form in LINES for model in _protocol(form, "")),
    *(model for form in LINES for model in _protocol(form, IN_WORDS, TEXT)[:2]),  # Table 5 has nobody who was tuned on L2
    _model("stream", "L0", DAGGER, "", PLAYING),
    _model("stream", "L1", DAGGER, "stream-L0", PLAYING),
)
