"""What every worker needs, loaded and compiled once: workers are forked from a process that has imported this, and has done nothing else.

That process is Python's fork server. It is started afresh and runs neither thread nor policy, so that nothing is shared which must not be.
A worker is then ready in a fraction of the time, and where compiled code cannot be kept on disk it is compiled once and not in each.
"""

from __future__ import annotations

import etude.evaluation.worker  # noqa: F401 (for those that are forked)
from etude.pose import Pose
from etude.render.studio import Studio
from etude.scene.rooms import TABLE_TOP, furnished, rlbench_room
from etude.scene.scene import Body
from etude.scene.world import World

# Plain colours, because to paint a texture takes longer than all the rest, and is done where one is seen.
_block = Body("block", "cube", "red", Pose((0.25, 0.0, TABLE_TOP + 0.025)), (0.05, 0.05, 0.05))
_world = World(furnished(rlbench_room("white", "white"), _block))
if _world.robot is not None:
    _world.robot.move_by((0.1, 0.0, 0.0, 0.0, 0.0, 0.0))
_world.step()
Studio(_world).shoot(_world.scene.cameras[0], (16, 16))
del _world, _block
