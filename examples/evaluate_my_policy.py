"""Evaluate a policy class of your own, and write a report: python examples/evaluate_my_policy.py runs/mine 20"""

import sys

import numpy as np

import etude


class Lowering:
    """Brings the open hand down in chunks of four actions, whatever it sees and is told."""

    contract = etude.Contract.etude("ee_delta", cameras=("base",), size=(64, 64), chunk=4)

    def reset(self, instruction, pictures, episode):
        self.instruction = instruction  # "Touch the …": a real policy would encode it here, once

    def act(self, observation):
        picture, joints = observation["base"], observation["proprioception"]
        assert picture.shape == (64, 64, 3) and np.isfinite(joints).all()
        down = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, -1.0])  # along the tool axis: 0.3 of 0.1 m; a negative last number opens the hand
        return np.tile(down, (4, 1))


if __name__ == "__main__":
    out, episodes = sys.argv[1], int(sys.argv[2])
    run = etude.evaluate(Lowering(), "clevrskills/touch@test", episodes=episodes, out=out)  # "module:Lowering" would play on all cores
    print(run.table())
    run.report(f"{out}/report.html")  # a page that needs nothing else
