"""Gobbledygook of the pieces of a tokenizer on the user's disk: its own name, its own episodes, and one line where it cannot be had."""

from __future__ import annotations

import json
import os
import sys

import pytest
from typer.testing import CliRunner

from etude.api import evaluate
from etude.cli import _imported
from etude.cli.app import app
from etude.evaluation.choosing import choose
from etude.library import episode
from etude.names import EtudeError, rng
from etude.perturb.gobbledygook import asked_for, nonsense, use_pieces
from etude.perturb.perturbation import PERTURBATIONS, known_perturbations
from etude.perturb.tokenizer import PIECES, fingerprint, given_tokenizer, local_tokenizer, tokenizer_file
from etude.suites.vima.tables import length_rows

SYLLABLES = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
NAME = "vima/rotate@L1#7"


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch):
    """Whatever a test gives is taken away after it."""
    monkeypatch.setenv(PIECES, "")
    known = set(known_perturbations())
    yield
    for name in set(PERTURBATIONS) - known:
        del PERTURBATIONS[name]


def unigram(folder):
    """A tokenizer of the form of T5's: a unigram model with a blank sign, and special tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    pieces += [(p, -3.0) for p in SYLLABLES] + [("▁" + p, -3.0) for p in SYLLABLES[:20]]
    pieces += [(letter, -9.0) for letter in "abcdefghijklmnopqrstuvwxyz"]
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=2))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.decoder = tokenizers.decoders.Metaspace()
    made.add_special_tokens(["<pad>", "</s>", "<unk>", "<extra_id_0>"])
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    return folder


def sentencepiece(folder):
    library = pytest.importorskip("sentencepiece")
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "text.txt"
    text.write_text("\n".join(f"{a}{b} {b}{c}{a} {c}" for a in SYLLABLES for b in SYLLABLES[:9] for c in SYLLABLES[5:9]))
    library.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "spiece"), vocab_size=120, minloglevel=2, hard_vocab_limit=False
    )
    return folder


@pytest.mark.parametrize("made", [unigram, sentencepiece])
def test_every_word_becomes_as_many_pieces_of_the_given_tokenizer(made, tmp_path):
    name = use_pieces(made(tmp_path / "t"))
    assert name == f"gobbledygook_tokens:{fingerprint(tokenizer_file(tmp_path / 't').resolve())}"
    tokenizer = given_tokenizer()
    special = {tokenizer.encode(text)[0] for text in ("</s>",) if len(tokenizer.encode(text)) == 1}
    assert not special & set(tokenizer.vocabulary) and len(tokenizer.vocabulary) > 50
    plain, other = (episode(n).instruction for n in (NAME, f"{NAME}+{name}"))
    spoken = [[i.template(" "), *(p.words for p in i.pictures())] for i in (plain, other)]
    for a, b in zip(*spoken, strict=True):
        assert sorted(len(tokenizer.encode(word)) for word in a.split()) == sorted(len(tokenizer.encode(word)) for word in b.split())
    assert episode(f"{NAME}+{name}").instruction == other != episode(f"{NAME}+gobbledygook_tokens").instruction


def test_a_plan_that_asks_for_tokens_gets_those_of_the_given_pieces(tmp_path):
    name = use_pieces(unigram(tmp_path / "t"))
    chosen = choose("vima", task=("rotate",), split=("L1",), episodes=1, perturb="gobbledygook_tokens+mask_visual")
    assert chosen[-1] == f"vima/rotate@L1#0+{name}+mask_visual"
    assert asked_for("gobbledygook_words") == "gobbledygook_words"


def test_workers_know_the_pieces_and_tables_count_them(tmp_path):
    name = use_pieces(unigram(tmp_path / "t"))
    choice = {"task": "rotate", "split": "L1", "episodes": 1, "perturb": "gobbledygook_tokens"}
    run = evaluate("noop", "vima", out=tmp_path / "run", workers=1, **choice)
    assert [(r.outcome, r.error) for r in run.records if name in r.episode] == [("failure", None)]
    assert name in json.loads((tmp_path / "run/run.json").read_text())["perturbations"]
    rows = {row["instructions"]: row for row in length_rows({"vanilla": run.records})}
    assert rows[name]["tokens, published"] == "20.2 ± 13.6" and rows[name]["tokens"] == rows["original"]["tokens"]
    use_pieces(_changed(tmp_path / "t"))
    with pytest.raises(EtudeError, match="holds a run of 2 other episodes"):
        evaluate("noop", "vima", out=tmp_path / "run", workers=1, **choice)


def _changed(folder):
    """The same tokenizer but for one piece."""
    data = json.loads((folder / "tokenizer.json").read_text())
    data["model"]["vocab"][10][0] = "zzz"
    other = folder.with_name("changed")
    other.mkdir()
    (other / "tokenizer.json").write_text(json.dumps(data))
    return other


def test_without_its_pieces_a_name_says_what_it_needs():
    with pytest.raises(EtudeError, match=r"made with pieces '0123abcd'; none are given: name their tokenizer with --pieces DIR"):
        episode(f"{NAME}+gobbledygook_tokens:0123abcd")


def test_the_command_line_takes_them_anywhere_and_refuses_in_one_line(tmp_path):
    with pytest.raises(EtudeError, match="there is no tokenizer '/nowhere/t5'"):
        _imported(["show", NAME, "--pieces", "/nowhere/t5"])
    with pytest.raises(EtudeError, match="--pieces needs the folder or file of a tokenizer"):
        _imported(["show", NAME, "--pieces"])
    with pytest.raises(EtudeError, match=r"holds no tokenizer; expected tokenizer\.json"):
        _imported([f"--pieces={tmp_path}", "show", NAME])
    (tmp_path / "words.txt").write_text("ba be bi")
    with pytest.raises(EtudeError, match=r"is not the file of a tokenizer; expected one that ends in \.json or \.model"):
        _imported(["--pieces", str(tmp_path / "words.txt")])
    assert os.environ[PIECES] == ""
    given = unigram(tmp_path / "t")
    assert _imported(["list", "--pieces", str(given), "vima"]) == ["list", "vima"]
    listed = CliRunner().invoke(app, ["list", "vima", "--json"])
    assert asked_for("gobbledygook_tokens") in listed.stdout


@pytest.mark.parametrize(("file", "library"), [("tokenizer.json", "tokenizers"), ("spiece.model", "sentencepiece")])
def test_a_library_that_is_not_installed_is_named(file, library, tmp_path, monkeypatch):
    (tmp_path / file).write_bytes(b"{}")
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(EtudeError, match=f"is read by {library}, which is not installed: pip install {library}"):
        use_pieces(tmp_path)


@pytest.mark.parametrize(("file", "library"), [("tokenizer.json", "tokenizers"), ("spiece.model", "sentencepiece")])
def test_a_file_that_is_no_tokenizer_is_refused_in_one_line(file, library, tmp_path):
    pytest.importorskip(library)
    (tmp_path / file).write_bytes(b"not a tokenizer")
    with pytest.raises(EtudeError, match=f"cannot be read by {library}"):
        use_pieces(tmp_path)


def test_nonsense_is_made_of_pieces_alone(tmp_path):
    tokenizer = local_tokenizer(tokenizer_file(unigram(tmp_path / "t")))
    for seed in range(20):
        word = nonsense("banana", tokenizer, rng(f"pieces/{seed}", "word"))
        assert len(tokenizer.encode(word)) == len(tokenizer.encode("banana")) and "<" not in word and "▁" not in word
