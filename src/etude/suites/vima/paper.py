"""The tables of CoGeLoT, with VIMA's own results as it quotes them (C.2): success by level, and by level and task, under every condition.

Its models differ in what they were trained on: original instructions, paraphrases, or paraphrases with the order of objects permuted
(:mod:`etude.suites.vima.models` declares ours). "No mistakes" is another reading of the same episodes: success with no more actions than
needed.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Mapping, Sequence

from etude.episodes import Episode
from etude.evaluation.matrix import mean_over_tasks, percentage, score
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.library import find
from etude.perturb.tokenizer import given_tokenizer
from etude.prompts.instruction import Words
from etude.suites.paper import PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, Scores, read_published
from etude.suites.suite import SUITES
from etude.suites.vima.suite import LEVELS, ORDER, SEEDS

TASKS = {f"T{k}": task for k, task in enumerate(ORDER, 1)}
# Tasks whose pictures words can stand for (CoGeLoT D.5).
DESCRIBED = tuple(TASKS[t] for t in ("T1", "T3", "T7", "T12", "T13", "T14", "T15", "T16", "T17"))
MISTAKES, NONE = "success", "no mistakes"  # readings
DIFFICULTIES = {"Distracting": "distracting", "Extreme": "extreme", "Extremely distracting": "extremely_distracting"}
UNREAD = "?"
PICTURE = "an illustration without numbers"
ILLEGIBLE = "where it says ?, the numbers of the table lie over each other in the copy that was read"


def _condition(key: str, perturb: str = "", difficulty: str = "", task: tuple[str, ...] = ()) -> PaperCondition:
    return PaperCondition(key, "vima", SEEDS, task=task, split=LEVELS, difficulty=difficulty, perturb=perturb)


ORIGINAL = _condition("original")
PARAPHRASES = _condition("paraphrases", "paraphrase")
DESCRIPTORS = _condition("descriptors", "descriptors", task=DESCRIBED)
TOKENS = _condition("gobbledygook-tokens", "gobbledygook_tokens")
WORDS = _condition("gobbledygook-words", "gobbledygook_words")
LANGUAGE = _condition("language-masked", "mask_language")
VISUAL = _condition("visual-masked", "mask_visual")
MASKED = _condition("masked", "mask_instruction")
PERMUTED = _condition("permuted", "permute_objects")
SPAWNED = PaperCondition("spawned", "vima", SEEDS, split=LEVELS, options=(("order", "spawn"),))
HARDER = {title: _condition(key, difficulty=key) for title, key in DIFFICULTIES.items()}
HARDER_MASKED = {title: _condition(f"{key}-masked", "mask_instruction", key) for title, key in DIFFICULTIES.items()}
HARDER_PERMUTED = {title: _condition(f"{key}-permuted", "permute_objects", key) for title, key in DIFFICULTIES.items()}

Part = tuple[str, PaperCondition, str, str]  # title, condition, reading, what was trained on


def _here(records: Sequence[Record], level: str, tasks: tuple[str, ...]) -> list[Record]:
    return [r for r in records if name_of(r).split == level and name_of(r).task in tasks]


def _average(records: Sequence[Record], level: str, tasks: tuple[str, ...], reading: str) -> float | None:
    return mean_over_tasks(_here(records, level, tasks), reading)


def _of_task(records: Sequence[Record], level: str, task: str, reading: str) -> float | None:
    return percentage(_here(records, level, (task,)), reading)


def scores(
    records: Sequence[Record],
    levels: tuple[str, ...] = LEVELS,
    tasks: tuple[str, ...] = ORDER,
    reading: str = MISTAKES,
    across: bool = False,
) -> Scores:
    """A reading of episodes of these levels and tasks. ``across``: levels are not told apart, so that one can be compared with another."""
    names = [(record, name_of(record)) for record in records]
    there = [(record, name) for record, name in names if name.split in levels and name.task in tasks]
    return {(name.task, "" if across else name.split, name.seed): score(record, reading) for record, name in there}


def _cells(level: str, part: Part, tasks: tuple[str, ...], each: bool) -> list[PaperCell | None]:
    """A level of a block: each task, where they are told apart, and the average over them."""
    _, condition, reading, trained = part
    found: list[PaperCell | None] = []
    for task in ORDER if each else ():
        there = task in tasks and level in SUITES["vima"].tasks[task].splits
        count = functools.partial(_of_task, level=level, task=task, reading=reading)
        read = functools.partial(scores, levels=(level,), tasks=(task,), reading=reading)
        found.append(PaperCell((condition,), count, trained, read) if there else None)
    average = functools.partial(_average, level=level, tasks=tasks, reading=reading)
    read = functools.partial(scores, levels=(level,), tasks=tasks, reading=reading)
    return [*found, PaperCell((condition,), average, trained, read)]


def _row(part: Part, tasks: tuple[str, ...] = ORDER, label: str = "") -> PaperRow:
    return PaperRow(tuple(cell for level in LEVELS for cell in _cells(level, part, tasks, each=False)), label)


def _by_level(
    number: str,
    title: str,
    parts: Sequence[Part],
    against: Sequence[int | None],
    tasks: tuple[str, ...] = ORDER,
    note: str = "",
) -> PaperTable:
    """Averages over tasks by level, as in the paper's body. ``against``: for each part the number of that it is compared with."""
    numbers, titles = PUBLISHED[number], [part[0] for part in parts]
    blocks = tuple(
        PaperBlock(part[0], (_row(part, tasks),), numbers[part[0]], "" if other is None else titles[other])
        for part, other in zip(parts, against, strict=True)
    )
    return PaperTable(number, title, LEVELS, blocks, "bars", note=note)


def _study(title: str, rows: Mapping[str, tuple[PaperCondition, str]], reading: str = MISTAKES) -> PaperBlock:
    lines = tuple(_row(("", condition, reading, trained), label=label) for label, (condition, trained) in rows.items())
    return PaperBlock(title, lines, models_only=True)


def _studies() -> tuple[PaperTable, ...]:
    """What the paper does not ask: how much data a model needs, what recovery data are good for, what the order of slots gives away."""
    episodes = _study("Distinct episodes of training", {f"{count:,}": (ORIGINAL, f"episodes-{count}") for count in DISTINCT})
    shares = {"none": (ORIGINAL, f"episodes-{STUDIED}"), "a fifth": (ORIGINAL, RECOVERING)}
    readings = {MISTAKES: "mistakes allowed", NONE: "no mistakes allowed"}
    recovery = tuple(_study(f"Share of recovery data; {words}", shares, reading) for reading, words in readings.items())
    order = _study(
        "Order of slots in training",
        {
            "the original's; played so": (SPAWNED, SPAWN),
            "the original's; played permuted": (PERMUTED, SPAWN),
            "drawn; played so": (ORIGINAL, DRAWN),
            "drawn; played permuted": (PERMUTED, DRAWN),
            "permuted, on original instructions; played so": (PERMUTED, FOURTH),
        },
    )
    return (
        PaperTable("Study 1", "Success against distinct episodes", LEVELS, (episodes,), "bars", note="not in the paper"),
        PaperTable("Study 2", "Recovery data", LEVELS, recovery, "bars", note="not in the paper"),
        PaperTable(
            "Study 3",
            "What the order of slots gives away",
            LEVELS,
            (order,),
            "bars",
            note="not in the paper. In the original's order the first thing that is no container is the target; ours is drawn",
        ),
    )


def _by_task(number: str, title: str, parts: Sequence[Part], tasks: tuple[str, ...] = ORDER, note: str = "") -> PaperTable:
    """Levels by tasks, as in the paper's appendix F."""
    numbers = PUBLISHED[number]
    blocks = tuple(
        PaperBlock(part[0], tuple(PaperRow(tuple(_cells(level, part, tasks, each=True)), level) for level in LEVELS), numbers[part[0]])
        for part in parts
    )
    unread = any(UNREAD in line for one in numbers.values() for lines in one.values() for line in lines)
    return PaperTable(number, title, (*TASKS, "Avg."), blocks, note=note or (ILLEGIBLE if unread else ""))


def _actions(number: str, title: str) -> PaperTable:
    """The fewest and the most actions of successful episodes of the training split, by task."""

    def count(records: Sequence[Record], task: str, pick: Callable[[list[int]], int]) -> float | None:
        steps = [r.steps for r in records if r.success and name_of(r).task == task]
        return float(pick(steps)) if steps else None

    condition = PaperCondition("training", "vima", SEEDS, split=("train",))
    rows = []
    for label, pick in (("Minimum", min), ("Maximum", max)):
        there = [task for task in ORDER if "train" in SUITES["vima"].tasks[task].splits]
        cells = [PaperCell((condition,), functools.partial(count, task=t, pick=pick)) if t in there else None for t in ORDER]
        rows.append(PaperRow(tuple(cells), label))
    [(block, published)] = PUBLISHED[number].items()
    note = "of those who demonstrate: --policy oracle. The original's data set has demonstrations with mistakes, ours has none"
    return PaperTable(number, title, tuple(TASKS), (PaperBlock(block, tuple(rows), published),), digits=0, note=note)


@functools.lru_cache(maxsize=1 << 16)
def _spoken(name: str) -> tuple[int, int]:
    """Words and tokens of an instruction; pictures are neither."""
    episode = find(name)
    assert isinstance(episode, Episode)
    texts = [part.words for part in episode.instruction.parts if isinstance(part, Words)]
    return len(" ".join(texts).split()), sum(len(given_tokenizer().encode(text)) for text in texts)


def _lengths(number: str, title: str) -> PaperTable:
    """Mean and deviation of the words and tokens of instructions, before and after they are garbled."""

    def count(records: Sequence[Record], which: int, how: Callable[[list[int]], float]) -> float | None:
        values = [_spoken(r.episode)[which] for r in records]
        return float(how(values)) if values else None

    rows = []
    for label, one in (("Original Instruction", ORIGINAL), ("Gobbledygook Tokens", TOKENS), ("Gobbledygook Words", WORDS)):
        ways = ((which, how) for which in (0, 1) for how in (statistics.fmean, statistics.pstdev))
        rows.append(PaperRow(tuple(PaperCell((one,), functools.partial(count, which=w, how=how)) for w, how in ways), label))
    [(block, published)] = PUBLISHED[number].items()
    note = "of the words between pictures, whoever plays; tokens are of etude's own tokenizer, or of --pieces DIR; the paper's are T5's"
    return PaperTable(number, title, ("# Words", "±", "# Tokens", "± "), (PaperBlock(block, tuple(rows), published),), note=note)


PUBLISHED = read_published(__file__)
# What models were trained on; the third on paraphrases, the fourth on originals; those of studies on originals, or in the original's order.
FIRST, SECOND, THIRD, FOURTH = "original", "paraphrases", "permuted", "original-permuted"
DISTINCT, RECOVERING, SPAWN, DRAWN = (5_000, 20_000, 60_000), "recovery", "spawned", "drawn"
STUDIED = DISTINCT[1]  # distinct episodes of those that are compared in another way

TRAINED = (
    ("Trained on original; evaluated on original", ORIGINAL, MISTAKES, FIRST),
    ("Trained on original; evaluated on paraphrases", PARAPHRASES, MISTAKES, FIRST),
    ("Trained on paraphrases; evaluated on original", ORIGINAL, MISTAKES, SECOND),
    ("Trained on paraphrases; evaluated on paraphrases", PARAPHRASES, MISTAKES, SECOND),
)
REFERENTS = (
    ("With visual referents", ORIGINAL, MISTAKES, SECOND),
    ("Visual referents replaced with descriptors", DESCRIPTORS, MISTAKES, SECOND),
)
GOBBLEDYGOOK = (("Gobbledygook tokens", TOKENS, MISTAKES, SECOND), ("Gobbledygook words", WORDS, MISTAKES, SECOND))
ONE_MASKED = (("Language tokens masked", LANGUAGE, MISTAKES, SECOND), ("Visual referents masked", VISUAL, MISTAKES, SECOND))
ALL_MASKED = (
    ("Instructions masked; mistakes allowed", MASKED, MISTAKES, SECOND),
    ("Instructions masked; no mistakes allowed", MASKED, NONE, SECOND),
)
HARD = tuple((title, one, NONE, SECOND) for title, one in HARDER.items())
HARD_MASKED = tuple((f"{title}; instructions masked", one, NONE, SECOND) for title, one in HARDER_MASKED.items())
SHUFFLED = (
    ("Object tokens permuted; mistakes allowed", PERMUTED, MISTAKES, SECOND),
    ("Object tokens permuted; no mistakes allowed", PERMUTED, NONE, SECOND),
)
SHUFFLED_HARD = {
    reading: tuple((f"Object tokens permuted; {title.lower()}", one, reading, SECOND) for title, one in HARDER_PERMUTED.items())
    for reading in (MISTAKES, NONE)
}
RESHUFFLED = {
    reading: tuple(
        (f"Trained and evaluated with permutation; {title.lower()}; {words}", one, reading, THIRD)
        for title, one in {"Default": PERMUTED, **HARDER_PERMUTED}.items()
    )
    for reading, words in ((MISTAKES, "mistakes allowed"), (NONE, "no mistakes allowed"))
}


def _lettered(parts: Sequence[Part]) -> list[Part]:
    return [(f"({letter}) {part[0]}", *part[1:]) for letter, part in zip("abcdef", parts, strict=False)]


def _body() -> tuple[PaperTable, ...]:
    return (
        PaperTable(
            "Figure 1", "The evaluation framework", command="etude list --json", missing="an illustration; perturbations are listed"
        ),
        _by_level("Table 1", "Original instructions and paraphrases", _lettered(TRAINED), (None, 0, 0, 2)),
        _by_level(
            "Table 2",
            "Visual referents replaced with descriptors",
            REFERENTS,
            (None, 0),
            DESCRIBED,
            note="averages are over the nine tasks of D.5",
        ),
        PaperTable(
            "Figure 2",
            "Gobbledygook words and tokens",
            missing="an illustration of two instructions",
            command="etude show vima/visual_manipulation@L1#0+gobbledygook_words --out scene.html",
        ),
        _by_level("Table 3", "Gobbledygook", [("Without gobbledygook", ORIGINAL, MISTAKES, SECOND), *GOBBLEDYGOOK], (None, 0, 0)),
        _by_level("Table 4", "One modality masked", [("No tokens masked", ORIGINAL, MISTAKES, SECOND), *ONE_MASKED], (None, 0, 0)),
        _by_level(
            "Table 5",
            "With and without mistakes",
            [("(a) Mistakes allowed", ORIGINAL, MISTAKES, SECOND), ("(b) No mistakes allowed", ORIGINAL, NONE, SECOND)],
            (None, 0),
        ),
        _by_level("Table 6", "Instructions masked", ALL_MASKED, (None, 0)),
        _by_level("Table 7", "Difficulties, without mistakes", _lettered([*HARD, *HARD_MASKED]), (None, None, None, 0, 1, 2)),
        PaperTable(
            "Figure 3",
            "Difficulties",
            missing="four pictures of two tasks; ours are shown one by one",
            command="etude show 'vima/visual_manipulation@L1#0?difficulty=distracting' --out scene.png",
        ),
        PaperTable(
            "Figure 4",
            "Objects in another order",
            missing=f"{PICTURE}: the orders of an episode, default and permuted, are printed",
            command="python examples/order_objects.py 'vima/rearrange@train#0?difficulty=distracting'",
        ),
        _by_level(
            "Table 8",
            "Object tokens permuted",
            [
                *SHUFFLED,
                *SHUFFLED_HARD[NONE][:2],
                ("Trained and evaluated with permutation; mistakes allowed", PERMUTED, MISTAKES, THIRD),
                ("Trained and evaluated with permutation; no mistakes allowed", PERMUTED, NONE, THIRD),
            ],
            (None, 0, 1, 1, 0, 1),
            note="for policies that see objects. In difficulties no mistakes are allowed, as in table 7: F.12, where they are, differs",
        ),
    )


def _appendices_a_to_e() -> tuple[PaperTable, ...]:
    return (
        PaperTable(
            "Table A.1", "Hyperparameters", missing="a table about the training of the paper's models, which asks nothing of a policy"
        ),
        _actions("Table B.1", "Least and most actions of demonstrations"),
        PaperTable(
            "Table B.1 (checkpoints)",
            "Names of checkpoints",
            command="etude paper vima --models DIR",
            missing="ours are known by their digests",
        ),
        _by_task(
            "Table C.2",
            "VIMA's results, reported and reproduced",
            [
                ("Reported by Jiang et al. (2023)", ORIGINAL, MISTAKES, FIRST),
                ("From the provided checkpoint", ORIGINAL, MISTAKES, FIRST),
            ],
            note="70.4 is printed as the average of L3; that of its numbers is 78.7",
        ),
        _lengths("Table D.1", "Lengths of instructions"),
        PaperTable(
            "Figure D.1",
            "Episodes under gobbledygook words",
            missing="films of four episodes of the paper's models",
            command="etude rollout vima/visual_manipulation@L1#0+gobbledygook_words --policy P --video film.webp",
        ),
        PaperTable(
            "Figure D.2",
            "Instructions of T1 and T4",
            missing="an illustration of two instructions",
            command="etude show vima/rearrange@L1#0 --out scene.html",
        ),
        PaperTable("Figure E.1", "Containers", missing=f"{PICTURE}: shapes", command="etude show catalog --out catalog.html"),
        PaperTable("Table E.1", "Tasks and difficulties", missing="a table in words", command="etude list vima"),
        PaperTable(
            "Table E.2",
            "Paraphrases",
            missing="examples in words; ours are shown one by one",
            command="etude show vima/rearrange@L1#0+paraphrase --out scene.html",
        ),
    )


def _appendix_f() -> tuple[PaperTable, ...]:
    return (
        PaperTable("Table F.1", "Which table is by task in which", missing="it only points to tables"),
        _by_task("Table F.2", "Trained on original instructions, by task", TRAINED[:2]),
        _by_task("Table F.3", "Trained on paraphrases, by task", TRAINED[2:]),
        _by_task("Table F.4", "Descriptors, by task", REFERENTS, DESCRIBED),
        _by_task("Table F.5", "Gobbledygook, by task", GOBBLEDYGOOK),
        _by_task("Table F.6", "One modality masked, by task", ONE_MASKED),
        _by_task("Table F.7", "No mistakes allowed, by task", [("No mistakes allowed", ORIGINAL, NONE, SECOND)]),
        _by_task("Table F.8", "Instructions masked, by task", ALL_MASKED),
        _by_task("Table F.9", "Difficulties without mistakes, by task", HARD),
        _by_task("Table F.10", "Difficulties without instructions and mistakes, by task", HARD_MASKED),
        _by_task("Table F.11", "Object tokens permuted, by task", SHUFFLED),
        _by_task("Table F.12", "Object tokens permuted in difficulties, by task", SHUFFLED_HARD[MISTAKES]),
        _by_task("Table F.13", "Trained with permutation, mistakes allowed, by task", RESHUFFLED[MISTAKES]),
        _by_task("Table F.14", "Trained with permutation, no mistakes allowed, by task", RESHUFFLED[NONE]),
    )


def tables() -> tuple[PaperTable, ...]:
    """All tables and figures, in the order of the paper."""
    return (*_body(), *_appendices_a_to_e(), *_appendix_f(), *_studies())
