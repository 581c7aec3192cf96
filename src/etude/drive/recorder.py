"""Brings a dataset up to date with what was driven: ``python -m etude.drive.recorder FOLDER [MODULE…]``, modules being plug-ins.

It runs beside the driving, in a process of its own, and needs nothing but the folder: whatever ends it, the next one goes on.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import numpy as np

from etude.datasets.card import PERSON, TakeCount, card
from etude.datasets.demos import FACTS, FORMATS
from etude.datasets.lerobot import write_json
from etude.datasets.take import read_take, write_take
from etude.datasets.taking import performed
from etude.drive.driven_set import (
    FORMAT,
    OUTPUTS,
    WORK,
    WRITTEN,
    DrivenSetting,
    driven_take_file,
    kept_file,
    kept_in,
    locked,
    setting_of,
    written,
)
from etude.drive.session import DrivenEpisode
from etude.evaluation.plan import Plan
from etude.evaluation.store import write_whole
from etude.names import EtudeError
from etude.plugins import load_all, named

RECORDER_LOCK, LOG, NEW, OLD = "recorder.lock", "recorder.log", "new", "old"
LOOK = 0.2  # seconds between two looks whether another recorder has ended


def bring_up_to_date(folder: Path) -> list[str]:
    """Record what has no take yet, and write the dataset where it does not hold all of them; until there is no more to do.

    Gives a line for each episode that could not be recorded; it stays where it is, and is tried again another time.
    """
    setting = setting_of(folder)
    if setting is None:
        raise EtudeError(f"{str(folder)!r} holds nothing that was driven")
    with _alone(folder):
        failed: dict[int, str] = {}
        while True:
            kept = kept_in(folder)
            for number, driven in kept.items():
                if number not in failed and not driven_take_file(folder, number).exists():
                    try:
                        _record(folder, number, driven, setting)
                    except EtudeError as error:
                        failed[number] = f"{driven.episode.name} could not be recorded: {error}"
            ready = {number: driven for number, driven in kept.items() if number not in failed}
            if ready and written(folder) != len(ready):
                _write(folder, setting, ready)
            if set(kept) == {int(path.stem) for path in kept_file(folder, 0).parent.glob("*.json")}:
                return list(failed.values())


def _alone(folder: Path) -> IO[bytes]:
    """Wait until no other recorder is at work: one may be left of a program that was killed."""
    while True:
        try:
            return locked(folder / WORK / RECORDER_LOCK)
        except BlockingIOError:
            time.sleep(LOOK)


def _record(folder: Path, number: int, driven: DrivenEpisode, setting: DrivenSetting) -> None:
    words = (("", ""),) * len(driven.actions)
    take = performed(driven.episode, np.zeros((0, 7), np.float32), driven.actions, words, setting.spec(), driven.policy, not driven.solved)
    write_take(take, driven_take_file(folder, number))


def _write(folder: Path, setting: DrivenSetting, kept: dict[int, DrivenEpisode]) -> None:
    """Write the dataset beside the one that is there, then put it in its place."""
    work = folder / WORK
    new, old = work / NEW, work / OLD
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    writer, count = FORMATS[FORMAT].make(new, setting.spec()), TakeCount()
    for number in kept:
        take = read_take(driven_take_file(folder, number))
        writer.add(take)
        count.add(take)
    writer.finish()
    who = ", ".join(dict.fromkeys(driven.policy for driven in kept.values()))
    command = "\n".join(dict.fromkeys(line for driven in kept.values() for line in driven.command.splitlines()))
    plan = Plan(who, tuple(dict.fromkeys(count.names))).digest
    facts = count.facts(command, who, plan, setting.cameras, source=PERSON)
    write_json(new / FACTS, facts)
    (new / "README.md").write_text(card(FORMAT, facts), encoding="utf-8")
    (work / WRITTEN).unlink(missing_ok=True)  # until all is in its place, the set is not whole
    shutil.rmtree(old, ignore_errors=True)
    old.mkdir()
    for name in OUTPUTS:
        if (folder / name).exists():
            (folder / name).rename(old / name)
        (new / name).rename(folder / name)
    write_whole(work / WRITTEN, str(len(kept)))
    shutil.rmtree(old)
    new.rmdir()


class Recorder:
    """Recorders of one folder, started when there is something to do and one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted = False

    @property
    def busy(self) -> bool:
        """Is one at work?"""
        return self._process is not None

    def want(self) -> None:
        """There is something to do."""
        self._wanted = True
        self.look()

    def look(self) -> str:
        """Start the next one where it is time; gives what the one before could not do, in a line, or nothing."""
        told = ""
        if self._process is not None and self._process.poll() is not None:
            if self._process.returncode:
                lines = (self._folder / WORK / LOG).read_text(encoding="utf-8", errors="replace").split("\n")
                told = next((line for line in reversed(lines) if line.strip()), f"the recorder ended with {self._process.returncode}")
            self._process = None
        if self._process is None and self._wanted:
            self._wanted = False
            command = [sys.executable, "-m", "etude.drive.recorder", str(self._folder), *named()]
            with (self._folder / WORK / LOG).open("wb") as log:
                # a session of its own: an interrupt from the keyboard is not meant for it
                self._process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
                )
        return told

    def finish(self) -> str:
        """Wait until all is done; gives what could not be."""
        told = ""
        while self.busy or self._wanted:
            told = self.look() or told
            if self._process is not None:
                self._process.wait()
        return told


def _main(folder: str, *modules: str) -> int:
    load_all(modules)
    try:
        failed = bring_up_to_date(Path(folder))
    except (EtudeError, OSError) as error:
        failed = [str(error)]
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
