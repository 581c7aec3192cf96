"""A name stands for the same episode for as long as a protocol lasts: a thousand ids and more from before must come out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from etude.library import find

IDS = (Path(__file__).parent / "data" / "ids.txt").read_text().split()


def test_the_list_is_long_and_every_id_is_another():
    assert len(set(IDS)) == len(IDS) == 1068


@pytest.mark.parametrize("suite", sorted({name.partition("/")[0] for name in IDS}))
def test_names_give_the_ids_they_gave_before(suite):
    before = [name for name in IDS if name.startswith(f"{suite}/")]
    assert [find(name.partition("~")[0]).id for name in before] == before
