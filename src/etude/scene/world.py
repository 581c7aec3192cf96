"""A scene come to life: MuJoCo state with names instead of addresses."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from etude.arithmetic import dots, norm, norms, product
from etude.catalog.registry import shape as find_shape
from etude.compiled import compiled
from etude.names import EtudeError, unknown
from etude.pose import Array, Pose, Vec3
from etude.scene.appearance import segmentation_ids, visuals
from etude.scene.compile import prototype
from etude.scene.contacts import Contact, ContactTable
from etude.scene.manipulator import Manipulator
from etude.scene.materials import SUBSTEPS, TIMESTEP
from etude.scene.prototype import Prototype, structure
from etude.scene.resting import rest
from etude.scene.scene import Body, Camera, Entity, Fixture, Lighting, Particles, Scene
from etude.scene.visual import Visual

OVERLAP = 1e-3  # m: things that start deeper inside each other than this are refused
SHUT = 2e-3  # m or rad: a latch snaps in when its joint is this near to 0
STILL_SPEED = 5e-3  # m/s (VIMA 1.5)
STILL_SPIN = 5e-2  # rad/s
BELOW = np.array([0.0, 0.0, -1.0])


# MuJoCo would write its warnings into a file in the user's folder.
mujoco.set_mju_user_warning(lambda message: warnings.warn(f"MuJoCo: {message}", RuntimeWarning, stacklevel=2))


@compiled
def _heights(points: Array, rotations: Array, positions: Array, body: int) -> tuple[float, float]:
    """The least and the greatest height of points (n, 3) in the frame of a body, metres."""
    x, y, z = rotations[body, 6], rotations[body, 7], rotations[body, 8]
    low, high = np.inf, -np.inf
    for i in range(len(points)):
        height = points[i, 0] * x + points[i, 1] * y + points[i, 2] * z + positions[body, 2]
        low, high = min(low, height), max(high, height)
    return low, high


@dataclass(frozen=True, eq=False)
class WorldState:
    """Everything that decides what a world does next. Take it with ``save``, give it back with ``restore``."""

    data: Any
    contacts: ContactTable
    manipulator: object
    welds: Array
    places: tuple[Array, Array]  # of fixed bodies
    lighting: Lighting
    covered: frozenset[str]


class World:
    """Physics of one scene. All poses are in the world frame, metres and wxyz; speeds in m/s and rad/s."""

    def __init__(self, scene: Scene) -> None:
        self.visuals: tuple[Visual, ...] = ()
        self._build(scene)

    def _build(self, scene: Scene) -> None:
        self._structure = structure(scene)
        self._proto: Prototype = prototype(self._structure)
        self.model = copy.copy(self._proto.model)
        self.data = mujoco.MjData(self.model)
        self._contacts = ContactTable(self._proto.owners, self._proto.geom_owner, self.model.geom_bodyid, self.data)
        self.robot = Manipulator(self.model, self.data, self._proto) if self._proto.robot else None
        self._geoms: dict[str, list[int]] = {}
        self._supports: dict[str, Array] = {}
        self._lay(scene)

    # ---------------------------------------------------------------------------------------- layout

    def reset(self, scene: Scene | None = None) -> None:
        """Start again, from another scene if one is given. Quick when it has the same things in other places."""
        scene = self.scene if scene is None else scene
        if structure(scene) != self._structure:
            self._build(scene)
        else:
            self._lay(scene)

    def _lay(self, scene: Scene) -> None:
        self.scene, self.covered = scene, frozenset[str]()
        self._look()
        mujoco.mj_resetData(self.model, self.data)
        self.model.eq_data[:] = self._proto.model.eq_data
        for entity in scene.entities:
            self._lay_entity(entity)
        for equality, _, held, _ in self._proto.latches:
            self.data.eq_active[equality] = abs(self.data.qpos[held]) < SHUT
        if self.robot is not None:
            assert scene.robot is not None
            self.robot.reset(scene.robot.joints)
        self._contacts = ContactTable(self._proto.owners, self._proto.geom_owner, self.model.geom_bodyid, self.data)
        self._stand_fixed()
        mujoco.mj_forward(self.model, self.data)
        self._refuse_overlaps()
        self._refuse_blind_cameras()

    def _look(self) -> None:
        before, self.visuals = self.visuals, visuals(self.scene, self._proto, self.visuals)
        if self.visuals is not before:
            self._centres = np.array([v.pose.apply(v.mesh.ball[0]) for v in self.visuals]).reshape(-1, 3)
            self._radii = np.array([v.mesh.ball[1] for v in self.visuals])

    def _lay_entity(self, entity: Entity) -> None:
        if isinstance(entity, (Body, Fixture)):
            self._set_pose(entity.name, entity.pose)
        if isinstance(entity, Fixture):
            parts = entity.jointed()
            if entity.joints and len(entity.joints) != len(parts):
                raise EtudeError(f"fixture {entity.name!r} has {len(parts)} joints, but {len(entity.joints)} values were given")
            for part, value in zip(parts, entity.joints, strict=False):
                self.data.qpos[self._proto.joints[f"{entity.name}/{part.name}"][0]] = value
        if isinstance(entity, Particles):
            for address, position in zip(self._proto.particles[entity.name], entity.positions, strict=True):
                self.data.qpos[address : address + 3] = position
                if not entity.flows:
                    self.data.qpos[address + 3 : address + 7] = (1, 0, 0, 0)

    def _stand_fixed(self) -> None:
        """Bring fixed bodies to their places. With sleeping on, MuJoCo takes it that what is static was placed when the data were made."""
        if self._proto.fixed:
            flags = self.model.opt.enableflags
            self.model.opt.enableflags = flags & ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
            mujoco.mj_kinematics(self.model, self.data)
            self.model.opt.enableflags = flags

    def _set_pose(self, name: str, pose: Pose) -> None:
        if name in self._proto.fixed:
            # Not a mocap body: MuJoCo takes those for awake, and nothing that stands on them would ever fall asleep.
            body = self._proto.fixed[name]
            self.model.body_pos[body], self.model.body_quat[body] = pose.position, pose.rotation
        else:
            q, v = self._proto.free[name]
            self.data.qpos[q : q + 3], self.data.qpos[q + 3 : q + 7] = pose.position, pose.rotation
            self.data.qvel[v : v + 6] = 0.0

    def _refuse_overlaps(self) -> None:
        contact = self.data.contact
        owner = self._proto.geom_owner
        found = [
            (distance, int(owner[g1]), int(owner[g2]))
            for (g1, g2), distance in zip(contact.geom.tolist(), contact.dist.tolist(), strict=True)
            if owner[g1] != owner[g2]
        ]
        depth, a, b = min(found + self._still_distances(), default=(0.0, 0, 0))
        if depth < -OVERLAP:
            first, second = (self._proto.owners[k] for k in (a, b))
            raise EtudeError(f"{first!r} and {second!r} overlap by {-1000 * depth:.1f} mm at the start; move one of them")

    def _still_distances(self) -> list[tuple[float, int, int]]:
        """Signed distances between the geoms of different fixed entities, which MuJoCo itself never lets collide."""
        model, data, owner = self.model, self.data, self._proto.geom_owner
        geoms = np.flatnonzero(np.isin(model.geom_bodyid, list(self._proto.fixed.values())))
        bodies, radii, places = model.geom_bodyid[geoms], model.geom_rbound[geoms], data.geom_xpos[geoms]
        near = norms(places[:, None] - places) < radii[:, None] + radii
        pairs = np.argwhere(np.tril(near & (bodies[:, None] != bodies)))
        return [(mujoco.mj_geomDistance(model, data, h, g, 0.001, None), int(owner[h]), int(owner[g])) for g, h in geoms[pairs].tolist()]

    def _refuse_blind_cameras(self) -> None:
        cameras = [(c, np.asarray(c.pose.position)) for c in self.scene.cameras if c.mount == "world"]
        if not cameras:
            return
        names = {number: name for name, number in self.segmentation_ids().items()}
        positions, rotations = self.frames()
        bodies = [v.body for v in self.visuals]
        centres = dots(rotations[bodies], self._centres[:, None]) + positions[bodies]
        for camera, position in cameras:
            for i in np.flatnonzero(norms(centres - position) < self._radii).tolist():
                visual = self.visuals[i]
                local = visual.pose.inverse().apply(product(rotations[visual.body].T, position - positions[visual.body]))
                if visual.alpha == 1 and names[visual.entity] not in camera.hides and visual.mesh.contains(local):
                    raise EtudeError(f"camera {camera.name!r} stands inside {names[visual.entity]!r} and would see nothing")

    # ---------------------------------------------------------------------------------------- time

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return float(self.data.time)

    def step(self, count: int = 1) -> None:
        """Let ``count`` control periods of 50 ms pass, the robot following its latest command."""
        left = count
        while left > 0:
            self._advance(SUBSTEPS)
            left -= 1
            if left > 1 and self.robot is not None and self.robot.staying and not self._proto.latches:
                assert self._structure.robot is not None and self._proto.robot is not None
                if rest(self._structure.robot, self._proto.robot, self.model, self.data, left - 1):
                    left = 1

    def _advance(self, substeps: int) -> None:
        model, data, contacts, robot = self.model, self.data, self._contacts, self.robot
        step, record, quiet = mujoco.mj_step, contacts.record, contacts.quiet
        contacts.begin()
        if robot is not None:
            robot.begin_period(substeps * TIMESTEP)
        searching = robot is not None and robot.searching
        latched = bool(self._proto.latches)
        for _ in range(substeps):
            step(model, data)
            count = data.ncon
            if count or not quiet:  # most steps of a resting scene have nothing to record
                quiet = record(count)
            if searching and count:
                assert robot is not None
                searching = not robot.seize(contacts.sole(count, robot.cups))
            if latched:
                self._turn_latches()
        mujoco.mj_kinematics(model, data)
        contacts.close(substeps)
        if robot is not None:
            robot.end_period()

    def _turn_latches(self) -> None:
        qpos = self.data.qpos
        for equality, lock, held, release in self._proto.latches:
            shut = qpos[lock] < release and (self.data.eq_active[equality] or abs(qpos[held]) < SHUT)
            self.data.eq_active[equality] = shut

    def settle(self, seconds: float = 2.0, speed: float = STILL_SPEED, spin: float = STILL_SPIN) -> bool:
        """Step until every loose thing is slower than ``speed`` (m/s) and ``spin`` (rad/s), for at most ``seconds`` simulated.

        Gives whether it came to rest.
        """
        for _ in range(max(1, round(seconds / (SUBSTEPS * TIMESTEP)))):
            self.step()
            if self.still(speed, spin):
                return True
        return False

    def still(self, speed: float = STILL_SPEED, spin: float = STILL_SPIN) -> bool:
        """Is every loose thing slower than this?"""
        starts = [v for _, v in self._proto.free.values()]
        for v in starts:
            if np.abs(self.data.qvel[v : v + 3]).max() > speed or np.abs(self.data.qvel[v + 3 : v + 6]).max() > spin:
                return False
        for _, v in self._proto.joints.values():
            if abs(self.data.qvel[v]) > spin:
                return False
        return all(np.abs(self.data.cvel[bodies]).max() < 10 * speed for bodies in self._proto.particle_bodies.values())

    # ---------------------------------------------------------------------------------------- state

    def save(self) -> WorldState:
        """The exact state; whatever is done afterwards, ``restore`` brings it back to the last bit."""
        data = mujoco.MjData(self.model)
        mujoco.mj_copyData(data, self.model, self.data)
        places = (self.model.body_pos.copy(), self.model.body_quat.copy())
        memory = self.robot.memory() if self.robot else None
        looks = self.scene.lighting, self.covered
        return WorldState(data, self._contacts.snapshot(), memory, self.model.eq_data.copy(), places, *looks)

    def restore(self, state: WorldState) -> None:
        """Go back to a saved state of this world."""
        if state.data.qpos.shape != self.data.qpos.shape:
            raise EtudeError("this state was saved from a world with other things in it")
        mujoco.mj_copyData(self.data, self.model, state.data)
        self._contacts.copy_from(state.contacts)
        self.model.eq_data[:] = state.welds
        self.model.body_pos[:], self.model.body_quat[:] = state.places
        if self.robot is not None:
            self.robot.recall(state.manipulator)
        self.relight(state.lighting)
        self.covered = state.covered

    def teleport(self, poses: Mapping[str, Pose], joints: Mapping[str, float] | None = None) -> None:
        """Put things elsewhere at once, at rest: for goal pictures, events and tests. ``joints`` are values by "fixture/part"."""
        for name, pose in poses.items():
            self._known(name)
            self._set_pose(name, pose)
        for name, value in (joints or {}).items():
            self.set_joint(name, value)
        self._stand_fixed()
        self._wake()
        mujoco.mj_forward(self.model, self.data)

    def _wake(self) -> None:
        # MuJoCo wakes what a force acts on; the force itself is taken back before it can act.
        acting = self.data.xfrc_applied.copy()
        self.data.xfrc_applied[:, 2] += 1e-12
        mujoco.mj_forward(self.model, self.data)
        self.data.xfrc_applied[:] = acting

    # ---------------------------------------------------------------------------------------- looking

    def _known(self, name: str) -> int:
        if name not in self._proto.bodies:
            raise unknown("body", name, self._proto.bodies)
        return self._proto.bodies[name]

    def pose(self, name: str) -> Pose:
        """Where an entity, or a part of a fixture ("cabinet/top"), is now."""
        if name == "hand" and self.robot is not None:
            return self.robot.tip()
        body = self._proto.bodies.get(name)
        if body is None:
            for entity in self.scene.entities:  # areas and markers have no body
                if entity.name == name and hasattr(entity, "pose"):
                    return Pose.of(entity.pose.position, entity.pose.rotation)
            body = self._known(name)
        pose = Pose.of(self.data.xpos[body], self.data.xquat[body])
        return pose * self._proto.frames[name] if name in self._proto.frames else pose

    def body(self, name: str) -> int:
        """The index of a thing's body in MuJoCo's arrays."""
        return self._known(name)

    def frame(self, name: str) -> tuple[Array, Array]:
        """Position (3,) and rotation matrix (3, 3) of a body, as views that later steps change."""
        body = self._known(name)
        return self.data.xpos[body], self.data.xmat[body].reshape(3, 3)

    @property
    def loose(self) -> tuple[str, ...]:
        """The names of the rigid bodies that can be moved."""
        return tuple(self._proto.free)

    def grains(self) -> list[int]:
        """The indices of all particles' bodies in MuJoCo's arrays."""
        return [int(b) for bodies in self._proto.particle_bodies.values() for b in bodies]

    def velocity(self, name: str) -> tuple[Array, Array]:
        """Linear (m/s, of the origin) and angular (rad/s) velocity in the world frame, (3,) each."""
        out = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_XBODY, self._known(name), out, 0)
        return out[3:], out[:3]

    def joint(self, name: str) -> float:
        """Value (m or rad) of the joint of a part, "fixture/part"."""
        if name not in self._proto.joints:
            raise unknown("joint", name, self._proto.joints)
        return float(self.data.qpos[self._proto.joints[name][0]])

    def set_joint(self, name: str, value: float) -> None:
        """Put a joint at a value at once, at rest."""
        self.joint(name)
        q, v = self._proto.joints[name]
        self.data.qpos[q], self.data.qvel[v] = value, 0.0

    def particles(self, name: str) -> Array:
        """Positions (N, 3) of the particles of an entity."""
        if name not in self._proto.particle_bodies:
            raise unknown("particles", name, self._proto.particle_bodies)
        return np.asarray(self.data.xpos[self._proto.particle_bodies[name]].copy())

    def contacts(self) -> tuple[Contact, ...]:
        """Every pair that touched during the last control period."""
        return self._contacts.pairs()

    def touching(self, name: str) -> tuple[str, ...]:
        """What ``name`` touched during the last control period: entities, "fixture/part", "table", "hand/…", …"""
        return self._contacts.touching(name)

    def touches(self, first: str, second: str) -> bool:
        """Did these two touch during the last control period? Names of wholes include their parts."""
        return self._contacts.touches(first, second)

    def impulse(self, first: str, second: str) -> Array:
        """Impulse (3,) N·s that ``second`` received from ``first`` during the last control period."""
        return self._contacts.impulse(first, second)

    def frames(self) -> tuple[Array, Array]:
        """Positions (B, 3) and rotations (B, 3, 3) of all bodies: what visuals ride on."""
        return self.data.xpos, self.data.xmat.reshape(-1, 3, 3)

    def camera_pose(self, camera: Camera) -> Pose:
        """The optical frame of a camera in the world."""
        if camera.mount == "world":
            return camera.pose
        if self.robot is None:
            raise EtudeError(f"camera {camera.name!r} is mounted on the hand, but the scene has no robot")
        return self.robot.flange() * camera.pose

    def segmentation_ids(self) -> dict[str, int]:
        """The id of every name in segmentation images."""
        return segmentation_ids(self.scene)

    def distance(self, first: str, second: str, limit: float = 0.1) -> float:
        """Gap (m) between the surfaces of two things ("hand", "table", entities, parts), at most ``limit``; negative in an overlap."""
        best = limit
        model, data = self.model, self.data
        for g in self._geoms_of(first):
            for h in self._geoms_of(second):
                # Planes have no bounding sphere (their radius is 0).
                reach = model.geom_rbound[g] + model.geom_rbound[h]
                flat = model.geom_rbound[g] == 0 or model.geom_rbound[h] == 0
                if flat or norm(data.geom_xpos[g] - data.geom_xpos[h]) - reach < best:
                    best = min(best, float(mujoco.mj_geomDistance(model, data, g, h, best, None)))
        return best

    def fits(self, name: str) -> bool:
        """Is a thing inside no other, as it stands now?"""
        mine, contact = set(self._geoms_of(name)), self.data.contact
        pairs = zip(contact.geom.tolist(), contact.dist.tolist(), strict=True)
        return all(depth >= -OVERLAP for (g, h), depth in pairs if (g in mine) != (h in mine))

    def _geoms_of(self, name: str) -> list[int]:
        if name not in self._geoms:
            members = self._contacts.members(name)
            if not members:
                raise unknown("thing", name, self._proto.owners)
            self._geoms[name] = np.flatnonzero(np.isin(self._proto.geom_owner, members)).tolist()
        return self._geoms[name]

    def drop(self, point: Vec3) -> float:
        """How far it is from a point (world) straight down to the next surface that is not the hand's, metres; 1 where there is none."""
        hand = self._proto.robot.hand_body if self._proto.robot is not None else -1
        found = mujoco.mj_ray(self.model, self.data, np.array(point), BELOW, None, True, hand, None)
        return float(found) if found >= 0 else 1.0

    def mass(self, name: str) -> float:
        """Mass of an entity in kg."""
        return float(self.model.body_subtreemass[self._known(name)])

    def vertical_extent(self, name: str) -> tuple[float, float]:
        """Heights of the lowest and the highest point of a rigid body, metres."""
        body = self._known(name)
        if name not in self._supports:
            entity = self.scene.entity(name)
            if not isinstance(entity, Body):
                raise EtudeError(f"{name!r} is not a rigid body")
            pieces = find_shape(entity.shape, entity.size).pieces
            self._supports[name] = np.vstack([p.support() for p in pieces])
        return _heights(self._supports[name], self.data.xmat, self.data.xpos, body)

    def restyle(self, *entities: Entity) -> None:
        """Change how things look, not what they are: entities of the same names with other textures, or markers and areas elsewhere."""
        scene = self.scene.changed(*entities)
        if structure(scene) != self._structure:
            raise EtudeError("only looks can be changed in a running world")
        self.scene = scene
        self._look()

    def relight(self, lighting: Lighting) -> None:
        """Change the light."""
        if lighting != self.scene.lighting:
            self.scene = replace(self.scene, lighting=lighting)

    def cover(self, camera: str) -> None:
        """Cover a camera: its pictures are black, and nothing is seen in them."""
        self.covered |= {self.scene.camera(camera).name}

    # ---------------------------------------------------------------------------------------- holding

    def attach(self, name: str) -> None:
        """Fix an entity to the hand as they stand to each other now."""
        if self.robot is None:
            raise EtudeError("nothing can be attached: the scene has no robot")
        if name not in self._proto.welds:
            raise unknown("loose body", name, self._proto.welds)
        self.robot.hold(name)

    def detach(self) -> None:
        """Let go of whatever is attached to the hand."""
        if self.robot is not None:
            self.robot.let_go()
