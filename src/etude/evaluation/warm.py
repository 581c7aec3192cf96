"""What every worker needs, loaded and compiled once: workers are forked from a process that has imported this, and has done nothing else.

That process is Python's fork server. It is started afresh and runs neither thread nor policy, so that nothing is shared which must not be.
A worker is then ready in a fraction of the time, and where compiled code cannot be kept on disk it is compiled once and not in each.
"""

from __future__ import annotations

import etude.evaluation.worker  # noqa: F401 (for those that are forked)
from etude.render.studio import Studio
from etude.scene.examples import example
from etude.scene.world import World

_world = World(example("tower"))
if _world.robot is not None:
    _world.robot.move_by((0.1, 0.0, 0.0, 0.0, 0.0, 0.0))
_world.step()
Studio(_world).shoot(_world.scene.cameras[0], (16, 16))
del _world
