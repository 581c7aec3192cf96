"""Pointing: what is told by tokens becomes a place, and the way there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from controls import SOURCE, recipe

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")

from etude.learn.control import TIP, Shaking, demonstrated  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.pointer import HINTS, STRIDES, HandPointer, Pointed, axes_of, turns_to  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.names import EtudeError  # noqa: E402
from etude.pose import Pose, axis_quat, multiply  # noqa: E402

WIDTH, TOKENS, FELT = 32, 6, 12 + TIP
torch.set_num_threads(1)


def felt_at(positions, rotations):
    """Proprioceptions of tips in these poses."""
    felt = torch.zeros(len(positions), FELT)
    felt[:, -TIP : -TIP + 3] = torch.as_tensor(positions, dtype=torch.float32)
    felt[:, -TIP + 3 : -TIP + 7] = torch.as_tensor(rotations, dtype=torch.float32)
    return felt


def turned(generator, count):
    """Random unit quaternions, wxyz."""
    return torch.nn.functional.normalize(torch.randn(count, 4, generator=generator), dim=1)


def test_axes_are_those_of_a_pose():
    for rotation in turned(torch.Generator().manual_seed(0), 5):
        pose = Pose((0.0, 0.0, 0.0), tuple(rotation.tolist()))
        columns = np.stack([pose.point(*axis) for axis in np.eye(3)], 1)
        assert np.allclose(axes_of(rotation[None])[0].numpy(), columns, atol=1e-6)


@pytest.mark.parametrize("angle", [0.0, 1e-4, 0.3, 3.0])
def test_a_turn_is_told_in_the_frame_of_what_turns(angle):
    begin = tuple(turned(torch.Generator().manual_seed(1), 1)[0].tolist())
    end = multiply(begin, axis_quat((0.0, 0.6, 0.8), angle))
    found = turns_to(torch.tensor([end]), axes_of(torch.tensor([begin])))[0]
    assert np.allclose(found.numpy(), np.array([0.0, 0.6, 0.8]) * angle, atol=2e-4)


def test_the_way_is_told_from_the_tip_and_no_longer_than_a_step():
    down = (0.0, 1.0, 0.0, 0.0)  # the tip looks down: its z is the world's −z
    felt = felt_at([(0.1, 0.2, 0.3)], [down])
    axes = axes_of(felt[:, -TIP + 3 : -TIP + 7])
    place = torch.tensor([[[0.1, 0.2, 0.1], [0.5, 0.5, 0.5]]])
    found = Pointed(place, torch.tensor([[0.0, -30.0]]), torch.zeros(1, 3), felt[:, -TIP : -TIP + 3], axes)
    hints = found.hints()[0]
    assert hints.shape == (HINTS,) and torch.allclose(found.place, place[:, 0], atol=1e-6)
    near, steps = hints[:3], hints[3 : 3 + 3 * len(STRIDES)].view(-1, 3)
    assert torch.allclose(near, torch.tensor([0.0, 0.0, 0.4]), atol=1e-6)  # 0.2 m ahead of it, in units of half a metre
    assert torch.allclose(steps.norm(dim=1), torch.ones(len(STRIDES)), atol=1e-5)
    assert torch.allclose(hints[12:15], torch.tensor([0.0, 0.0, -1.0]), atol=1e-6)  # in the world it is down


def test_of_two_places_the_likelier_is_taken_and_not_their_middle():
    felt = felt_at([(0.0, 0.0, 0.0)], [(1.0, 0.0, 0.0, 0.0)])
    places = torch.tensor([[[-0.3, 0.0, 0.0], [0.3, 0.0, 0.0], [0.31, 0.0, 0.0]]])
    likely = torch.log_softmax(torch.tensor([[1.0, 0.9, 0.8]]), 1)
    found = Pointed(places, likely, torch.zeros(1, 3), felt[:, -TIP : -TIP + 3], axes_of(felt[:, -TIP + 3 : -TIP + 7]))
    assert torch.allclose(found.place, places[:, 0], atol=1e-6)


def test_a_pointer_learns_to_point_at_the_token_that_is_sought():
    torch.manual_seed(0)
    pointer, generator = HandPointer(WIDTH), torch.Generator().manual_seed(0)
    codes = torch.randn(TOKENS, WIDTH, generator=generator)  # where a token stands
    spots = torch.rand(TOKENS, 3, generator=generator) - 0.5
    marks = torch.randn(4, WIDTH, generator=generator)
    optimizer = torch.optim.AdamW(pointer.parameters(), lr=3e-3)

    def drawn(count):
        worn = torch.stack([torch.randperm(TOKENS, generator=generator)[:4] for _ in range(count)])  # which token wears which mark
        tokens = codes.expand(count, -1, -1).clone()
        tokens[torch.arange(count)[:, None], worn] += marks
        sought = torch.randint(4, (count,), generator=generator)
        aims = torch.cat([spots[worn[torch.arange(count), sought]], turned(generator, count)], 1)
        return pointer(marks[sought], tokens, felt_at(torch.zeros(count, 3), turned(generator, count))), aims

    before, aims = drawn(256)
    off = before.off(aims).detach().median()
    for _ in range(1000):
        pointed, aims = drawn(64)
        pointed.losses(aims).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    after, aims = drawn(256)
    assert float(off) > 0.2 and float(after.off(aims).detach().median()) < 0.04


def test_an_aim_is_where_the_hand_has_come_to_when_something_else_is_begun():
    one = demonstrated("clevrskills/pick@train#1", replace(SOURCE, tasks=("pick",), shaking=Shaking(0.0)))
    tips = one.felt[:, -TIP : -TIP + 7]
    closed = one.labels[:, -1] > 0
    begin = int(closed.argmax())  # until then it goes to the thing, and after that it lifts it
    assert 5 < begin < len(closed) - 3
    assert one.aims.shape == (len(one.felt), 7) and (one.aims[:begin] == tips[begin]).all()
    assert (one.aims[begin:] == tips[-1]).all()


def test_who_does_not_point_is_smaller_and_chunks_never_do():
    sizes = [
        sum(p.numel() for p in kind_of(made).model(made).parameters())
        for made in (recipe("frame"), recipe("frame", "model.pointing=false"))
    ]
    assert sizes[1] < sizes[0]
    assert not recipe_named("himan/chunks").model.pointing
    with pytest.raises(EtudeError, match=r"model\.pointing"):
        recipe_named("himan/chunks", ["model.pointing=true"])
