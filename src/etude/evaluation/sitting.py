"""What a run was played with, written into ``run.json``: when it began, and whenever something changed as it was resumed.

What moves a result must not change. The rest (the machine, patch releases, packages a policy uses) may, and every change is written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from etude import machine
from etude.evaluation.described import facts
from etude.evaluation.schema import SCHEMA
from etude.evaluation.standards import standards
from etude.evaluation.store import Run, Store
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.render import fingerprint

CHANGES = ("machine", "command", "code")  # what may change from one sitting to the next


def refuse_other_standards(store: Store) -> None:
    """Refuse to go on under other versions than those the results were made with. Called before anything is loaded."""
    earlier = store.info()
    if not earlier:
        return
    before = earlier.get("standards") or {}
    for what, now in standards(store.plan.renderer).items():
        if before.get(what) != now:
            raise EtudeError(
                f"{str(store.folder)!r} was begun with {what} {before.get(what, 'unknown')}, this is {now}: results of both are not mixed;"
                f" resume with that {what}, or choose another --out"
            )


def introduce(
    store: Store,
    contracts: dict[str, Any],
    code: dict[str, Any],
    allow_mixed: bool,
    plugins: Sequence[str],
    adapted: Mapping[str, Sequence[str]],
    robot: Mapping[str, Any] | None = None,
) -> None:
    """Write down who plays here, and with what; ``adapted``: whose conventions are converted, in words; ``robot``: what one says of
    itself, where one is played on."""
    sitting = {"machine": machine.describe(), "command": machine.command(), "code": code}
    told = facts(store.plan, plugins)
    earlier = store.info()
    if not earlier:
        pinned = standards(store.plan.renderer)
        pixels = fingerprint(True) if store.plan.renderer == "raster" and contracts["policy"]["smooth"] else pinned["renderer"]
        store.write_info({
            "schema": SCHEMA, "protocol": pinned["protocol"], "plan": store.plan.digest, "policy": store.plan.policy,
            "planner": store.plan.planner, "contract": contracts, "renderer": pixels, "standards": pinned, **sitting,
            **({"converted": adapted} if adapted else {}), **({"robot": robot} if robot else {}), **told, "sittings": [],
        })  # fmt: skip
        return
    if _said(earlier.get("contract") or {}) != _said(contracts):
        raise EtudeError(f"{str(store.folder)!r} was begun with another contract; results are not mixed: choose another --out")
    if earlier.get("robot") != (robot or None):
        raise EtudeError(f"{str(store.folder)!r} was begun on another robot; results are not mixed: choose another --out")
    changed = _changed(_codes([earlier]), code)
    if changed and not allow_mixed:
        who = changed[0]
        raise EtudeError(
            f"the code of the {who} {getattr(store.plan, who)!r} has changed since {str(store.folder)!r} was begun"
            f" ({_difference((earlier.get('code') or {}).get(who), code[who])}): choose another --out, or mix results with --allow-mixed,"
            " which marks the run"
        )
    sittings = list(earlier.get("sittings") or ())
    last = (sittings or [earlier])[-1]
    if any(last.get(what) != sitting[what] for what in CHANGES):
        sittings.append({"done": len(store.records), **sitting})
    if changed:
        earlier["mixed"] = _roles(earlier.get("mixed") or (), changed)
    schema = max(SCHEMA, earlier.get("schema") or 1)
    store.write_info({**earlier, "schema": schema, "plan": store.plan.digest, **told, "sittings": sittings})


def joined(runs: Sequence[Run], plan: str, allow_mixed: bool) -> dict[str, Any]:
    """``run.json`` of several runs as one; ``plan`` is the digest of what they are joined to."""
    first = runs[0]
    mixed: Sequence[str] = first.info.get("mixed") or ()
    sittings = list(first.info.get("sittings") or ())
    for k, other in enumerate(runs[1:], 1):
        for what in ("standards", "contract", "robot"):
            one, two = (run.info.get(what) or {} for run in (first, other))
            if one != two and (what != "contract" or _said(one) != _said(two)):
                part = next((key for key in {**one, **two} if one.get(key) != two.get(key)), what)
                raise EtudeError(f"{first.folder} and {other.folder} cannot be joined: their {what} differ in {part}")
        changed = _changed(_codes([run.info for run in runs[:k]]), other.info.get("code") or {})
        if changed and not allow_mixed:
            raise EtudeError(
                f"{first.folder} and {other.folder} were played by different code of the {changed[0]}: join them with --allow-mixed, which"
                " marks the run"
            )
        mixed = _roles(mixed, [*changed, *(other.info.get("mixed") or ())])
        began = {"done": sum(len(run.records) for run in runs[:k]), **{what: other.info.get(what) for what in CHANGES}}
        sittings += [began, *(other.info.get("sittings") or ())]
    found = {key: value for run in reversed(runs) for key, value in run.info.items()}
    for what in ("suites", "perturbations"):
        found[what] = {name: one for run in reversed(runs) for name, one in (run.info.get(what) or {}).items()}
    found["plugins"] = list({one["module"]: one for run in runs for one in run.info.get("plugins") or ()}.values())
    return {**found, "plan": plan, "sittings": sittings, **({"mixed": list(mixed)} if mixed else {})}


def _said(contracts: Mapping[str, Any]) -> dict[str, Any]:
    """Contracts as they are meant: of earlier runs, what a policy had left open was as etude has it."""
    policy = contracts.get("policy")
    return {**contracts, "policy": Contract.from_data(policy).as_etude() if policy is not None else None}


def _codes(infos: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """All states of the code that results were made with."""
    return [entry.get("code") or {} for info in infos for entry in (info, *(info.get("sittings") or ()))]


def _changed(known: Sequence[Mapping[str, Any]], code: Mapping[str, Any]) -> list[str]:
    """Whose code is in a state that no result was made with: policy, planner."""
    return [who for who in ("policy", "planner") if code.get(who) not in [one.get(who) for one in known]]


def _roles(before: Sequence[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*before, *more)))


def _difference(before: Mapping[str, str] | None, now: Mapping[str, str] | None) -> str:
    one, two = before or {}, now or {}
    parts = [key for key in {**one, **two} if one.get(key) != two.get(key)]
    return ", ".join(f"{key}: {one.get(key) or 'none'} before, {two.get(key) or 'none'} now" for key in parts)
