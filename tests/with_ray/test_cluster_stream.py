"""Streams that the machines of a real Ray cluster play, one of which is lost on the way."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from machines import DOOMED, SMALL, patiently
from numbered import Ending, Numbers, Three
from toys import SOURCE, demonstrations

from etude.evaluation.ray_team import RaySettings
from etude.learn.cluster_stream import ClusterStream
from etude.learn.packing import packed
from etude.learn.saved_stream import save_stream
from etude.learn.stream_plans import StrokePlan
from etude.names import EtudeError

pytestmark = pytest.mark.ray


def test_a_cluster_delivers_what_this_machine_plays_in_the_same_order(nodes: Any) -> None:
    with ClusterStream(SOURCE, RaySettings(nodes.address), first=1) as stream:
        arrived = list(itertools.islice(stream, 4))
        assert stream.workers == 1
    for (number, name, one), (number_here, name_here, one_here) in zip(arrived, demonstrations()[1:], strict=False):
        assert (number, name) == (number_here, name_here)
        assert packed(one) == packed(one_here)


def test_a_machine_that_is_lost_with_its_episodes_costs_none_and_changes_no_order(nodes: Any, tmp_path: Path) -> None:
    mark = tmp_path / "begun"
    with ClusterStream(Numbers("vima", mark=str(mark)), RaySettings(nodes.address)) as stream:
        doomed = patiently(nodes.add_node, **SMALL, env_vars={DOOMED: "1"})
        arrived: list[int] = []
        while not mark.exists():
            arrived += [sample for _, _, sample in stream.ready(0.2)]
        before = len(arrived)
        nodes.remove_node(doomed, allow_graceful=False)
        while len(arrived) < before + 40:  # more than both had been given
            arrived += [sample for _, _, sample in stream.ready(None)]
    assert arrived == list(range(len(arrived)))
    assert not stream.missing


def test_a_stream_with_an_end_ends_and_two_trainers_share_it_without_one_in_common(nodes: Any) -> None:
    found = []
    for first in range(2):
        with ClusterStream(Three("vima"), RaySettings(nodes.address, workers=1), first, 2) as stream:
            found.append([sample for _, _, sample in stream])
            assert stream.ended
    assert found == [[0, 2], [1]]


def test_an_episode_that_ends_its_workers_is_named_in_one_line(nodes: Any) -> None:
    source = Ending("vima")
    with pytest.raises(EtudeError) as refused, ClusterStream(source, RaySettings(nodes.address)) as stream:
        list(stream)
    assert str(refused.value).startswith(f"{source.name(4)} was not played: the worker ended, 3 times in a row: ")
    assert "\n" not in str(refused.value)


def test_a_stream_that_a_cluster_saves_is_the_one_that_this_machine_saves_byte_for_byte(nodes: Any, tmp_path: Path) -> None:
    plan, told = StrokePlan(SOURCE, 3, perturbs=("", "paraphrase")), []
    for workers in (RaySettings(nodes.address), 1):
        folder = tmp_path / type(workers).__name__
        assert save_stream(plan, folder, workers, lambda done, of: told.append((done, of))) == 0
    there, here = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in sorted(tmp_path.iterdir()))
    assert there == here and len(here) == 3
    assert told == [(0, 1), (1, 1)] * 2
    save_stream(plan, tmp_path / "int", RaySettings(nodes.address), lambda done, of: told.append((done, of)))
    assert told[4:] == [(1, 1)]  # all of it was there
