"""The one control stack: hand pose → inverse kinematics → joint servos, and hands that grip or suck.

A command is kept until the next one. During a control period the servos' set points move steadily from the last command to the
new one, with the velocity fed forward, so that the arm follows without lag.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.arithmetic import total
from etude.compiled import compiled
from etude.names import EtudeError
from etude.pose import Array, Pose, Vec3, angle_between, matrix
from etude.scene.compile import CLOSED, SERVO_DAMPING
from etude.scene.kinematics import Chain, ramp
from etude.scene.materials import CONTACT_BITS, CONTROL_PERIOD
from etude.scene.prototype import Prototype

DELTA_POSITION = 0.1  # m for each control period at full deflection (ClevrSkills 1.5)
DELTA_ROTATION = 0.1  # rad
EQUALITY = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
PARTING = 2  # control periods after letting go: lips that reach a little into a thing would wedge it


@compiled
def _strain(
    types: NDArray[np.int32], ids: NDArray[np.int32], forces: Array, equality: int, weld: int, rotations: Array, hand: int
) -> tuple[float, float]:
    """How hard a weld pulls at the hand along its axis, outwards, and how hard across it, N; 0 where it is not at work."""
    for k in range(len(types)):
        if types[k] == equality and ids[k] == weld:
            pull = forces[k] * rotations[hand, 2] + forces[k + 1] * rotations[hand, 5] + forces[k + 2] * rotations[hand, 8]
            x = forces[k] - pull * rotations[hand, 2]
            y = forces[k + 1] - pull * rotations[hand, 5]
            z = forces[k + 2] - pull * rotations[hand, 8]
            return pull, math.sqrt(x * x + y * y + z * z)
    return 0.0, 0.0


class Manipulator:
    """The robot of a world. Poses are in the world frame and mean the hand's tip: z points away from the hand."""

    def __init__(self, model: Any, data: Any, proto: Prototype) -> None:
        assert proto.robot is not None
        self._model, self._data, self._index = model, data, proto.robot
        self._welds = proto.welds
        self._proto = proto
        self.arm, self.hand = proto.robot.arm, proto.robot.hand
        self.chain = Chain(self.arm, self.hand)
        self._stand = (np.array(proto.robot.base.position), matrix(proto.robot.base.rotation))
        self._world_to_base = proto.robot.base.inverse()
        self._command = self.chain.home.copy()
        self._target = self._command.copy()
        self._closed = False
        self._held: str | None = None
        self._parting = 0  # control periods left in which the cups do not touch what they have just let go
        self.cups = np.isin(np.arange(model.ngeom), proto.robot.cups)  # which geoms they are
        # Views into MuJoCo's memory, which stays where it is as long as the data lives.
        self._qpos, self._qvel = data.qpos[self._index.joints], data.qvel[self._index.dofs]
        self._set_point, self._velocity = data.act[self._index.set_points], data.ctrl[self._index.actuators]
        self._act, self._all_qpos, self._fingers = data.act, data.qpos, proto.robot.fingers.tolist()

    # ---------------------------------------------------------------------------------------- state

    def reset(self, joints: ArrayLike = ()) -> None:
        """Stand still in the given posture (rad), or at home, with an open hand."""
        posture = np.asarray(joints, float) if len(np.atleast_1d(joints)) else self.chain.home
        if posture.shape != self.chain.home.shape:
            raise EtudeError(f"the arm {self.arm.name!r} has {self.chain.count} joints, but {posture.size} values were given")
        outside = np.flatnonzero((posture < self.chain.lower - 1e-9) | (posture > self.chain.upper + 1e-9))
        if outside.size:
            i = int(outside[0])
            low, high = self.chain.lower[i], self.chain.upper[i]
            raise EtudeError(f"joint {i + 1} of {self.arm.name!r} cannot be {posture[i]:.4g} rad; its range is {low:.4g} to {high:.4g}")
        self._command, self._target = posture.copy(), posture.copy()
        self._closed, self._held, self._parting = False, None, 0
        self._set_cup_contacts()
        self._qpos[:] = posture
        self._set_point[:] = posture
        if self._index.grip >= 0:
            self._data.qpos[self._index.fingers] = self.hand.finger_travel
            self._data.act[self._index.grip] = self.hand.finger_travel

    def stand_at(self, tip: Pose) -> bool:
        """Be there at once, at rest: for goal pictures. Gives whether the pose is within reach."""
        found = self.chain.solve(self._world_to_base * tip, self.chain.home, 200)
        self.reset(found.joints)
        mujoco.mj_forward(self._model, self._data)
        return found.reached

    def memory(self) -> object:
        """What the control stack remembers, for :meth:`recall`."""
        return (self._command.copy(), self._target.copy(), self._closed, self._held, self._parting)

    def recall(self, memory: Any) -> None:
        """Take up a remembered state."""
        command, target, self._closed, self._held, self._parting = memory
        self._command, self._target = command.copy(), target.copy()
        self._set_cup_contacts()

    def joints(self) -> Array:
        """Measured joint values (n,) rad."""
        return np.asarray(self._qpos.copy())

    def joint_velocities(self) -> Array:
        """Measured joint velocities (n,) rad/s."""
        return np.asarray(self._qvel.copy())

    def joint_torques(self) -> Array:
        """What the motors give (n,) N·m: the servos' torques, and those that carry the arm's own weight."""
        dofs = self._index.dofs
        return np.asarray(self._data.qfrc_actuator[dofs] + self._data.qfrc_gravcomp[dofs])

    def tip(self) -> Pose:
        """Measured pose of the tip in the world."""
        return self.chain.forward(self._qpos, self._stand)

    def flange(self) -> Pose:
        """Measured pose of the hand's frame (the flange) in the world."""
        return self.tip() * self.hand.tip.inverse()

    def opening(self) -> float:
        """Distance between the finger pads, metres (0 for other hands)."""
        if self._index.grip < 0:
            return 0.0
        apart: float = total(self._all_qpos.item(i) for i in self._fingers)
        return 2 * (apart / len(self._fingers))

    def spread(self, data: Any, opening: float | None = None) -> None:
        """In another copy of the state, put the fingers so far apart (m); fully if nothing is said."""
        if self._index.grip >= 0:
            data.qpos[self._index.fingers] = self.hand.finger_travel if opening is None else opening / 2

    @property
    def closed(self) -> bool:
        """Is the hand told to close (or the vacuum on)?"""
        return self._closed

    @property
    def held(self) -> str | None:
        """The entity fixed to the hand by suction or ``attach``. What fingers hold, they hold by friction: ask for contacts."""
        return self._held

    # ---------------------------------------------------------------------------------------- commands

    def move_joints(self, joints: ArrayLike) -> None:
        """Go to joint values (n,) rad, as fast as the joints allow."""
        target = np.asarray(joints, float)
        if target.shape != self._target.shape or not np.isfinite(target).all():
            raise EtudeError(f"expected {self.chain.count} finite joint values, got {np.asarray(joints).tolist()}")
        self._target = np.clip(target, self.chain.lower, self.chain.upper)

    def move_to(self, pose: Pose, iterations: int = 60) -> bool:
        """Bring the tip to a pose in the world, or as near as it can get; gives whether it is within reach."""
        found = self.chain.solve(self._world_to_base * pose, self._command, iterations)
        self._target = found.joints
        return found.reached

    def reaches(self, pose: Pose, tolerance: float) -> bool:
        """Can the tip come within this many metres and radians of a pose in the world?"""
        target = self._world_to_base * pose
        for start in (self._command, self.chain.home):
            tip = self.chain.forward(self.chain.solve(target, start, 120).joints)
            if math.dist(tip.position, target.position) < tolerance and angle_between(tip.rotation, target.rotation) < tolerance:
                return True
        return False

    def move_by(self, delta: Sequence[float] | Array) -> float:
        """ClevrSkills' ``ee_delta``: (6,) in [−1, 1], 0.1 m and 0.1 rad at full deflection, in the frame of the measured tip.

        What lies out of reach or is too fast for a joint is shortened, keeping its direction; gives the share that is possible.
        """
        self._target, share = self._followed(delta)
        return share

    def _followed(self, delta: Sequence[float] | Array) -> tuple[Array, float]:
        values: list[float] = delta.tolist() if isinstance(delta, np.ndarray) else [float(v) for v in delta]
        if len(values) != 6 or not all(map(math.isfinite, values)):
            raise EtudeError(f"expected 6 finite numbers, got {values}")
        x, y, z, a, b, c = values
        turn = DELTA_ROTATION / max(1.0, math.hypot(a, b, c))
        shift = (min(max(x, -1.0), 1.0) * DELTA_POSITION, min(max(y, -1.0), 1.0) * DELTA_POSITION, min(max(z, -1.0), 1.0) * DELTA_POSITION)
        return self.chain.follow((*shift, a * turn, b * turn, c * turn), self._qpos, CONTROL_PERIOD)

    def delta_target(self, delta: Sequence[float] | Array) -> Array:
        """The joint values (n,) that :meth:`move_by` would go to: the same action in another space."""
        return self._followed(delta)[0]

    @property
    def target(self) -> Array:
        """The joint values (n,) that it is told to go to: the latest command, whatever space it was given in."""
        return np.asarray(self._target.copy())

    def pose_of(self, joints: ArrayLike) -> Pose:
        """The tip in the world for joint values (n,)."""
        return self.chain.forward(joints, self._stand)

    def grip(self, closed: bool) -> None:
        """Close the fingers or switch the vacuum on; with ``False`` open, and let go of whatever is fixed to the hand."""
        self._closed = closed
        if not closed:
            self.let_go()

    def hold(self, name: str) -> None:
        """Fix an entity to the hand where it is."""
        self.let_go()
        weld, body, hand = self._welds[name], self._proto.bodies[name], self._index.hand_body
        hand_pose = Pose.of(self._data.xpos[hand], self._data.xquat[hand])
        relative = hand_pose.inverse() * Pose.of(self._data.xpos[body], self._data.xquat[body])
        # Layout of a weld: anchor in body 2, then the pose of body 2 in body 1, then the torque scale.
        self._model.eq_data[weld, :3] = 0.0
        self._model.eq_data[weld, 3:6] = relative.position
        self._model.eq_data[weld, 6:10] = relative.rotation
        self._model.eq_data[weld, 10] = 1.0
        self._data.eq_active[weld] = 1
        self._held = name
        self._set_cup_contacts()

    def let_go(self) -> None:
        """Release what is fixed to the hand."""
        if self._held is not None:
            self._data.eq_active[self._welds[self._held]] = 0
            # A body that has long been still in the hand would be put to sleep in mid-air: let it count anew.
            self._data.tree_asleep[self._model.body_treeid[self._proto.bodies[self._held]]] = -(1 + mujoco.mjMINAWAKE)
            self._held = None
            self._parting = PARTING

    def push(self, force: Vec3) -> None:
        """Let a force (N, world) act on the hand from outside, until another one is given."""
        self._data.xfrc_applied[self._index.hand_body, :3] = force

    def _set_cup_contacts(self) -> None:
        """Cups that hold something touch nothing: the bond and the contact of their lips would only fight each other."""
        bits = (0, 0) if self._held is not None or self._parting else CONTACT_BITS["robot"]
        for cup in self._index.cups:
            self._model.geom_contype[cup], self._model.geom_conaffinity[cup] = bits

    # ---------------------------------------------------------------------------------------- one control period

    def begin_period(self, seconds: float) -> None:
        """Hand the servos their set points and velocities for the coming period."""
        ramp(self._command, self._target, self.chain.speed, seconds, SERVO_DAMPING, self._set_point, self._velocity)
        if self._index.grip >= 0:
            self._act[self._index.grip] = CLOSED if self._closed else self.hand.finger_travel

    @property
    def searching(self) -> bool:
        """Is the vacuum on with nothing held yet?"""
        return self._closed and self._held is None and self.hand.kind == "suction"

    @property
    def staying(self) -> bool:
        """Is it told to be where it is, with empty hands?"""
        idle = self._held is None and not self._parting and not self.searching
        return idle and bool((self._command == self._target).all())

    def seize(self, pressed: str | None) -> bool:
        """Hold what the cups press on: every cup in contact must touch the same loose entity (ClevrSkills 1.4)."""
        if pressed is None or pressed not in self._welds:
            return False
        mujoco.mj_kinematics(self._model, self._data)
        self.hold(pressed)
        return True

    def _stick(self) -> None:
        """Fix the loose thing that both fingers touch to the hand."""
        proto = self._proto
        touched: dict[str, set[str]] = {}
        for g1, g2 in self._data.contact.geom.tolist():
            for mine, other in ((g1, g2), (g2, g1)):
                finger = proto.owners[int(proto.geom_owner[mine])]
                if finger in ("hand/left", "hand/right"):
                    touched.setdefault(finger, set()).add(proto.owners[int(proto.geom_owner[other])])
        both = touched.get("hand/left", set()) & touched.get("hand/right", set()) & set(self._welds)
        if both:
            self.hold(min(both))

    def end_period(self) -> None:
        """Let cups part from what they let go, and suction give way that is pulled off or sheared harder than it can hold."""
        if self._parting:
            self._parting -= 1
            self._set_cup_contacts()
        if self.hand.glue and self._closed and self._held is None:
            self._stick()
        if self._held is None or self.hand.kind != "suction":
            return
        data = self._data
        weld = self._welds[self._held]
        pull, shear = _strain(data.efc_type, data.efc_id, data.efc_force, EQUALITY, weld, data.xmat, self._index.hand_body)
        if shear > max(0.0, self.hand.force - pull):  # Coulomb: suction and pressure push the lips on, and friction holds as much
            self.let_go()
