"""The table of replaced seeds of a suite's frozen lists (:mod:`etude.suites.replacing`), printed from runs of the oracle over them.

What has to be played before it is complete is named::

    etude evaluate --plan SUITE-PLAN --policy oracle --out runs/oracle
    python -m etude.evaluation.replacing runs/oracle --missing missing.txt
    etude evaluate --plan missing.txt --policy oracle --out runs/more        # and so on, until nothing is missing
    python -m etude.evaluation.replacing runs/oracle runs/more --missing missing.txt
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from etude.evaluation.store import read_run
from etude.names import EpisodeName, EtudeError
from etude.suites.replacing import NEXT, replaced_key


def replacements(played: Iterable[tuple[EpisodeName, bool]]) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """The table for episodes that were played, each solved or not; and the names that are to be played before it is complete."""
    outcomes: dict[tuple[str, int], dict[int, tuple[EpisodeName, bool]]] = {}
    for name, solved in played:
        times, seed = divmod(name.seed, NEXT)
        outcomes.setdefault((replaced_key(name), seed), {})[times] = name, solved
    table: dict[str, tuple[int, ...]] = {}
    missing = []
    for (key, seed), tried in outcomes.items():
        times = 0
        while times in tried and not tried[times][1]:
            times += 1
        if times not in tried:
            missing.append(str(replace(next(iter(tried.values()))[0], seed=seed + NEXT * times)))
        if times:
            table[key] = (*table.get(key, ()), *[seed] * times)
    return {key: tuple(sorted(seeds)) for key, seeds in table.items()}, missing


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit status is 1 as long as something is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m etude.evaluation.replacing", description="Print which seeds of frozen lists are replaced."
    )
    parser.add_argument("run", nargs="+", type=Path, help="a folder with results of the oracle")
    parser.add_argument("--missing", type=Path, help="where the names go that are still to be played; printed to stderr unless given")
    given = parser.parse_args(arguments)
    try:
        records = [record for folder in given.run for record in read_run(folder).records if record.outcome != "error"]
    except EtudeError as error:
        print(error, file=sys.stderr)
        return 2
    table, missing = replacements((EpisodeName.parse(record.episode), record.success) for record in records)
    for key, seeds in table.items():
        print(f'    "{key}": {seeds!r},')
    names = "".join(f"{name}\n" for name in missing)
    if given.missing is not None:
        given.missing.write_text(names, encoding="utf-8")
    else:
        print(names, end="", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
