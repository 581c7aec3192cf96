"""What CoGeLoT concludes (its sections 4 and 5), each as two sides that are compared, and which of them is above the other."""

from __future__ import annotations

import functools
from typing import Literal

from etude.suites.paper import ClaimSide, PaperClaim, PaperCondition
from etude.suites.vima.models import LINES
from etude.suites.vima.paper import (
    DESCRIBED,
    DESCRIPTORS,
    DRAWN,
    FIRST,
    HARDER,
    HARDER_MASKED,
    HARDER_PERMUTED,
    LANGUAGE,
    MASKED,
    MISTAKES,
    NONE,
    ORIGINAL,
    PARAPHRASES,
    PERMUTED,
    RECOVERING,
    SECOND,
    SPAWN,
    SPAWNED,
    STUDIED,
    THIRD,
    TOKENS,
    VISUAL,
    WORDS,
    scores,
)
from etude.suites.vima.suite import LEVELS, ORDER

CHANCE = "chance"  # a reading
CROSS_OBJECTS, CROSS_PATCHES, CONCAT_OBJECTS, CONCAT_PATCHES = LINES.values()
ALL = tuple(LINES.values())
OBJECTS, PATCHES = (CROSS_OBJECTS, CONCAT_OBJECTS), (CROSS_PATCHES, CONCAT_PATCHES)
CROSS, CONCAT = (CROSS_OBJECTS, CROSS_PATCHES), (CONCAT_OBJECTS, CONCAT_PATCHES)
DISTRACTING, EXTREME, BOTH = HARDER


def _side(
    who: tuple[str, ...],
    condition: PaperCondition = ORIGINAL,
    reading: str = MISTAKES,
    trained: str = SECOND,
    levels: tuple[str, ...] = LEVELS,
    tasks: tuple[str, ...] = ORDER,
    across: bool = False,
    less: ClaimSide | None = None,
) -> ClaimSide:
    return ClaimSide(who, trained, condition, functools.partial(scores, levels=levels, tasks=tasks, reading=reading, across=across), less)


def _cost(
    who: tuple[str, ...], plain: PaperCondition, changed: PaperCondition, reading: str = MISTAKES, trained: str = SECOND
) -> ClaimSide:
    return _side(who, plain, reading, trained, less=_side(who, changed, reading, trained))


def _levels(who: tuple[str, ...], first: str, second: str, trained: str) -> tuple[ClaimSide, ClaimSide]:
    higher, lower = (_side(who, trained=trained, levels=(level,), across=True) for level in (first, second))
    return higher, lower


def _claim(
    name: str, section: str, says: str, sides: tuple[ClaimSide, ClaimSide], direction: Literal["above", "alike"] = "above"
) -> PaperClaim:
    return PaperClaim(name, section, says, *sides, direction)


def _trained(trained: str, condition: PaperCondition = ORIGINAL) -> ClaimSide:
    return _side((CROSS_OBJECTS,), condition, trained=trained)


def _expected(
    name: str, study: str, says: str, first: ClaimSide, second: ClaimSide, direction: Literal["above", "alike"] = "above"
) -> PaperClaim:
    return PaperClaim(name, study, says, first, second, direction, own=True)


def _above_chance(
    name: str, section: str, says: str, condition: PaperCondition, who: tuple[str, ...] = ALL, reading: str = MISTAKES
) -> PaperClaim:
    return _claim(name, section, says, (_side(who, condition, reading), _side(who, condition, CHANCE)))


CLAIMS = (
    # Substitutivity
    _claim("objects over patches", "4.1", "Objects do better than patches", (_side(OBJECTS, trained=FIRST), _side(PATCHES, trained=FIRST))),
    _claim("L1 as L2", "4.1", "New combinations (L2) are as easy as new places (L1)", _levels(ALL, "L1", "L2", FIRST), "alike"),
    _claim("L3 below L2", "4.1", "New objects (L3) are harder than new combinations (L2)", _levels(ALL, "L2", "L3", FIRST)),
    _claim("L4 below L3", "4.1", "New tasks (L4) are harder than new objects (L3)", _levels(ALL, "L3", "L4", FIRST)),
    _claim(
        "paraphrases cost",
        "4.1",
        "Who was trained on original instructions loses by paraphrases",
        (_side(ALL, trained=FIRST), _side(ALL, PARAPHRASES, trained=FIRST)),
    ),
    _claim(
        "concatenation loses more by paraphrases",
        "4.1",
        "Concatenation loses more by paraphrases than cross-attention",
        (_cost(CONCAT, ORIGINAL, PARAPHRASES, trained=FIRST), _cost(CROSS, ORIGINAL, PARAPHRASES, trained=FIRST)),
    ),
    _claim(
        "training on paraphrases helps",
        "4.1",
        "With cross-attention or objects, training on paraphrases helps with original instructions",
        (
            _side((CROSS_OBJECTS, CROSS_PATCHES, CONCAT_OBJECTS)),
            _side((CROSS_OBJECTS, CROSS_PATCHES, CONCAT_OBJECTS), trained=FIRST),
        ),
    ),
    _claim(
        "paraphrases cost the trained, too",
        "4.1",
        "Who was trained on paraphrases does worse on paraphrases than on original instructions",
        (_side(ALL), _side(ALL, PARAPHRASES)),
    ),
    _claim(
        "paraphrases suit concatenated patches",
        "4.1",
        "Concatenated patches do best when trained and evaluated on paraphrases",
        (_side((CONCAT_PATCHES,), PARAPHRASES), _side((CONCAT_PATCHES,), trained=FIRST)),
    ),
    _claim(
        "objects as descriptors",
        "4.1",
        "Who sees objects does as well when words stand for the pictures of prompts",
        (_side(OBJECTS, tasks=DESCRIBED), _side(OBJECTS, DESCRIPTORS, tasks=DESCRIBED)),
        "alike",
    ),
    _claim(
        "cross-attention with descriptors",
        "4.1",
        "With descriptors and objects, cross-attention does better than concatenation",
        (_side((CROSS_OBJECTS,), DESCRIPTORS), _side((CONCAT_OBJECTS,), DESCRIPTORS)),
    ),
    _claim(
        "patches lose by descriptors",
        "4.1",
        "Who sees patches loses by descriptors at L1 to L3",
        (_side(PATCHES, levels=LEVELS[:3], tasks=DESCRIBED), _side(PATCHES, DESCRIPTORS, levels=LEVELS[:3], tasks=DESCRIBED)),
    ),
    # Syntax
    _claim("gobbledygook tokens cost", "4.2", "Random tokens cost every architecture", (_side(ALL), _side(ALL, TOKENS))),
    _claim("gobbledygook words cost", "4.2", "Random letters cost every architecture", (_side(ALL), _side(ALL, WORDS))),
    _above_chance("above chance with random tokens", "4.2", "With random tokens, success is above chance", TOKENS),
    _above_chance("above chance with random letters", "4.2", "With random letters, success is above chance", WORDS),
    _claim(
        "objects tell the task",
        "4.2",
        "With random tokens, objects do better than patches",
        (_side(OBJECTS, TOKENS), _side(PATCHES, TOKENS)),
    ),
    _claim(
        "letters worse than tokens",
        "4.2",
        "Who sees objects does worse with random letters than with random tokens",
        (_side(OBJECTS, TOKENS), _side(OBJECTS, WORDS)),
    ),
    _claim(
        "cross-attention with random letters",
        "4.2",
        "With random letters, cross-attention does better than concatenation at L1 and L2",
        (_side(CROSS, WORDS, levels=LEVELS[:2]), _side(CONCAT, WORDS, levels=LEVELS[:2])),
    ),
    _above_chance("above chance without words", "4.2", "With language masked, success is above chance", LANGUAGE),
    _above_chance("above chance without pictures", "4.2", "With the pictures of prompts masked, success is above chance", VISUAL),
    _claim(
        "words matter more than pictures",
        "4.2",
        "Masked language costs more than masked pictures of prompts",
        (_side(ALL, VISUAL), _side(ALL, LANGUAGE)),
    ),
    _claim(
        "no words worse than nonsense", "4.2", "Masked language costs more than random tokens", (_side(ALL, TOKENS), _side(ALL, LANGUAGE))
    ),
    # Heuristics
    _claim(
        "objects over patches without mistakes",
        "4.3",
        "Without mistakes, too, objects do better than patches",
        (_side(OBJECTS, reading=NONE), _side(PATCHES, reading=NONE)),
    ),
    _claim("mistakes are mended", "4.3", "Some success comes after mistakes", (_side(ALL), _side(ALL, reading=NONE))),
    _above_chance("above chance without instructions", "4.3", "Without any instruction, success is above chance", MASKED),
    _claim(
        "concatenation needs instructions",
        "4.3",
        "Without instructions, concatenation does worse than cross-attention, both with objects",
        (_side((CROSS_OBJECTS,), MASKED), _side((CONCAT_OBJECTS,), MASKED)),
    ),
    _claim(
        "trial and error without instructions",
        "4.3",
        "Without instructions, too, some success comes after mistakes",
        (_side(ALL, MASKED), _side(ALL, MASKED, NONE)),
    ),
    # Complexity
    *(
        _claim(
            f"objects over patches, {title.lower()}",
            "4.4",
            f"{title}: objects do better than patches",
            (_side(OBJECTS, HARDER[title], NONE), _side(PATCHES, HARDER[title], NONE)),
        )
        for title in HARDER
    ),
    _claim(
        "patches lose more by affordances",
        "4.4",
        "Extreme: patches lose more than objects",
        (_cost(PATCHES, ORIGINAL, HARDER[EXTREME], NONE), _cost(OBJECTS, ORIGINAL, HARDER[EXTREME], NONE)),
    ),
    *(
        _claim(
            f"instructions matter, {title.lower()}",
            "4.4",
            f"{title}: masked instructions cost all but cross-attention with objects",
            (_side((CROSS_PATCHES, *CONCAT), HARDER[title], NONE), _side((CROSS_PATCHES, *CONCAT), HARDER_MASKED[title], NONE)),
        )
        for title in HARDER
    ),
    *(
        _above_chance(
            f"above chance without instructions, {title.lower()}",
            "4.4",
            f"{title}: without instructions, success is above chance",
            HARDER_MASKED[title],
            reading=NONE,
        )
        for title in HARDER
    ),
    *(
        _claim(
            f"cross-attention needs no instruction, {title.lower()}",
            "4.4",
            f"{title}: without instructions, cross-attention with objects does better than the others",
            (_side((CROSS_OBJECTS,) * 3, HARDER_MASKED[title], NONE), _side((CROSS_PATCHES, *CONCAT), HARDER_MASKED[title], NONE)),
        )
        for title in HARDER
    ),
    # Order
    _claim("permutation costs", "4.5", "Permuted slots cost who sees objects", (_side(OBJECTS), _side(OBJECTS, PERMUTED))),
    _claim(
        "trial and error with permutation",
        "4.5",
        "With permuted slots, some success comes after mistakes",
        (_side(OBJECTS, PERMUTED), _side(OBJECTS, PERMUTED, NONE)),
    ),
    *(
        _claim(
            f"permutation and {title.lower()}",
            "4.5",
            f"With permuted slots, {title.lower()} episodes are harder still",
            (_side(OBJECTS, PERMUTED, NONE), _side(OBJECTS, HARDER_PERMUTED[title], NONE)),
        )
        for title in (DISTRACTING, EXTREME)
    ),
    _claim(
        "training with permutation helps",
        "4.5",
        "With permuted slots, who was trained on them does better",
        (_side(OBJECTS, PERMUTED, trained=THIRD), _side(OBJECTS, PERMUTED)),
    ),
    _claim(
        "training with permutation is not enough",
        "4.5",
        "Who was trained on permuted slots does not reach who never met them",
        (_side(OBJECTS), _side(OBJECTS, PERMUTED, trained=THIRD)),
    ),
    # Studies of our own
    _expected(
        "more episodes",
        "1",
        "20,000 distinct episodes of training do better than 5,000",
        _trained(f"episodes-{STUDIED}"),
        _trained("episodes-5000"),
    ),
    _expected(
        "many more episodes",
        "1",
        "60,000 distinct episodes do better than 20,000",
        _trained("episodes-60000"),
        _trained(f"episodes-{STUDIED}"),
    ),
    _expected("recovery data", "2", "A fifth of recovery data helps", _trained(RECOVERING), _trained(f"episodes-{STUDIED}")),
    _expected(
        "the original's order",
        "3",
        "The original's order of slots gives something away: who learned and plays in it does better than in an order that is drawn",
        _trained(SPAWN, SPAWNED),
        _trained(DRAWN),
    ),
    _expected(
        "the original's order, permuted",
        "3",
        "Who learned slots in the original's order loses by permuted ones, as the paper's models do",
        _trained(SPAWN, SPAWNED),
        _trained(SPAWN, PERMUTED),
    ),
    _expected(
        "a drawn order, permuted",
        "3",
        "Who learned slots in an order that is drawn does as well with permuted ones",
        _trained(DRAWN),
        _trained(DRAWN, PERMUTED),
        "alike",
    ),
)
