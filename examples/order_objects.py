"""The slots of objects at each step, as they are and permuted: python examples/order_objects.py vima/rearrange@train#0"""

import sys

import etude
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.policies.scripted import OraclePolicy


def orders(name: str):
    """What is in the slots whenever somebody looks, while the oracle plays; the last look is after the end."""
    simulation, oracle = Simulation(etude.episode(name)), OraclePolicy()
    observer = Observer(simulation, ("front", "top"), (64, 32), ("rgb", "objects"))
    oracle.reset("", (), name)
    while True:
        observer.look()
        yield observer.objects
        if simulation.over:
            return
        simulation.step(oracle.act({"simulation": simulation}))


if __name__ == "__main__":
    plain, _, options = sys.argv[1].partition("?")
    for told, name in (("default", plain), ("permuted", f"{plain}+permute_objects")):
        for step, order in enumerate(orders(name + (f"?{options}" if options else ""))):
            print(f"{told}, step {step}: {', '.join(order)}")
