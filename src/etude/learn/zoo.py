"""The zoo: trained policies that come as packages. A package names itself in the entry points ``etude.zoo``; it holds, for each policy,
weights ``NAME.onnx`` and a card ``NAME.json``. They play without torch."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.resources
from collections.abc import Iterator
from importlib.resources.abc import Traversable

from etude.learn.cards import ZooCard
from etude.learn.policy import ENCODERS, refuse_unexported
from etude.learn.recipes import Recipe
from etude.names import EtudeError, parse_json, unknown
from etude.policies.contract import Contract
from etude.policies.halves import Encoder, Halves, Inference

GROUP = "etude.zoo"


def zoo_cards() -> dict[str, tuple[ZooCard, Traversable]]:
    """Every policy of the zoos that are installed, by its name: its card, and the folder it lies in."""
    found: dict[str, tuple[ZooCard, Traversable]] = {}
    for folder in _folders():
        for card in cards_in(folder):
            if card.name in found:
                raise EtudeError(f"two zoos have a policy {card.name!r}: {found[card.name][1]} and {folder}; uninstall one of them")
            found[card.name] = card, folder
    return dict(sorted(found.items()))


def _folders() -> Iterator[Traversable]:
    for module in dict.fromkeys(entry.module for entry in importlib.metadata.entry_points(group=GROUP)):
        try:
            yield importlib.resources.files(module)
        except ImportError as error:
            raise EtudeError(f"the zoo {module!r} cannot be loaded: {error}; install it anew") from None


def cards_in(folder: Traversable) -> list[ZooCard]:
    """The cards that lie in a folder, by name."""
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return [ZooCard.from_data(_parsed(file), str(file)) for file in files]


def _parsed(file: Traversable) -> object:
    try:
        return parse_json(file.read_text(encoding="utf-8"))
    except (EtudeError, UnicodeDecodeError) as error:
        raise EtudeError(f"{file} is no card of a trained policy: {error}") from None


def weights_of(card: ZooCard, folder: Traversable) -> bytes:
    """The weights, if they are those the card tells of."""
    file = folder / f"{card.name}.onnx"
    try:
        data = file.read_bytes()
    except OSError as error:
        raise EtudeError(f"the weights of zoo:{card.name} cannot be read: {file}: {error.strerror or error}") from None
    if weights_digest(data) != card.digest:
        raise EtudeError(f"the weights of zoo:{card.name} are damaged: {file} is not what its card tells of; install the zoo anew")
    return data


def weights_digest(data: bytes) -> str:
    """By which a card knows weights."""
    return hashlib.sha256(data).hexdigest()


def zoo_halves(name: str) -> Halves:
    """The halves of a policy of the zoo. Every worker decides for itself."""
    known = zoo_cards()
    if not known:
        raise EtudeError(f"there is no policy 'zoo:{name}': no zoo is installed here; pip install etude-zoo")
    if name not in known:
        raise unknown("policy of the zoo", name, known)
    card, folder = known[name]

    recipe, contract = Recipe.from_data(card.recipe), Contract.from_data(card.contract)
    refuse_unexported(recipe, f"zoo:{name}")

    def encoder() -> Encoder:
        return ENCODERS[recipe.json_kind](recipe, contract.as_etude())

    def inference() -> Inference:
        try:
            from etude.learn.onnx_inference import onnx_inference
        except ModuleNotFoundError as error:
            raise EtudeError(f"policies of the zoo need {error.name!r}, which is not installed: pip install 'etude[zoo]'") from None
        return onnx_inference(recipe, weights_of(card, folder), f"the weights of zoo:{name}")

    return Halves(encoder, inference, lambda: False)
