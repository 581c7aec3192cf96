"""Finding things by their looks: where they are seen, and that this is learned from pictures and from words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from controls import SOURCE, recipe

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")

from etude.envs.observer import Observer  # noqa: E402
from etude.envs.simulation import Simulation  # noqa: E402
from etude.learn.control import PICTURE_TOKENS, Shaking, demonstrated  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.likeness import TRAITS, Likeness, found_shares, likeness_losses, sought_in  # noqa: E402
from etude.learn.models.tokens import FEATURES  # noqa: E402
from etude.learn.spots import SOUGHT, UNSEEN, spots, things_shown  # noqa: E402
from etude.library import episode  # noqa: E402
from etude.prompts.instruction import Instruction, ObjectPicture, TexturePicture, Words  # noqa: E402
from etude.scene.scene import Body, Scene  # noqa: E402

torch.set_num_threads(1)
SIDE = 4  # parts along each side of a toy's picture


def scene_of(*bodies):
    return Scene(entities=tuple(Body(f"{texture} {shape} {k}", shape, texture) for k, (shape, texture) in enumerate(bodies)))


def test_a_picture_shows_the_one_thing_that_looks_so():
    scene = scene_of(("cube", "wood"), ("cube", "tiles"), ("disc", "wood"))
    parts = (
        Words("Put "), ObjectPicture("the tiles cube", "cube", texture="tiles"), Words(" on "), ObjectPicture("a disc", "disc"),
        Words(" by "), ObjectPicture("a cube", "cube"), TexturePicture("tiles", "tiles"), TexturePicture("wood", "wood"),
    )  # fmt: skip
    assert things_shown(Instruction(parts), scene) == ("tiles cube 1", "wood disc 2", "", "tiles cube 1")  # the fifth is not looked for


def test_a_spot_is_in_the_middle_of_what_is_seen():
    masks = np.zeros((2, 32, 320), np.uint16)
    masks[0, 10:13, 20:25] = 7
    masks[1, 4:7, 300:303] = 7  # in a wide picture
    found = spots(masks, {"a": 7, "b": 8}, ("b", "", "a"))
    assert found.shape == (SOUGHT, 2, 2) and found[2].tolist() == [[22, 11], [301, 5]]
    assert (found[[0, 1, 3]] == UNSEEN).all()


@pytest.mark.parametrize("told", ["multimodal", "text"])
def test_spots_are_kept_with_looks(told):
    name, source = "clevrskills/pick@train#1", replace(SOURCE, tasks=("pick",), shaking=Shaking(0.0), told=told)
    one = demonstrated(name, source)
    assert one.spots.shape == (len(one.felt), SOUGHT, len(source.cameras), 2)
    found = episode(name)
    simulation = Simulation(found.under("ee_delta"))
    observer = Observer(simulation, source.cameras, (32, 32), ("rgb",))
    observer.look()
    (thing,) = things_shown(found.instruction, found.scene)
    column, row = one.spots[0, 0, 0]
    near = observer.segmentations["base"][row - 1 : row + 2, column - 1 : column + 2]
    assert thing == found.goal.thing and (near == simulation.world.segmentation_ids()[thing]).any()
    assert (one.spots[:, 1:] == UNSEEN).all()


def test_what_is_sought_are_the_first_pictures_in_their_order():
    traits = torch.eye(6)
    begins = [1 + PICTURE_TOKENS * k for k in range(6)]
    rows = torch.full((2, begins[-1] + PICTURE_TOKENS), -1)
    for k, begin in enumerate(begins[:5]):
        rows[0, begin : begin + PICTURE_TOKENS] = torch.arange(PICTURE_TOKENS) + PICTURE_TOKENS * k
    rows[1, 3 : 3 + PICTURE_TOKENS] = torch.arange(PICTURE_TOKENS) + PICTURE_TOKENS * 5
    found = sought_in(rows, traits)
    assert torch.equal(found[0], traits[:SOUGHT])
    assert torch.equal(found[1, 0], traits[5]) and not found[1, 1:].any()


def test_a_loss_is_small_where_it_is_found_and_counts_what_is_seen_alone():
    alike = torch.zeros(2, SOUGHT, SIDE, SIDE)
    alike[0, 0, 1, 2] = 9.0
    there = torch.full((1, SOUGHT, 2, 2), UNSEEN, dtype=torch.int16)
    assert likeness_losses(alike, there).tolist() == [0.0]
    there[0, 0, 0] = torch.tensor([17, 9])  # column and row: the cell in row 1 and column 2
    assert float(likeness_losses(alike, there)) < 0.01
    there[0, 0, 0] = torch.tensor([9, 17])
    assert float(likeness_losses(alike, there)) > 5.0
    there[0, 1, 1] = torch.tensor([0, 0])  # seen by the other camera, where all is alike
    assert float(likeness_losses(alike, there)) == pytest.approx((9.0 + np.log(SIDE**2)) / 2, abs=0.1)


def test_how_much_is_found_is_counted_among_what_is_seen():
    alike = torch.zeros(3, SOUGHT, SIDE, SIDE)
    alike[:, 0, 1, 2], alike[:, 1, 3, 0] = 1.0, 1.0
    there = torch.full((3, SOUGHT, 1, 2), UNSEEN, dtype=torch.int16)
    there[0, 0, 0], there[0, 1, 0] = torch.tensor([17, 17]), torch.tensor([25, 1])  # one beside the right part, one far from it
    there[1, 1, 0] = torch.tensor([1, 25])
    found = found_shares(alike, there)
    assert found[:2].tolist() == [0.5, 1.0] and found[2].isnan()


@pytest.mark.parametrize("reads", [False, True])
def test_what_things_look_like_is_learned_from_pictures_and_from_words(reads):
    torch.manual_seed(0)
    width, kinds = 32, 10
    looks, words = torch.randn(kinds, FEATURES), torch.randn(kinds, width)
    model = Likeness(width, 1, reads)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    def drawn(count):
        shown = torch.stack([torch.randperm(kinds)[:5] for _ in range(count)])  # five things in every picture
        cells = torch.stack([torch.randperm(SIDE**2)[:5] for _ in range(count)])
        maps = 0.3 * torch.randn(count, FEATURES, SIDE**2)
        maps.scatter_(2, cells[:, None].expand(-1, FEATURES, -1), looks[shown].transpose(1, 2))
        if reads:  # the first word names it, the second another thing
            sought = model.named(words[shown[:, :2]] + torch.tensor([0.0, 1.0])[:, None], torch.ones(count, 2, dtype=torch.bool))
        else:
            alone = 0.3 * torch.randn(count, FEATURES, 9)
            alone[:, :, 4] = looks[shown[:, 0]]
            sought = model.traits(alone.unflatten(2, (3, 3)))[:, None].expand(-1, SOUGHT, -1)
        _, alike = model(maps.unflatten(2, (SIDE, SIDE)), sought)
        spot = torch.full((count, SOUGHT, 1, 2), UNSEEN, dtype=torch.int16)
        spot[:, 0, 0, 0], spot[:, 0, 0, 1] = cells[:, 0] % SIDE * 8, cells[:, 0] // SIDE * 8
        return alike, spot, cells[:, 0]

    for _ in range(150):
        alike, spot, _ = drawn(32)
        likeness_losses(alike, spot).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    alike, _, cells = drawn(200)
    assert float((alike[:, 0].flatten(1).argmax(1) == cells).float().mean()) > 0.9


def test_who_is_shown_nothing_or_does_not_point_looks_for_nothing():
    for settings, reads in ((("data.source.told=text",), True), ((), False)):
        model = kind_of(made := recipe("frame", *settings)).model(made)
        assert model.likeness.reads == reads and model.likeness.into.out_channels == TRAITS
    made = recipe("frame", "model.pointing=false")
    assert kind_of(made).model(made).likeness is None
