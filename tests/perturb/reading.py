"""Reads an instruction of VIMA as a person would: what is to be done with what. Written without a look at the templates' own slots."""

from __future__ import annotations

import re
from collections.abc import Callable

S = r"\{\w+\}"  # a picture, by its slot
THING = r"(?:object|item|thing)"
PUT = r"(?:put|place|set)"


def first(text: str, *patterns: str) -> re.Match[str]:
    """The first pattern that is found, capitals aside."""
    for pattern in patterns:
        if match := re.search(pattern, text, re.IGNORECASE):
            return match
    raise AssertionError(f"cannot read {text!r}")


def placed(text: str, name: str) -> dict[str, str]:
    """``what`` goes into ``where``; ``name`` is the pattern for either."""
    match = first(
        text,
        rf"(?:make|use) (?P<where>{name}) (?:to )?hold (?P<what>{name})\.",
        rf"(?:into|inside) (?P<where>{name}), {PUT} (?P<what>{name})\.",
        rf"(?P<what>{name}) and {PUT} it (?:into|inside|in) (?P<where>{name})\.",
        rf"(?P<what>{name}) (?:(?:should|must|has to|needs to) go |belongs |ends up |)(?:into|inside|in) (?P<where>{name})\.",
    )
    return {key: re.sub(r"^(?:the|a) ", "", value.lower()) for key, value in match.groupdict().items()}


def compared(text: str, adjective: str) -> list[tuple[str, str]]:
    """Which is more so than which."""
    if match := re.search(
        rf"((?:the {S}(?:, | and )?)+) are {adjective} than ((?:the {S}(?:, | and )?)+), respectively", text, re.IGNORECASE
    ):
        return list(zip(re.findall(S, match[1]), re.findall(S, match[2]), strict=True))
    if "ompared with" in text:
        return [(a, b) for b, a in re.findall(rf"ompared with the ({S}), the ({S}) is {adjective}\.", text)]
    return re.findall(rf"({S}) is {adjective} than (?:the )?({S})", text)


def defined(text: str) -> dict[str, str]:
    """Which picture a noun stands for."""
    found = dict(re.findall(rf"(?:[Tt]his|[Hh]ere) is a (\w+) ({S})", text))
    found |= {noun: slot for slot, noun in re.findall(rf"({S}) is (?:called )?a (\w+)", text)}
    found |= dict(re.findall(rf"[Aa] (\w+) looks like the ({S})", text))
    return found | {noun: slot for slot, noun in re.findall(rf"(?:call|and) the ({S}) a (\w+)", text)}


def visual_manipulation(text: str) -> object:
    return placed(text, f"the {S}")


def scene_understanding(text: str) -> object:
    if match := re.search(rf"the (.+?) {THING} hold the (.+?) {THING} (?:from|shown in|seen in) {{scene}}\.", text):
        return {"what": match[2], "where": match[1]}
    match = first(text, rf"the ([^{{}}]+?) {THING}\b.*?(?:into|inside|in) the ([^{{}}]+?) {THING}\.")
    assert "{scene}" in text[: match.start(2)]
    return {"what": match[1], "where": match[2]}


def rotate(text: str) -> object:
    assert re.search(r"\b(?:rotat|turn|swivel|pivot)", text, re.IGNORECASE)
    return re.findall(S, text), re.findall(r"(\d+) degrees", text)


def rearrange(text: str) -> object:
    return re.findall(S, text), bool(re.search(r"restore|back|return", text[text.index("{scene}") :]))


def novel_adj(text: str) -> object:
    adjective = first(text, r"is (\w+) than", r"are (\w+) than", r"is (\w+)\. ")[1]
    return compared(text, adjective), placed(text, rf"the (?:(?:less )?{adjective} )?{S}")


def novel_noun(text: str) -> object:
    return defined(text), placed(text.rpartition(". ")[2], r"(?:the|a) \w+")


def novel_adj_and_noun(text: str) -> object:
    adjective = first(text, r"\} is (?!called )(\w{2,}) than", r"are (\w+) than", r"\} is (\w{2,})\. ")[1]
    return defined(text), compared(text, adjective), placed(text.rpartition(". ")[2], rf"the (?:(?:less )?{adjective} )?\w+")


def twist(text: str) -> object:
    meaning, rest = text.split(". ", 1)
    assert '"twist"' in meaning.lower() and re.search("rotat|turn", meaning)
    pairs = re.findall(rf"[Ff]rom ({S}) to ({S})", rest) or re.findall(rf"({S}) becomes ({S})", rest)
    return pairs, first(rest, r"twist all (?:the |of the )?([^.]+?) (?:objects|items|things)(?: now| in the same way)?\.")[1]


def follow_motion(text: str) -> object:
    return re.findall(r"\{frame_\d\}", text), first(text, rf"(?:for|with|move|make|let) (?:the )?({S})")[1]


def follow_order(text: str) -> object:
    assert re.search(r"stack|pile", text, re.IGNORECASE)
    return re.findall(S, text)


def sweep(text: str) -> object:
    match = first(text, rf"(\w+) ({S}) into (?:the )?({S})")
    return match.groups(), first(text, rf"(?:exceed|cross|beyond|past|touch|contact with)\w* (?:the )?({S})")[1]


def same(text: str) -> object:
    what = first(text, r"(texture|profile)")[1]
    into_it = rf"{S}.*(?:into|inside|in) it\.$|(?:into|inside|in) the {S}, {PUT} all|{S} (?:to )?hold all"
    assert re.search(into_it, text, re.IGNORECASE), text
    return what, re.findall(S, text), bool(re.search(r"\ball \w+", text, re.IGNORECASE)), bool(re.search("same|shar|match|with the", text))


def manipulate_old_neighbor(text: str) -> object:
    match = first(
        text,
        rf"({S}).*? (?:into|inside|in) (?:the )?({S}).*?(?:object|item|thing) that (?:was|used to be|had been).*? its (\w+)"
        rf".*?(?:into|inside|in) the same ({S})\.$",
    )
    return match.groups()


def pick_in_order_then_restore(text: str) -> object:
    assert re.search(r"(?:back|restore|return).* its original container\.$", text)
    return re.findall(S, text)


READERS: dict[str, Callable[[str], object]] = {
    "visual_manipulation": visual_manipulation,
    "scene_understanding": scene_understanding,
    "rotate": rotate,
    "rearrange": rearrange,
    "rearrange_then_restore": rearrange,
    "novel_adj": novel_adj,
    "novel_noun": novel_noun,
    "novel_adj_and_noun": novel_adj_and_noun,
    "twist": twist,
    "follow_motion": follow_motion,
    "follow_order": follow_order,
    "sweep_without_exceeding": sweep,
    "sweep_without_touching": sweep,
    "same_texture": same,
    "same_shape": same,
    "manipulate_old_neighbor": manipulate_old_neighbor,
    "pick_in_order_then_restore": pick_in_order_then_restore,
}
