"""Training runs: stopped and gone on with, by steps or by the clock, from a stored set, alone and with others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from demo_fixtures import made, order  # noqa: E402
from refusing import refused, told  # noqa: E402
from toys import demonstrations  # noqa: E402

from etude.cli import main  # noqa: E402
from etude.datasets.taking import RecordingSpec  # noqa: E402
from etude.learn.checkpoint import load_model, save_model  # noqa: E402
from etude.learn.curve import CURVE, Curve, read_curve  # noqa: E402
from etude.learn.gpu_meter import GpuMeter  # noqa: E402
from etude.learn.header import NAME, metadata_in  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.stored import stored  # noqa: E402
from etude.learn.stream import GivenSamples  # noqa: E402
from etude.learn.train import Trainer, train  # noqa: E402
from etude.names import EtudeError  # noqa: E402

torch.set_num_threads(1)
TINY = (
    "data.start=2", "data.most=2", "data.fresh=0", "schedule.batch=4", "schedule.seed=5", "model.width=24", "model.heads=2",
    "model.layers=1", "model.prompt_layers=1", "model.dropout=0", "model.jitter=0",
)  # fmt: skip


def test_a_policy_can_be_trained_from_it(kept):
    trainer = Trainer(recipe_named("vima/objects-xattn", [*TINY, "schedule.steps=3"]))
    before = [p.detach().clone() for p in trainer.model.parameters()]
    list(train(trainer, GivenSamples(stored(kept))))
    assert trainer.done == 3 and any(not (a == b).all() for a, b in zip(before, trainer.model.parameters(), strict=True))


def command(kept, out, *more):
    settings = [part for setting in TINY for part in ("--set", setting)]
    return ["train", "vima/objects-xattn", "--data", str(kept), "--out", str(out), "--device", "cpu", *settings, *more]


def losses(out):
    return {point.step: point.loss for point in read_curve(out)}


def interrupted(capsys, monkeypatch, number, out, *arguments):
    """What the command says when this signal arrives after the curve has grown."""
    before = len(read_curve(out))

    def look(*_):
        if len(read_curve(out)) > before:
            os.kill(os.getpid(), number)
        else:
            signal.setitimer(signal.ITIMER_REAL, 0.05)

    monkeypatch.setattr(sys, "argv", ["etude", *arguments])
    old = signal.signal(signal.SIGALRM, look)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert ended.value.code == 130
    return capsys.readouterr().out


def test_a_run_that_is_interrupted_twice_has_the_curve_of_one_that_was_not(kept, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("etude.learn.train.EVERY", 2)
    long = command(kept, tmp_path / "run", "--steps", "100000")
    for number in (signal.SIGINT, signal.SIGTERM):
        said = interrupted(capsys, monkeypatch, number, tmp_path / "run", *long)
        last = max(losses(tmp_path / "run"))
        assert f"stopped after step {last}, which is saved" in said
    parts = losses(tmp_path / "run")
    assert list(parts) == sorted(parts) and len(parts) > 2
    recipe = recipe_named("vima/objects-xattn", [*TINY, "schedule.steps=100000", f"data.stored={kept}"])

    whole = train(Trainer(recipe), GivenSamples(stored(kept)), every=(1,))
    steps = {}
    for point in whole:
        steps[point.step] = point.loss
        if point.step == last:
            break
    firsts = dict(zip(parts, [0, *parts], strict=False))  # a point is the mean since the one before
    for step, loss in parts.items():
        assert loss == pytest.approx(sum(steps[k] for k in range(firsts[step] + 1, step + 1)) / (step - firsts[step]), abs=1e-5)


def test_who_is_told_to_end_while_the_last_state_is_written_writes_it(kept, tmp_path, capsys, monkeypatch):
    out, save = tmp_path / "run", Trainer.save

    def told_to_end_first(self, *given, **more):
        os.kill(os.getpid(), signal.SIGTERM)
        save(self, *given, **more)

    monkeypatch.setattr(Trainer, "save", told_to_end_first)
    monkeypatch.setattr(sys, "argv", ["etude", *command(kept, out, "--steps", "3")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130 and "stopped after step 3, which is saved" in capsys.readouterr().out
    assert json.loads(metadata_in((out / NAME).read_bytes(), out)["history"])["steps"] == 3


def test_by_the_clock_training_goes_on_where_schedule_and_stream_stood(tmp_path):

    recipe = recipe_named("vima/objects-xattn", [*TINY, "data.most=9", "data.source.tasks=rotate"])
    trainer, source = Trainer(recipe), GivenSamples(demonstrations())
    list(train(trainer, source, minutes=1e6, asked=lambda: trainer.done == 3))
    assert trainer.done == 3 and trainer.over > 0 and trainer.episodes == 9
    trainer.save(tmp_path, clock=True)
    again = Trainer(recipe)
    again.resume(tmp_path, clock=True)
    assert (again.over, again.next, again.episodes, again.drawn) == (trainer.over, source.next, 9, 12)
    over = again.over
    fresh = GivenSamples(demonstrations()[again.next :])
    (point,) = train(again, fresh, minutes=1e6, asked=lambda: again.done == 4)
    assert point.step == 4 and again.over > over and point.episodes > 9
    assert point.seen == pytest.approx(16 / point.episodes)


@pytest.mark.parametrize("left", ["an older policy", "half a policy", "no policy"])
def test_who_was_killed_between_state_and_policy_has_the_policy_in_the_end(kept, tmp_path, capsys, monkeypatch, left):
    out, arguments = tmp_path / "run", ["--steps", "2", "--validate", "0"]
    told(capsys, monkeypatch, *command(kept, out, *arguments))
    policy = out / NAME
    whole, parts = policy.read_bytes(), load_model(policy)[0].state_dict().keys()
    if left == "an older policy":
        model, recipe, _ = load_model(policy)
        save_model(policy, model, recipe, steps=1)
    elif left == "half a policy":
        policy.write_bytes(whole[:100])
    else:
        policy.unlink()
    told(capsys, monkeypatch, *command(kept, out, *arguments))
    history = json.loads(metadata_in(policy.read_bytes(), policy)["history"])
    assert history["steps"] == 2 and len(policy.read_bytes()) == len(whole)
    assert load_model(policy)[0].state_dict().keys() == parts


def test_two_processes_have_the_losses_of_one(kept, tmp_path, capsys, monkeypatch):

    arguments = ["--steps", "3", "--validate", "0"]
    told(capsys, monkeypatch, *command(kept, tmp_path / "one", *arguments))
    team = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "etude"]
    ended = subprocess.run([*team, *command(kept, tmp_path / "two", *arguments)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert list(one) == list(two) == [3] and two[3] == pytest.approx(one[3], abs=1e-3)
    assert ended.stdout.count("parameters; recipe") == 1


def test_points_after_the_state_that_is_gone_on_from_are_forgotten(tmp_path):
    trainer = Trainer(recipe_named("vima/objects-xattn", [*TINY, "schedule.steps=4"]))
    curve = Curve(tmp_path, 0)
    for point in train(trainer, GivenSamples(demonstrations()), every=(1,)):
        curve.add(point)
    with (tmp_path / CURVE).open("a") as file:
        file.write('{"step": 5, "lo')  # as of a process that was killed
    again = Curve(tmp_path, 2)
    assert [point.step for point in again.points] == [1, 2] == [point.step for point in read_curve(tmp_path)]


def test_how_idle_a_gpu_is_is_what_its_driver_says(tmp_path, monkeypatch):
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\n[ $2 = GPU-1 ] && printf '70\\n[N/A]\\n70\\n'\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    meter = GpuMeter("GPU-1")
    while (idle := meter.idle()) is None:
        pass
    meter.close()
    assert idle == pytest.approx(0.3)
    nothing = GpuMeter(None)
    assert nothing.idle() is None
    nothing.close()


def test_a_loss_that_is_no_number_ends_in_one_line():
    trainer = Trainer(recipe_named("vima/objects-xattn", [*TINY, "schedule.steps=2"]))
    with torch.no_grad():
        trainer.model.query.fill_(float("nan"))
    with pytest.raises(EtudeError, match=r"no number any more at step 2.*schedule\.rate"):
        list(train(trainer, GivenSamples(demonstrations())))


def test_a_set_of_another_suite_or_without_episodes_is_refused(kept, tmp_path, capsys, monkeypatch):

    other = made(order(["clevrskills/pick@train#0"], "oracle", RecordingSpec(size=(64, 64))), tmp_path / "other")
    assert "clevrskills" in refused(capsys, monkeypatch, *command(other, tmp_path / "run"))
    assert "nowhere" in refused(capsys, monkeypatch, *command(tmp_path / "nowhere", tmp_path / "run"))
