"""What only large datasets have: several files of a kind, and statistics of more than fits in memory."""

import numpy as np
import pytest
from demo_fixtures import taken

from etude.datasets import statistics
from etude.datasets.lerobot import LeRobotV3
from etude.datasets.reader import DatasetReader
from etude.datasets.replaying import replay
from etude.datasets.taking import RecordingSpec
from etude.datasets.validate import validate


@pytest.fixture(scope="module")
def takes():
    names = [f"clevrskills/{task}@train#{seed}" for task in ("pick", "touch") for seed in range(3)]
    return [taken(name, RecordingSpec(size=(32, 32))) for name in names]


def written(takes, folder, **limits):
    folder.mkdir()
    writer = LeRobotV3(folder, **limits)
    for take in takes:
        writer.add(take)
    writer.finish()
    return folder


def test_a_data_set_in_many_files_reads_as_one_in_few(takes, tmp_path):
    one = written(takes, tmp_path / "one")
    many = written(takes, tmp_path / "many", data_mb=0.01, video_mb=0.01)
    for kind in ("data", "videos/observation.images.base", "etude"):
        assert len(list((one / kind).rglob("file-*"))) == 1 and len(list((many / kind).rglob("file-*"))) > 2
    assert [d.where for d in validate(many).defects] == ["meta/etude.json"]  # which is not the writer's to write
    first, second = DatasetReader(one), DatasetReader(many)
    assert [s.length for s in first.spans] == [s.length for s in second.spans] == [t.length for t in takes]
    for k in range(len(takes)):
        assert np.array_equal(first.column("action", k), second.column("action", k))
        for a, b in zip(first.frames(k, "base"), second.frames(k, "base"), strict=True):
            assert np.array_equal(a, b)
    assert all(found.same for found in replay(many))


def test_a_tally_agrees_with_the_whole_and_stays_small(monkeypatch):
    values = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32)
    parts = np.split(values, [1, 70, 1000, 1003, 4000])

    def tallied():
        tally = statistics.ColumnStatistics()
        for part in parts:
            tally.add(part)
        return tally.stats()

    whole, exact = statistics.of_numbers(values), tallied()
    for name in statistics.NAMES:
        assert np.allclose(exact[name], whole[name], atol=1e-12)
    monkeypatch.setattr(statistics, "MOST", 1000)
    thinned = tallied()
    for name in ("min", "max", "mean", "std", "count"):
        assert thinned[name] == exact[name]
    for name in statistics.QUANTILES:
        assert np.allclose(thinned[name], np.quantile(values.astype(float)[::8], statistics.QUANTILES[name], axis=0))
