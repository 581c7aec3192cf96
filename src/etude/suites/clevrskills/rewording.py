"""Other words for the sentences of ClevrSkills: rules for their verbs, prepositions and clauses."""

from __future__ import annotations

import re

from etude.names import EpisodeName, Stream
from etude.perturb.paraphrase.generic import reworded, rules

_START = r"(^|[.,] |\bthen |\bfirst |\d⟧ )"  # where a verb may stand that tells what to do
_WHAT = r"((?:PICTURE|the|object)[^.]*?)"

RULES = rules(
    [
        # definitions and examples: the made-up words stay
        (r"\bthis is (a \w+) (?=PICTURE)", "[this|here] is {g1} "),
        (r"(?<=⟧), (PICTURE is \w+ than)", ", [|and ]{g1}"),
        (r"(^|\. )(PICTURE is \w+ than)", "{g1}[here,|as you can see,|for example,|let us say that] {g2}"),
        (r"(^|\. )(PICTURE is \w+ and)", "{g1}[here,|let us say that|in what follows,|in these pictures,] {g2}"),
        # taking and putting
        (r"^(?:pick up|grab|lift) ", "[pick up|lift|lift up|grab|grab and lift|take hold of and lift] "),
        (rf"^pick and place {_WHAT} on (.+)$", "[pick up|take|lift|grab] {g1} and [put|place|set|lay] it [on|onto|on top of] {g2}"),
        (r" then on (?=PICTURE)", "[, then| and then] [on|onto] "),
        (r"(\d⟧) put (?=PICTURE)", "{g1}, put "),
        (rf"{_START}(?:put|place) (?=PICTURE|the|object|all|identically|\w+ on)", "{g1}[put|place|set] "),
        (r"\bstack (?=PICTURE|object|identically)", "[stack|stack up|pile up] "),
        (r"(?<!then )\bon (?=PICTURE|object with|the (?!scale)|\w+\.?$)(?!top\b)", "[on|onto|on top of] "),
        (r"\bon the scale", "[on|onto] the scale"),
        (r"on top of each other", "on top of [each other|one another]"),
        (r"(?<!effector )(?<!as )\bin (?=PICTURE|the same)", "[in|into|inside] "),
        (r"\bthe objects in the identically textured areas",
         "the [objects|things|items] [in|into] the [identically textured areas|areas of the same texture]"),
        (r"\b(?:the )?object with (PICTURE) texture", "the [object|thing|item] [with|that has] {g1} texture"),
        (r"\bobjects with (PICTURE) texture", "[objects|things|items] [with|that have] {g1} texture"),
        (r"\bidentically textured objects", "[identically textured objects|objects of the same texture|objects with the same texture]"),
        # turning and changing places
        (r"(?<!by )\b(\d+ degrees)", "[|by ]{g1}"),
        (r"(^|\bbut )rotate ", "{g1}[rotate|turn] "),
        (r"\b(?:while rotating|but rotate|but turn) them",
         "[while rotating them|while turning them|and rotate them|and turn them|but rotate them]"),
        (r"\bswap positions of (PICTURE) and (PICTURE)",
         "[[swap|exchange|switch] the positions of {g1} and {g2}|[make|let] {g1} and {g2} [swap|change|trade|exchange] places]"),
        (r"\brearrange to (PICTURE)",
         "[[rearrange|arrange] the objects [as in|to match|to look like]|move the objects [so that|until] they [match|look like]] {g1}"),
        (r" and then restore$",
         "[ and then| and afterwards|, then|, and after that] [[restore|bring back] the original state|put everything back as it was]"),
        # hand, throwing, touching
        (r"\bmatch the pose of the end effector in ",
         "[[match|copy|reproduce] the pose of the end effector [in|shown in]|bring the end effector [to|into] the pose [in|shown in]] "),
        (r" followed by ", "[ followed by |, followed by | and then ]"),
        (r"\bwithout hitting any objects", "without [hitting|bumping into|colliding with] any objects"),
        (r"\btrace the sequence of goals by moving", "[trace|follow] the sequence of goals by [moving|going]"),
        (r"\bthrow (PICTURE) to ", "[throw|toss] {g1} [to|at] "),
        (r"\bhit (?=PICTURE)", "[hit|strike] "),
        (r"\bsuch that (PICTURE) falls over", "[such that|so that] {g1} [falls over|topples over|tips over]"),
        (r"\btouch and push ", "[touch and push|touch and shove] "),
        (r"\btouch and topple ", "touch and [topple|knock over|tip over] "),
        (r"\btouch (?!and)", "[touch|make contact with|come into contact with] "),
        (r"\bpush (?=PICTURE|object)", "[push|shove] "),
        (r"\btowards ", "[towards|toward|in the direction of] "),
        (r"\btopple the stack", "[topple the stack|knock the stack over|tip the stack over|knock over the stack]"),
        (r"\bby (pushing|throwing)$", "by {g1}[| them]"),
        # order and likeness
        (r"\bfollow the motion for (PICTURE):", "[follow|copy|repeat|imitate] the [motion|movement] [for|of] {g1}:"),
        (r"(?<!the )\bobjects as in ", "[objects|the objects] [as in|as shown in] "),
        (r"\bobjects in this order(?! in)", "[objects|the objects] in [this order|the following order]"),
        (r"\bin the reversed order", "in [the reversed order|reverse order|the opposite order]"),
        (r"\bthe object that was at its (\w+)", "the [object|thing|item] that [was|had been|used to be] [at|to] its {g1}"),
        (r"\bwhile keeping it in balance", "[while keeping it|and keep it] [in balance|balanced]"),
        (r"\b(PICTURE), (PICTURE)$", "{g1}[, | and ]{g2}"),
    ]
)  # fmt: skip

_CLAUSE = re.compile(
    r"(.+?),? (without \w+(?: \w+)? any objects|by (?:pushing|throwing)(?: them)?|in (?:the reversed|reverse|the opposite) order)\."
)


def turned(sentence: str, stream: Stream) -> str:
    """How it is to be done, said first, in half of the sentences that say it."""
    match = _CLAUSE.fullmatch(sentence)
    if match is None or stream.chance(0.5):
        return sentence
    return f"{match[2]}, {match[1][0].lower()}{match[1][1:]}."


def reword(text: str, name: EpisodeName, stream: Stream) -> str:
    """The instruction in other words."""
    return reworded(text, stream, RULES, turned)
