"""Other words for the seventeen tasks of VIMA-Bench.

Each task has the form of its own sentence, which is taken apart, and meta-templates that say the same. Novel words, numbers, textures,
determiners and directions are taken over as they are; every picture stands in the new sentence as often as in the old one, in the same
role. A picture of an object follows an article, as its words have none; pictures of scenes have their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from etude.names import EpisodeName, Stream
from etude.perturb.paraphrase.templates import Form, template
from etude.perturb.wording import PICTURE

SHARED = {
    "put": "put|place|set",
    "move": "move|bring|transfer",
    "into": "into|inside|in",
    "inside": "into|inside",
    "take": "pick up|take|grab|lift",
    "must": "should|must|has to|needs to",
    "thing": "object|item|thing",
    "things": "objects|items|things",
    "turn": "rotate|turn|swivel|pivot",
    "exactly": "exactly|precisely",
    "arrange": "rearrange|arrange|reposition",
    "setup": "setup|layout|arrangement|configuration",
    "restore": "restore the original <setup>|put them back|move them back|[return them|bring them back] to where they were",
    "afterwards": "after that|afterwards|next",
    "follow": "follow|copy|imitate|repeat|reproduce",
    "motion": "motion|movement",
    "likethis": "like this|in this way|as shown here",
    "sweep": "sweep|push|brush|shove",
    "exceed": "exceed|cross|go beyond|go past",
    "exceeding": "exceeding|crossing|going beyond|going past",
    "touch": "touch|make contact with|come into contact with",
    "touching": "touching|making contact with|coming into contact with",
    "was": "was previously|was formerly|used to be|had been",
    "finally": "finally|lastly|in the end|at the end",
    "back": "put it back into|move it back into|bring it back into|return it to|restore it into",
    "angle": "a specific angle|a certain angle|a particular angle",
}


def _form(pattern: str, *templates: str, more: Callable[[Mapping[str, str]], dict[str, str]] = lambda found: {}) -> Form:
    return Form(re.compile(pattern.replace("PICTURE", PICTURE)), tuple(template(t, SHARED) for t in templates), more)


def _series(items: list[str]) -> str:
    """A, B and C."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


# ------------------------------------------------------------------------------------------------ new words


def _compared(found: Mapping[str, str]) -> dict[str, str]:
    """The examples of an adjective: sentence by sentence, in one sentence, in two lists, and with the other one first."""
    pairs = re.findall(rf"({PICTURE}) is \w+ than ({PICTURE})", found["examples"])
    word = found["adjective"]
    single = [f"the {a} is {word} than the {b}" for a, b in pairs]
    lists = [_series([f"the {pair[k]}" for pair in pairs]) for k in (0, 1)]
    listed = f"{lists[0]} are {word} than {lists[1]}, respectively" if len(pairs) > 1 else single[0]
    return {
        "each": " ".join(f"{s}." for s in single),
        "joined": _series(single),
        "listed": listed,
        "against": " ".join(f"compared with the {b}, the {a} is {word}." for a, b in pairs),
    }


_EXAMPLES = "[{each}|{against}|{joined}.|{listed}.|[as you can see|here|for example], [{joined}|{listed}].]"
_COMPARED = r"(?P<examples>(?:PICTURE is (?P<adjective>\w+) than PICTURE\. )+)"
_ADJECTIVE = r"(?P<asked>(?:less )?(?P=adjective))"
_DEFINED = r"This is an? (?P<n1>\w+) (?P<x1>PICTURE)\. This is an? (?P<n2>\w+) (?P<x2>PICTURE)\. "


def _both_orders(*texts: str) -> str:
    """Alternatives with the two definitions in either order."""
    swapped = [re.sub(r"\{([xn])([12])\}", lambda m: f"{{{m[1]}{3 - int(m[2])}}}", t) for t in texts]
    return f"[{'|'.join([*texts, *swapped])}]"


_DEFINITIONS = _both_orders(
    "[this|here] is a {n1} {x1}. [this|here] is a {n2} {x2}.",
    "the {x1} is [|called ]a {n1}. the {x2} is [|called ]a {n2}.",
    "the {x1} is a {n1} and the {x2} is a {n2}.",
    "[we call|let us call] the {x1} a {n1} and the {x2} a {n2}.",
    "a {n1} looks like the {x1}. a {n2} looks like the {x2}.",
    "a {n1} looks like the {x1} and a {n2} looks like the {x2}.",
)


def _commands(what: str, where: str) -> str:
    """One thing into another, by the names that are given."""
    return (
        f"[<put> {what} <into> {where}|<move> {what} into {where}|<take> {what} and <put> it <into> {where}"
        f"|{what} <must> go <inside> {where}|{what} belongs [in|inside] {where}|make {where} hold {what}|use {where} to hold {what}"
        f"|make sure that {what} ends up [in|inside] {where}|<inside> {where}, <put> {what}]."
    )


# ------------------------------------------------------------------------------------------------ pictures in a row


def _frames(found: Mapping[str, str]) -> dict[str, str]:
    frames = re.findall(PICTURE, found["frames"])
    return {"plain": " ".join(frames), "commas": ", ".join(frames), "thens": ", then ".join(frames)}


_ROW = "[{plain}|{commas}|{thens}]"


def _turned(found: Mapping[str, str]) -> dict[str, str]:
    pairs = re.findall(rf"From ({PICTURE}) to ({PICTURE})", found["examples"])
    moves = [f"from {a} to {b}" for a, b in pairs]
    return {
        "each": " ".join(f"{m}." for m in moves),
        "joined": _series(moves),
        "becomes": _series([f"{a} becomes {b}" for a, b in pairs]),
    }


def _visited(found: Mapping[str, str]) -> dict[str, str]:
    later = [f"the {p}" for p in re.findall(PICTURE, found["later"])]
    return {"theninto": ", then into ".join(later), "afterthat": ", after that into ".join(later)}


# ------------------------------------------------------------------------------------------------ the tasks


def _swept(verb: str, avoid: str, avoiding: str) -> Form:
    return _form(
        rf"Sweep (?P<count>\w+) (?P<swept>PICTURE) into (?P<zone>PICTURE) without {verb} (?P<line>PICTURE)\.",
        f"<sweep> {{count}} {{swept}} into the {{zone}} without {avoiding} the {{line}}.",
        f"without {avoiding} the {{line}}, <sweep> {{count}} {{swept}} into the {{zone}}.",
        f"<sweep> {{count}} {{swept}} into the {{zone}}[, but| and] [do not|never] {avoid} the {{line}}.",
        f"[take care|be careful|make sure] not to {avoid} the {{line}} [while you|when you] <sweep> {{count}} {{swept}} into the {{zone}}.",
        f"[get|bring] {{count}} {{swept}} into the {{zone}} by [sweeping|pushing], without {avoiding} the {{line}}.",
        f"<sweep> {{count}} {{swept}} into the {{zone}}. [do not|never] {avoid} the {{line}}.",
    )


def _same(what: str) -> Form:
    all_such = (
        f"all <things> [with|that have] the same {what} as the {{base}}|all <things> that share the {what} of the {{base}}"
        f"|all <things> with the {what} of the {{base}}|all <things> whose {what} [is the same as|matches] that of the {{base}}"
    )
    return _form(
        rf"Put all objects with the same {what} as (?P<base>PICTURE) into it\.",
        f"<put> [{all_such}] <into> it.",
        f"<move> [{all_such}] into it.",
        f"<take> [{all_such}] and <put> them <into> it.",
        f"[find|look for] [{all_such}] and <put> them <into> it.",
        f"<into> the {{base}}, <put> all <things> [with|that have] the same {what} as it.",
        f"[make|let] the {{base}} hold all <things> [with|that have] the same {what} as it.",
        f"use the {{base}} to hold all <things> [with|that have] the same {what} as it.",
        f"[{all_such}] [should go|must go|have to go|need to go] <inside> it.",
        f"[{all_such}] belong [in|inside] it.",
    )


FORMS: dict[str, Form] = {
    "visual_manipulation": _form(
        r"Put the (?P<dragged>PICTURE) into the (?P<base>PICTURE)\.",
        _commands("the {dragged}", "the {base}"),
    ),
    "scene_understanding": _form(
        r"Put the (?P<dragged>[^{}]+) object in (?P<scene>PICTURE) into the (?P<base>[^{}]+) object\.",
        "<put> the {dragged} <thing> [in|from|shown in|seen in] {scene} <inside> the {base} <thing>.",
        "<take> the {dragged} <thing> [from|shown in|seen in] {scene} and <put> it <into> the {base} <thing>.",
        "look at {scene}. <put> the {dragged} <thing> [from it|shown there|that you see there] <inside> the {base} <thing>.",
        "from {scene}, <take> the {dragged} <thing> and <put> it <into> the {base} <thing>.",
        "[make|let] the {base} <thing> hold the {dragged} <thing> [from|shown in|seen in] {scene}.",
        "the {dragged} <thing> [in|from|shown in|seen in] {scene} <must> go <inside> the {base} <thing>.",
    ),
    "rotate": _form(
        r"Rotate the (?P<dragged>PICTURE) (?P<angle>\d+) degrees\.",
        "<turn> the {dragged} [by |<exactly> |by <exactly> |]{angle} degrees.",
        "precisely <turn> the {dragged} [by |]{angle} degrees.",
        "[pick up|take|lift] the {dragged} and <turn> it [by |]{angle} degrees.",
        "give the {dragged} a [turn|rotation] of [exactly |]{angle} degrees.",
        "apply a [turn|rotation] of {angle} degrees to the {dragged}.",
        "the {dragged} <must> be [rotated|turned] [by |]{angle} degrees.",
    ),
    "rearrange": _form(
        r"Rearrange to this (?P<scene>PICTURE)\.",
        "<arrange> [the |]<things> to [match|look like] this {scene}.",
        "<arrange> [the |]<things> [as in|as shown in] this {scene}.",
        "[put|bring] the <things> into the <setup> of this {scene}.",
        "move the <things> [so that|until] they [match|look like] this {scene}.",
        "[recreate|reproduce|copy] this {scene}[| with the <things>| by moving the <things>].",
        "this {scene} shows how the <things> should [lie|be arranged]. <arrange> them [to match|accordingly].",
        "make the <things> look like this {scene}.",
    ),
    "rearrange_then_restore": _form(
        r"Rearrange objects to this setup (?P<scene>PICTURE) and then restore\.",
        "<arrange> [the |]<things> [to|into] this <setup> {scene}[,|] and then <restore>.",
        "first <arrange> the <things> to match this <setup> {scene}, [then|and then|and after that|and afterwards] <restore>.",
        "<arrange> [the |]<things> [to|into] this <setup> {scene}. [then|<afterwards>,|once that is done,] <restore>.",
        "move the <things> [so that|until] they match this <setup> {scene}[, and then|. then|. <afterwards>,] <restore>.",
        "after moving the <things> [to|into] this <setup> {scene}, <restore>.",
        "once the <things> match this <setup> {scene}, <restore>.",
    ),
    "novel_adj": _form(
        _COMPARED + rf"Put the {_ADJECTIVE} (?P<dragged>PICTURE) into the (?P<base>PICTURE)\.",
        f"{_EXAMPLES} {_commands('the {asked} {dragged}', 'the {base}')}",
        more=_compared,
    ),
    "novel_noun": _form(
        _DEFINED + r"Put an? (?P<what>\w+) into an? (?P<where>\w+)\.",
        f"{_DEFINITIONS} {_commands('the {what}', 'the {where}')}",
        f"{_DEFINITIONS} {_commands('a {what}', 'a {where}')}",
        f"{_DEFINITIONS} [now |]<put> a {{what}} <into> a {{where}}.",
    ),
    "novel_adj_and_noun": _form(
        _DEFINED + _COMPARED + rf"Put the {_ADJECTIVE} (?P<what>\w+) into the (?P<where>\w+)\.",
        f"{_DEFINITIONS} {_EXAMPLES} {_commands('the {asked} {what}', 'the {where}')}",
        f"{_EXAMPLES} {_DEFINITIONS} {_commands('the {asked} {what}', 'the {where}')}",
        more=_compared,
    ),
    "twist": _form(
        r'"Twist" is defined as rotating object a specific angle\. For examples: (?P<examples>(?:From PICTURE to PICTURE\. )+)'
        r"Now twist all (?P<texture>[^{}]+) objects\.",
        '["twist" [means|stands for|is defined as] [rotating|turning] an object by <angle>.'
        '|to "twist" [something|an object] means to [rotate|turn] it by <angle>.'
        '|[the word|the verb] "twist" [means|stands for] [rotating|turning] an object by <angle>.] '
        "[for example: {joined}.|[here are some|some] examples: {each}|for example: {each}|for example, {becomes}.] "
        "[now [|please ]twist all [|the |of the ]{texture} <things>.|twist all [|the |of the ]{texture} <things> [now|in the same way].]",
        more=_turned,
    ),
    "follow_motion": _form(
        r"Follow this motion for (?P<dragged>PICTURE): (?P<frames>PICTURE(?: PICTURE)*)\.",
        f"<follow> [this|the following] <motion> [for|with] the {{dragged}}: {_ROW}.",
        f"move the {{dragged}} <likethis>: {_ROW}.",
        f"[make|let] the {{dragged}} [follow|go through] [this|the following] <motion>: {_ROW}.",
        f"this is [a|the] <motion> to <follow>: {_ROW}. [do it|do so] with the {{dragged}}.",
        f"[look at|watch] this <motion>: {_ROW}. [now |]<follow> it with the {{dragged}}.",
        more=_frames,
    ),
    "follow_order": _form(
        r"Stack objects in this order:? (?P<frames>PICTURE(?: PICTURE)*)\.",
        f"stack [the |]<things> in [this|the following] order: {_ROW}.",
        f"stack [the |]<things> <likethis>: {_ROW}.",
        f"[pile up|pile] [the |]<things> in [this|the following] order: {_ROW}.",
        f"[follow|keep to] this order [to stack|when you stack|when stacking] the <things>: {_ROW}.",
        f"this is the order in which to stack the <things>: {_ROW}.",
        f"here is an order: {_ROW}. stack the <things> accordingly.",
        more=_frames,
    ),
    "sweep_without_exceeding": _swept("exceeding", "<exceed>", "<exceeding>"),
    "sweep_without_touching": _swept("touching", "<touch>", "<touching>"),
    "same_texture": _same("texture"),
    "same_shape": _same("profile"),
    "manipulate_old_neighbor": _form(
        r"First put (?P<dragged>PICTURE) into (?P<base>PICTURE) then put the object that was previously at its (?P<side>\w+) "
        r"into the same (?P<again>PICTURE)\.",
        "first <put> the {dragged} <into> the {base}[,| and] then <put> the <thing> that <was> [at|to] its {side} <into> the same {again}.",
        "[begin|start] by putting the {dragged} <into> the {base}. [then|<afterwards>,] <put> the <thing> that <was> [at|to] its {side} "
        "<into> the same {again}.",
        "<put> the {dragged} <into> the {base}. <afterwards>, <put> the <thing> that was [at|to] its {side} before [you moved it|the move] "
        "<into> the same {again}.",
        "after putting the {dragged} <into> the {base}, <put> the <thing> that <was> [at|to] its {side} <into> the same {again}.",
        "<take> the {dragged} first and <put> it <into> the {base}, then <put> the <thing> that <was> [at|to] its {side} "
        "<into> the same {again}.",
        "once the {dragged} is [in|inside] the {base}, <put> the <thing> that <was> [at|to] its {side} <into> the same {again}.",
    ),
    "pick_in_order_then_restore": _form(
        r"Put (?P<dragged>PICTURE) into (?P<base>PICTURE)(?P<later>(?:,? then PICTURE)+)\. "
        r"Finally restore it into its original container\.",
        "<put> the {dragged} <into> the {base}, then into {theninto}. <finally>, <back> its original container.",
        "first <put> the {dragged} <into> the {base}, then into {theninto}. <finally>, <back> its original container.",
        "[move|bring] the {dragged} into the {base}, after that into {afterthat}, and <finally> <back> its original container.",
        "<take> the {dragged} and <put> it <into> the {base}, then into {theninto}. <finally>, <back> its original container.",
        "[begin|start] by putting the {dragged} <into> the {base}. then [put|move] it into {theninto}, and <finally> <back> its original "
        "container.",
        more=_visited,
    ),
}
"""By task."""


def reword(text: str, name: EpisodeName, stream: Stream) -> str | None:
    """The instruction of a task of this suite in other words, without capitals; None where it has another form."""
    form = FORMS.get(name.task)
    return form.reworded(text, stream) if form is not None else None
