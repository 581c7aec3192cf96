"""Let a planner of your own say what comes next while the oracle's skills act: python examples/ask_a_planner.py runs/planner 5"""

import json
import sys
from pathlib import Path

from etude.cli import app
from etude.policies.contract import Contract


class ReadingAloud:
    """Goes through the sub-tasks there are words for, one after the other; a language model would choose among them."""

    contract = Contract(cameras=("base",), size=(96, 96))

    def reset(self, instruction, pictures, episode):
        pass

    def next_subtask(self, observation, instruction, history):
        vocabulary = observation["vocabulary"]
        return vocabulary[len(history) % len(vocabulary)]


if __name__ == "__main__":
    out, episodes = Path(sys.argv[1]), sys.argv[2]
    choice = ["--suite", "clevrskills", "--task", "place", "--split", "test", "--episodes", episodes, "--patience", "60"]
    app(["evaluate", *choice, "--mode", "planner", "--planner", "ask_a_planner:ReadingAloud", "--out", str(out)], standalone_mode=False)
    for record in map(json.loads, (out / "episodes.jsonl").read_text().splitlines()):
        print(record["episode"], record["outcome"], "– first at fault:", record["fault"])
        for stage in record["stages"]:
            print("  ", "right" if stage["right"] else "wrong", "and done:" if stage["done"] else "and not done:", stage["subtask"])
