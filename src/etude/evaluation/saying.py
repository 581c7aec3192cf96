"""The parts of a goal in words that a reader understands, also where they have none of their own; and what several have in common."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from etude.catalog.textures import texture_names

COMPOSED = ("Composed", "Achieved")
"""Kinds whose first member is the end they are judged by, and the others the steps that lead there."""
JOINED = {**dict.fromkeys((*COMPOSED, "Order", "Sequence"), ", then "), "Either": " or "}
"""Between the members of a group; "and" where order does not matter."""
RULES = {
    "Followed": "Make the next move that is shown, and no other", "InTurn": "Do nothing before its turn",
    "Clear": "Keep other things away from where others belong", "Away": "Put all things where they are not in the way",
}  # fmt: skip
"""Leaves that are rules about all the others, and have no words of their own; or none where there is nothing else."""
UNSAID = {"JointAt": "Leave shut what is to stay shut"}
"""Leaves without words, where they are not to come about."""
IN_THE_END = "In the end: "
LONGEST = 1000
"""More words than any description has."""
JOINING = ("and", "the", "a")
"""Words that say nothing about a sub-task where nothing else stands beside them."""

_PLACE = re.compile(r"(?P<word>to|on|at) (?P<place>\(-?\d+\.\d\d(?:, -?\d+\.\d\d)+\))")
_WORD = re.compile(r"\(-?\d+\.\d\d(?:, -?\d+\.\d\d)+\)\S*|\S+")  # a place is one of them
_PUSHING = re.compile(r"\bPushing\b")


def spoken_subgoals(nodes: Sequence[tuple[str, str, str]], standing: Mapping[str, str] | None = None) -> dict[str, str]:
    """Words for every part of a goal by its path, from (path, kind, own words), parents first.

    A group says what its members say. The first member of what is composed is the end it is judged by, and so told by how one gets there.
    ``standing`` names what stood at a place at the start, by the place's numbers: "(0.10, -0.20)".
    """
    kinds = {path: kind for path, kind, _ in nodes}
    own = {path: told(kind, words, standing or {}) for path, kind, words in nodes}
    members: dict[str, list[str]] = {path: [] for path in kinds}
    for path in kinds:
        if (above := path.rpartition(".")[0]) in members:
            members[above].append(path)

    def inner(path: str) -> str:
        """Its own words, or those of its members; empty where none of them has any."""
        below = members[path][1:] if kinds[path] in COMPOSED else members[path]
        joined = JOINED.get(kinds[path], " and ").join(filter(None, map(inner, below)))
        if kinds[path] == "Not" and not own[path]:
            return f"Do not: {joined}" if joined else UNSAID.get(kinds[below[0]], "") if below else ""
        return own[path] or joined

    def spoken(path: str) -> str:
        if "." not in path:
            return own[path] or "The whole task"
        if found := inner(path) or RULES.get(kinds[path], ""):
            return found
        whole = above = path.rpartition(".")[0]
        if above not in kinds:
            return kinds[path]
        if kinds[above] in COMPOSED:
            last = next(filter(None, (inner(p) for p in reversed(members[above]))), "")
            return f"{IN_THE_END}{last}" if last else "In the end"
        if step := step_that_ends(path):
            return f"{IN_THE_END}{inner(step)}"
        while "." in whole and kinds.get(whole.rpartition(".")[0], COMPOSED[0]) not in COMPOSED and not inner(whole):
            whole = whole.rpartition(".")[0]
        below = [p for p in kinds if p.startswith(f"{whole}.") and bool(members[p]) == bool(members[path])]
        parts = members[above] if whole == above else below
        return f"{spoken(whole)} ({parts.index(path) + 1} of {len(parts)})" if len(parts) > 1 else spoken(whole)

    def shape(path: str) -> tuple[object, ...]:
        return kinds[path], *map(shape, members[path])

    def step_that_ends(path: str) -> str:
        """The step whose own end is repeated here, in the end of the whole, or in one way to it; empty where it is none."""
        group = path.rpartition(".")[0]
        end = group.rpartition(".")[0] if kinds.get(group.rpartition(".")[0]) == "Either" else group
        whole = end.rpartition(".")[0]
        if kinds.get(whole) not in COMPOSED or end != members[whole][0]:
            return ""
        steps, found = members[whole][1:], dict[str, str]()
        for part in reversed(members[group]):
            while steps and shape(members[steps[-1]][0] if kinds[steps[-1]] in COMPOSED else steps[-1]) != shape(part):
                steps = steps[:-1]
            found[part], steps = (steps[-1], steps[:-1]) if steps else ("", [])
        return found[path] if all(found.values()) else ""

    return {path: spoken(path) for path in kinds}


def told(kind: str, words: str, standing: Mapping[str, str]) -> str:
    """A sub-task's own words for readers: as a request, and told by what stood at its place, where that is known.

    What is recorded, and what planners and policies hear, stays as it is.
    """
    to = "towards" if kind == "PushedTowards" else "to"

    def place(found: re.Match[str]) -> str:
        if name := standing.get(found["place"]):
            return f"{to} where {name} stood" if found["word"] == "to" else f"where {name} stood"
        return "in the direction asked for" if to == "towards" else found[0]

    words = words.rstrip(" .")
    return "" if words == "Undo:" else _PLACE.sub(place, _PUSHING.sub("Push", words))


# ------------------------------------------------------------------------------------------------ what several have in common


def common_words(texts: Sequence[str]) -> str:
    """What several descriptions have in common: "the red cube is on the tray" and "the bowl is on the tray" give "the … is on the tray".

    A look is one word, "red and blue stripe" too. Looks that have lost the thing they belong to are alike by chance, and left out.
    """
    split = [_words(text) for text in dict.fromkeys(texts)]
    first = split[0]
    if len(split) == 1:
        return " ".join(first)
    kept = _with_gaps(split, functools.reduce(_common, split))
    # the number of a thing says nothing without the thing
    kept = ["…" if word.isdigit() and i and kept[i - 1] == "…" else word for i, word in enumerate(kept)]
    return _joined(_without_lost_looks(kept))


def without_looks(text: str) -> str:
    """A description with "…" for the looks and numbers of things, which differ from episode to episode: "Pick up the … cube"."""
    return _joined(["…" if word.isdigit() or tuple(word.split()) in _looks() else word for word in _words(text)])


def _joined(words: Sequence[str]) -> str:
    return " ".join(word for i, word in enumerate(words) if word != "…" or i == 0 or words[i - 1] != "…")


def _words(text: str) -> tuple[str, ...]:
    """The words of a text; the name of a look is one of them."""
    longest, plain = max(map(len, _looks())), _WORD.findall(text)
    found, at = [], 0
    while at < len(plain):
        taken = next((n for n in range(longest, 1, -1) if tuple(plain[at : at + n]) in _looks()), 1)
        found.append(" ".join(plain[at : at + taken]))
        at += taken
    return tuple(found)


@functools.cache
def _looks() -> frozenset[tuple[str, ...]]:
    """The catalogue's colours and textures, as they are called in words."""
    return frozenset(tuple(name.rpartition("/")[2].split()) for name in texture_names())


def _without_lost_looks(words: Sequence[str]) -> list[str]:
    """Without what stands between two "…" and is nothing but looks and joining words."""
    gaps = [i for i, word in enumerate(words) if word == "…"]
    lost = {
        i
        for before, after in pairwise(gaps)
        if all(word in JOINING or tuple(word.split()) in _looks() for word in words[before + 1 : after])
        for i in range(before + 1, after)
    }
    return [word for i, word in enumerate(words) if i not in lost]


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The longest row of words that comes in both, in order. Looks and numbers of things, alike by chance, count less than any word."""
    row: list[list[tuple[int, tuple[str, ...]]]] = [[(0, ())] * (len(other) + 1) for _ in range(len(one) + 1)]  # what it counts, and it
    for i, word in enumerate(one):
        counts = 1 if word.isdigit() or tuple(word.split()) in _looks() else LONGEST
        for j, same in enumerate(other):
            before = row[i][j]
            row[i + 1][j + 1] = (before[0] + counts, (*before[1], word)) if word == same else max(row[i][j + 1], row[i + 1][j], key=_count)
    return row[-1][-1][1]


def _count(row: tuple[int, tuple[str, ...]]) -> int:
    return row[0]


def _with_gaps(texts: Sequence[tuple[str, ...]], common: tuple[str, ...]) -> list[str]:
    """The common words, with "…" wherever one of the texts says something in between."""
    gaps = [False] * (len(common) + 1)
    for words in texts:
        start = 0
        for k, word in enumerate(common):
            found = words.index(word, start)
            gaps[k] |= found > start
            start = found + 1
        gaps[-1] |= start < len(words)
    return [part for k, word in enumerate((*common, "")) for part in (["…"] * gaps[k] + [word]) if part]
