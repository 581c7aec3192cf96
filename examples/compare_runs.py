"""Play two policies on the same episodes and say whether they differ: python examples/compare_runs.py runs/pair 20"""

import sys
from pathlib import Path

import etude

POLICIES = {"steady": "oracle", "shaky": "oracle:noise=0.02"}

if __name__ == "__main__":
    out, episodes = Path(sys.argv[1]), int(sys.argv[2])
    tasks = ["clevrskills/touch@test", "clevrskills/pick@test"]
    steady, shaky = (etude.evaluate(policy, tasks, episodes=episodes, out=out / name) for name, policy in POLICIES.items())
    found = etude.compare(steady, shaky)  # paired: McNemar's test and Newcombe's interval, in words
    print(found.table())
    print(found.verdict)
    found.report(out / "report.html")
