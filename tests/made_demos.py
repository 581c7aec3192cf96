"""Small data sets for tests."""

from etude.datasets.demos import Order, demos
from etude.datasets.taking import How, Rounded, recorded
from etude.evaluate.play import Cast, Work, play
from etude.evaluate.run import Settings


class Quiet:
    """Progress that nobody looks at."""

    def began(self, store):
        pass

    def ended(self, record):
        pass


def order(names, policy="oracle:action=ee_delta", how=None, size=(64, 64), formats=("lerobot",), wanted=0, command="etude demos"):
    return Order(tuple(names), policy, how or How(size=size), tuple(formats), wanted, command)


def made(wanted, folder, workers=1):
    demos(wanted, folder, Settings(workers=workers), Quiet())
    return folder


def taken(name, how, policy="oracle"):
    """A take of an episode, in memory."""
    cast = Cast(Work(policy))
    cast.policy = Rounded(cast.policy)
    return recorded(play(cast, name)[1], how, "oracle")
