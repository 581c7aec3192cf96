"""What is asked in every list, in a line. Lists for one property or one form are known by the ends of their names."""

from __future__ import annotations

from etude.decisions.connectivity import TaskSpace
from etude.decisions.space import LOCATION
from etude.suites.iwisdm.abilities import FORMS
from etude.suites.iwisdm.levels import LEVELS


def _counted(least: int, most: int) -> str:
    return str(most) if least == most else f"{least} to {most}"


def _level(settings: TaskSpace) -> str:
    """The columns of the paper's table 1."""
    roots, booleans = (" ".join(names) for names in (settings.roots, settings.booleans))
    switch = f"{settings.max_switch} Switch" if settings.max_switch else "no Switch"
    return f"{_counted(*settings.frames)} frames, {_counted(*settings.joins)} And or Or, {switch}; roots {roots}; conditions {booleans}"


SUMMARIES = {
    f"single_frame_{LOCATION}": "Is the one object at a given place, or is it not?",
    "single_frame_category": "Is the one object of a given category, or is it not?",
    **{name: _level(settings) for name, settings in LEVELS.items()},
    **{f"{name}_balanced": f"As {name}, with all answers equally often and only possible ones offered" for name in LEVELS},
    **{f"cvr_{name}": f"As {name}_balanced, with one property in each trial" for name in LEVELS},
    "perception": "What is the object, or where; are two the same?",
    "spatial_attention": "What is the object at a place, with others beside it?",
    "feature_attention": "Where is the object of a category, with others beside it?",
    "temporal_attention": "What was the object of one frame, or where, with others before and after it?",
    "memory": "What was the object, or where, some empty frames ago?",
    "match_to_sample": "Is the test as the sample, after a delay of 0 to 4 frames?",
    "one_back": "Is each object as the one before it?",
    **{f"{n}_back": f"Is each object as the one {n} frames before it?" for n in ("two", "three")},
    "samples_abcabc": "Three samples, then three tests in the same order",
    "samples_abbcca": "A sample is held while two others come with their tests",
    "dual_match_to_sample": "Is the test as the sample in two properties, or in one of them at least?",
    "contextual_decision": "Whether two objects are the same says which property of the last two counts",
    "queue": "Two tasks, one after the other",
    "overlap": "Two tasks at once that share an object",
    "interleave": "Two tasks at once that share no object",
    "condition": "The answer of one task says which of two others is asked",
    "auto": "Tasks from a space of your own (?switch= &depth= &joins= &frames= &operators= &properties=), or a graph from a file (?graph=)",
}  # fmt: skip
_ENDS = {
    LOCATION: "locations only",
    "category": "categories only",
    "identity": "identities only",
    **dict(zip(FORMS, ("told", "two compared"), strict=True)),
}


def summary(name: str) -> str:
    """That of a list; of one that narrows another down, how."""
    base = max((one for one in SUMMARIES if f"{name}_".startswith(f"{one}_")), key=len)
    ends = [_ENDS[end] for end in name.removeprefix(base).split("_")[1:]]
    return f"As {base}: {', '.join(ends)}" if ends else SUMMARIES[base]
