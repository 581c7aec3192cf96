"""The models of CoGeLoT's tables (its Table B.1 of checkpoints), and some of our own, as recipes to be trained.

Four architectures of one size, on original instructions or on paraphrases; those that see objects know slots by number, as the paper's do,
and are trained on slots in the order of the environment or shuffled anew at every step ("Shuffled Objects?"). For patches there is no such
choice. All see the same number of distinct episodes, of a stream that is played once for each way of seeing.
"""

from __future__ import annotations

from etude.suites.paper import PaperModel
from etude.suites.vima.paper import DISTINCT, DRAWN, FIRST, FOURTH, RECOVERING, SECOND, SPAWN, STUDIED, THIRD

LINES = {
    "objects-xattn": "Cross-Attn + Obj-Centric",
    "patches-xattn": "Cross-Attn + Patches",
    "objects-concat": "Concatenate + Obj-Centric",
    "patches-concat": "Concatenate + Patches",
}
STEPS = ("schedule.steps=5000", "data.fresh=12")  # in which there is room for all distinct episodes
SHARES = (  # what is hard comes more often; the same for all
    "data.source.weights=novel_adj:2,twist:2.5,rearrange:1.5,rearrange_then_restore:1.5,pick_in_order_then_restore:1.3,"
    "visual_manipulation:0.7,rotate:0.5,novel_noun:0.7,same_shape:0.7,follow_order:0.7,sweep_without_exceeding:0.7"
)
EPISODES, FEW = f"data.most={DISTINCT[-1]}", f"data.most={STUDIED}"
REWORDED = "data.source.perturb=paraphrase"
NUMBERED = "model.slot_positions=true"
IN_ORDER, SHUFFLED = (NUMBERED, "data.shuffle=false"), (NUMBERED, "data.shuffle=true")
IDS = {
    "objects-xattn": {FIRST: "8lkml12g", FOURTH: "ftwoyjb1", SECOND: "2df3mwfn", THIRD: "0nsnkaer"},
    "patches-xattn": {FIRST: "ln4nrqhg", SECOND: "ah5btw8w"},
    "objects-concat": {FIRST: "bhuja4vo", FOURTH: "wn9jc518", SECOND: "fs5v61mz", THIRD: "xb3yttg9"},
    "patches-concat": {FIRST: "efxugme9", SECOND: "zby6xk27"},
}
TRAINING = {FIRST: IN_ORDER, FOURTH: SHUFFLED, SECOND: (*IN_ORDER, REWORDED), THIRD: (*SHUFFLED, REWORDED)}


def _settings(recipe: str, trained: str) -> tuple[str, ...]:
    own = TRAINING[trained]
    return (EPISODES, SHARES, *STEPS, *(one for one in own if recipe.startswith("objects") or one == REWORDED))


def _study(trained: str, *settings: str, stream: str = "") -> PaperModel:
    """A model of our own: it cannot tell slots by their number, unless it is said to."""
    return PaperModel(trained, LINES["objects-xattn"], trained, "objects-xattn", (SHARES, *STEPS, *settings), stream=stream)


MODELS = (
    *(
        PaperModel(
            f"{recipe}-{trained}", LINES[recipe], trained, recipe, _settings(recipe, trained), paper_id, stream=recipe.partition("-")[0]
        )
        for recipe, ids in IDS.items()
        for trained, paper_id in ids.items()
    ),
    *(_study(f"episodes-{count}", f"data.most={count}", stream="objects") for count in DISTINCT),
    _study(RECOVERING, FEW, "data.source.recovery.share=0.2", "data.source.recovery.ways=miss,turn,thing", stream=RECOVERING),
    _study(DRAWN, FEW, *IN_ORDER, REWORDED, stream="objects"),
    _study(SPAWN, FEW, *IN_ORDER, f"{REWORDED}?order=spawn", stream=SPAWN),
)
