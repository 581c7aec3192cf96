"""Record the oracle as a LeRobot data set and read it without lerobot: python examples/record_demos.py data/pick 10"""

import sys
from pathlib import Path

from etude.cli import app
from etude.datasets.reader import DatasetReader

if __name__ == "__main__":
    out, episodes = Path(sys.argv[1]), sys.argv[2]
    choice = ["--suite", "clevrskills", "--task", "pick", "--episodes", episodes, "--size", "64"]
    app(["demos", *choice, "--out", str(out)], standalone_mode=False)

    reader = DatasetReader(out)
    print(f"{len(reader)} episodes at {reader.fps} frames a second, cameras: {', '.join(reader.cameras)}")
    for span in reader.spans:
        actions = reader.column("action", span.index)  # (N, 7)
        (first,) = reader.frames(span.index, "base", count=1)  # (H, W, 3)
        print(f"{span.task!r}: actions {actions.shape}, first frame {first.shape}, mean brightness {first.mean():.0f}")
