"""People in the tables of a paper: the records of a study, in the place of a policy that could be asked again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from etude.evaluation.record import Record
from etude.evaluation.store import PLAN, read_run
from etude.names import EtudeError

HUMAN = "human:"


@dataclass(frozen=True)
class AnsweredStudy:
    """What people have answered: records by trial, of everybody who was asked it, in the order of their names."""

    folder: Path
    records: dict[str, tuple[Record, ...]]


def is_people(policy: object) -> bool:
    """Is it the address of a study?"""
    return isinstance(policy, str) and policy.startswith(HUMAN)


def people(policy: object) -> AnsweredStudy | None:
    """The study behind ``human:FOLDER``: a run of 'etude study', or a folder with a run for each person; None where it is a policy."""
    if not is_people(policy):
        return None
    folder = Path(str(policy).removeprefix(HUMAN))
    runs = [folder] if (folder / PLAN).exists() else sorted(path.parent for path in folder.glob(f"*/{PLAN}"))
    if not runs:
        raise EtudeError(f"there is no study in {str(folder)!r}: make one with 'etude study --person NAME --out {folder}'")
    found: dict[str, tuple[Record, ...]] = {}
    for run in map(read_run, runs):
        if not run.plan.policy.startswith(HUMAN):
            raise EtudeError(
                f"{str(run.folder)!r} was played by {run.plan.policy}, not by people: give that policy, or replay:{run.folder}"
            )
        for record in (one for one in run.records if one.outcome != "error"):
            found[record.episode] = (*found.get(record.episode, ()), record)
    return AnsweredStudy(folder, found)
