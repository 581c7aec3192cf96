"""A robot's server, the robot being a simulation: python examples/robot_server.py 8100 verdicts.jsonl

Then, in another terminal: etude evaluate --robot ws://127.0.0.1:8100 --plan himan-real --policy my_policy:Policy --out runs/robot
For a robot of your own, write a class with the methods of etude.policies.robot_server.ServedRobot in place of SimulatedRobot. Actions are
clipped to its limits, whoever reaches the server can stop it, and it is stopped when its client goes away or an action takes too long.
"""

import os
import sys
from pathlib import Path

from etude.policies.robot_server import serve_robot
from etude.policies.simulated_robot import SimulatedRobot

if __name__ == "__main__":
    port, verdicts = int(sys.argv[1]), Path(sys.argv[2])  # what the simulation itself makes of it, which its client does not see
    robot = SimulatedRobot("himan_real", verdicts)
    print("a robot with the cameras", ", ".join(robot.facts.cameras))
    # On this machine alone: with another host, set ETUDE_POLICY_KEY here and there.
    serve_robot(
        robot,
        host="127.0.0.1",
        port=port,
        longest=60.0,  # seconds for an action
        key=os.environ.get("ETUDE_POLICY_KEY", ""),
        ready=lambda opened: print(f"at ws://127.0.0.1:{opened}", flush=True),
    )
