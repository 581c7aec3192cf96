"""Play two policies on the same episodes and say whether they differ: python examples/compare_runs.py runs/pair 20"""

import sys
from pathlib import Path

from etude.cli import app

POLICIES = {"steady": "oracle", "shaky": "oracle:noise=0.02"}

if __name__ == "__main__":
    out, episodes = Path(sys.argv[1]), sys.argv[2]
    runs = [str(out / name) for name in POLICIES]
    choice = ["--suite", "clevrskills", "--task", "touch", "--task", "pick", "--split", "test", "--episodes", episodes]
    for run, policy in zip(runs, POLICIES.values(), strict=True):
        app(["evaluate", *choice, "--policy", policy, "--out", run], standalone_mode=False)
    app(["compare", *runs], standalone_mode=False)  # paired: McNemar's test and Newcombe's interval, in words
    app(["report", *runs, "--out", str(out / "report.html")], standalone_mode=False)
