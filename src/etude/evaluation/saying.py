"""The parts of a goal in words that a reader understands, also where they have none of their own."""

from __future__ import annotations

from collections.abc import Sequence

JOINED = {"Composed": ", then ", "Order": ", then ", "Sequence": ", then ", "Either": " or "}
"""Between the members of a group; "and" where order does not matter."""

RULES = {"Followed": "Make the next move that is shown, and no other", "InTurn": "Do nothing before its turn"}
"""Leaves that are rules about all the others, and have no words of their own."""


def spoken_subgoals(nodes: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Words for every part of a goal by its path, from (path, kind, own words), parents first.

    A group says what its members say. The first member of what is composed is the end it is judged by, and so told by how one gets there.
    """
    kinds = {path: kind for path, kind, _ in nodes}
    own = {path: words.rstrip(" .") for path, _, words in nodes}
    members: dict[str, list[str]] = {path: [] for path in kinds}
    for path in kinds:
        if (above := path.rpartition(".")[0]) in members:
            members[above].append(path)

    def inner(path: str) -> str:
        """Its own words, or those of its members; empty where none of them has any."""
        below = members[path][1:] if kinds[path] == "Composed" else members[path]
        return own[path] or JOINED.get(kinds[path], " and ").join(filter(None, map(inner, below)))

    def spoken(path: str) -> str:
        if "." not in path:
            return own[path] or "The whole task"
        if found := inner(path) or RULES.get(kinds[path], ""):
            return found
        above = path.rpartition(".")[0]
        if kinds.get(above) == "Composed":
            last = next(filter(None, (inner(p) for p in reversed(members[above]))), "")
            return f"In the end: {last}" if last else "In the end"
        if above in kinds and len(members[above]) > 1:
            return f"{spoken(above)} ({members[above].index(path) + 1} of {len(members[above])})"
        return spoken(above) if above in kinds else kinds[path]

    return {path: spoken(path) for path in kinds}
