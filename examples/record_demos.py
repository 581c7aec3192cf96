"""Record the oracle as a LeRobot dataset and read it without lerobot: python examples/record_demos.py data/pick 10"""

import sys
from pathlib import Path

import etude
from etude.datasets.reader import DatasetReader
from etude.datasets.taking import RecordingSpec

if __name__ == "__main__":
    out, episodes = Path(sys.argv[1]), int(sys.argv[2])
    etude.demos("clevrskills/pick", episodes=episodes, spec=RecordingSpec(size=(64, 64)), out=out)

    reader = DatasetReader(out)
    print(f"{len(reader)} episodes at {reader.fps} frames a second, cameras: {', '.join(reader.cameras)}")
    for span in reader.spans:
        actions = reader.column("action", span.index)  # (N, 7)
        (first,) = reader.frames(span.index, "base", count=1)  # (H, W, 3)
        print(f"{span.task!r}: actions {actions.shape}, first frame {first.shape}, mean brightness {first.mean():.0f}")
