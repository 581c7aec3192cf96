"""CoGeLoT's tables of lengths, from records."""

from __future__ import annotations

from etude.evaluation.record import Record
from etude.suites.suite import SUITES
from etude.suites.vima.tables import action_rows, length_rows


def played(episode: str, steps: int, outcome: str = "success") -> Record:
    return Record("", episode, "vanilla", "L1", outcome, steps)


def test_every_task_has_a_column_with_the_fewest_and_the_most_actions_that_solved_it():
    taken = [("L1#0", 1), ("L1#1", 4), ("L2#0", 2)]
    records = [played(f"vima/rearrange@{place}", steps) for place, steps in taken]
    records += [played("vima/rearrange@L1#2", 10, "failure"), played("vima/rearrange@L1#0+paraphrase", 9), played("vima/rotate@L1#0", 1)]
    fewest, published, most, _ = action_rows({"vanilla": records})
    assert list(fewest) == ["actions", *(f"T{k}" for k in range(1, 18))] == list(published)
    assert (fewest["T4"], most["T4"], published["T17"], published["T8"]) == (1, 4, 3, None)
    assert fewest["T3"] == most["T3"] == 1 and fewest["T1"] is None
    assert action_rows({"vanilla": []}) == []


def test_lengths_of_instructions_follow_what_was_done_to_them():
    names = [f"vima/{task}@L1#0" for task in ("visual_manipulation", "rotate", "novel_noun")]
    records = [played(name + how, 1) for how in ("", "+gobbledygook_words", "+gobbledygook_tokens") for name in names]
    records.append(played("vima/rotate@L1#1", 1))  # one of each task and level counts
    original, tokens, words = length_rows({"vanilla": records})
    assert [row["episodes"] for row in (original, tokens, words)] == [3, 3, 3]
    assert original["words"] == words["words"] == "9.0 ± 5.0"  # 6, 5 and 16, with a word for each picture
    assert original["tokens"] == tokens["tokens"]  # which is what the perturbation promises
    assert float(words["tokens"].split()[0]) > float(original["tokens"].split()[0])
    assert original["words, published"] == "12.9 ± 7.6"


def test_a_run_of_tasks_that_are_gone_can_still_be_laid_out():
    gone = {"vanilla": [played("vima/dance@L1#0", 3), played("vima/rotate@L1#0?mistakes=none", 1)]}
    actions, lengths = SUITES["vima"].tables()
    assert actions.rows(gone)[0]["T3"] == 1 and lengths.rows(gone) == []
