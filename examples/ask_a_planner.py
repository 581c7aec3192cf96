"""Let a planner of your own say what comes next while the oracle's skills act: python examples/ask_a_planner.py runs/planner 5"""

import sys

import etude


class ReadingAloud:
    """Goes through the sub-tasks there are words for, one after the other; a language model would choose among them."""

    contract = etude.Contract(cameras=("base",), size=(96, 96))

    def reset(self, instruction, pictures, episode):
        pass

    def next_subtask(self, observation, instruction, history):
        vocabulary = observation["vocabulary"]
        return vocabulary[len(history) % len(vocabulary)]


if __name__ == "__main__":
    out, episodes = sys.argv[1], int(sys.argv[2])
    wanted = {"episodes": episodes, "patience": 60, "mode": "planner", "out": out}
    run = etude.evaluate(None, "clevrskills/place@test", planner=ReadingAloud(), **wanted)
    for record in run.records:
        print(record.episode, record.outcome, "– first at fault:", record.fault)
        for stage in record.stages:
            print("  ", "right" if stage.right else "wrong", "and done:" if stage.done else "and not done:", stage.subtask)
