"""Small datasets for tests."""

from etude.datasets.demos import DemosRequest, demos
from etude.datasets.taking import RecordingSpec, Rounded, recorded
from etude.evaluation.play import Players, play
from etude.evaluation.run import Quiet, RunSettings


def order(names, policy="oracle:action=ee_delta", how=None, size=(64, 64), formats=("lerobot",), wanted=0, command="etude demos"):
    return DemosRequest(tuple(names), policy, how or RecordingSpec(size=size), tuple(formats), wanted, command)


def made(wanted, folder, workers=1):
    demos(wanted, folder, RunSettings(workers=workers), Quiet())
    return folder


def taken(name, how, policy="oracle"):
    """A take of an episode, in memory."""
    cast = Players(policy)
    cast.policy = Rounded(cast.policy)
    return recorded(play(cast, name)[1], how, "oracle")
