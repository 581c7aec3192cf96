"""Under which conditions runs were played, in words: episodes, machine, the policy's contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from etude.evaluation.tables import name_of, plural
from etude.report.contestants import Contestant
from etude.report.markup import listed


def played_words(arm: Contestant, suite: str) -> str:
    """What was played of a suite: "60 episodes of 20 tasks of vima (splits L1 and L2, seeds 0 to 2)"."""
    names = [name_of(r) for r in arm.records if name_of(r).suite == suite]
    splits, seeds = list(dict.fromkeys(n.split for n in names)), sorted({n.seed for n in names})
    run = f"{seeds[0]} to {seeds[-1]}" if seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 1 else ""
    which = f"seeds {run}" if run else f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
    where = f"split{'' if len(splits) == 1 else 's'} {listed(splits)}"
    return f"{plural(len(names), 'episode')} of {plural(len({n.task for n in names}), 'task')} of {suite} ({where}, {which})"


def time_words(arm: Contestant) -> str:
    """How long an episode took; empty where that was not noted."""
    seconds = [r.timings["seconds"] for r in arm.records if "seconds" in r.timings]
    return f"An episode took {sum(seconds) / len(seconds):.1f} s on average." if seconds else ""


def machine_words(machine: Any) -> str:
    """System, processor and cores."""
    if not isinstance(machine, dict):
        return str(machine or "")
    cores = f"{machine['cores']} cores" if machine.get("cores") else ""
    return ", ".join(str(v) for v in (machine.get("system"), machine.get("processor"), cores) if v)


def contract_words(contract: Mapping[str, Any]) -> str:
    """What a policy declared to see and to give: "acts in ee_delta, sees base at 128 × 128, …"; empty where it said nothing."""
    if not contract:
        return ""
    size = contract.get("size")
    pixels = f" at {size[0]} × {size[1]} pixels" if size else ""
    cameras = contract.get("cameras") or ()
    chunk, execute = contract.get("chunk") or 1, contract.get("execute")
    conventions = ("frame", "rotation", "scale", "closes", "hand", "rate", "orientation")
    given = [f"{what} {contract[what]}" for what in conventions if contract.get(what) is not None]
    parts = [
        f"acts in {contract['action']}" if contract.get("action") else "acts in the space of the task",
        f"declares {', '.join(given)}" if given else "",
        f"sees {listed(list(cameras))}{pixels} ({', '.join(contract.get('modalities') or ['rgb'])})" if cameras else "asks for no picture",
        {"text": "is told in words", "multimodal": "is told in words and pictures", "views": "is told in views"}.get(
            str(contract.get("told") or "text"), ""
        ),
        f"gives up to {chunk} actions at once, {execute or chunk} of which are carried out" if chunk > 1 else "",
        "asks for the true state" if contract.get("privileged") else "",
    ]
    return listed([part for part in parts if part])
