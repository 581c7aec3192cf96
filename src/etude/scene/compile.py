"""From a scene to a MuJoCo model: what is compiled depends on *which things* there are, never on where they stand.

So worlds of the same things share one compiled prototype, and a new layout is a matter of writing state.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np

from etude.arithmetic import total
from etude.catalog.registry import shape as find_shape
from etude.catalog.shape import Piece, Shape
from etude.names import EtudeError, unknown
from etude.pose import Array, Pose
from etude.scene import robots
from etude.scene.materials import CONTACT_BITS, TIMESTEP, Material, material
from etude.scene.prototype import NOWHERE, Prototype, RobotIndex
from etude.scene.robots.anatomy import Arm, Hand
from etude.scene.scene import Body, Entity, Fixture, FixturePart, Particles, Robot, Scene, Table

GEOM = mujoco.mjtGeom
PIECE_TYPES = {
    "box": GEOM.mjGEOM_BOX,
    "cylinder": GEOM.mjGEOM_CYLINDER,
    "sphere": GEOM.mjGEOM_SPHERE,
    "capsule": GEOM.mjGEOM_CAPSULE,
    "ellipsoid": GEOM.mjGEOM_ELLIPSOID,
    "hull": GEOM.mjGEOM_MESH,
}
ARENA = 512 << 20  # bytes of address space for contacts and constraints: three rings in a pile use 80 MB, most scenes next to nothing
CLOSED = -0.02  # commanded opening of a closed finger: beyond contact, so that the grip force is always the full one
FINGER_SPEED = 0.2  # m/s of each finger, closing freely
DRAG = 0.5  # s in which a drop of a fluid loses its speed, where nothing drives it
SERVO_DAMPING = 0.03  # s: damping of a joint servo as a share of its stiffness


class _Made(NamedTuple):
    """A part that was built: its body, its frame in that body, and whether it can move."""

    body: Any
    frame: Pose
    loose: bool


@contextlib.contextmanager
def _in_our_words(what: str) -> Iterator[None]:
    """What MuJoCo's compiler refuses is a mistake in the scene: one line, with its reason and the name of the element."""
    try:
        yield
    except EtudeError:
        raise
    except (ValueError, mujoco.FatalError) as error:
        raise EtudeError(f"{what}: {' '.join(str(error).removeprefix('Error: ').split())}") from None


@functools.lru_cache(maxsize=32)
def prototype(bare: Scene) -> Prototype:
    """The compiled model of a scene's structure."""
    return Builder(bare).build()


class Builder:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.spec = mujoco.MjSpec()
        self.proto = Prototype()
        self.owner_of: list[tuple[Any, int]] = []
        self.hulls: dict[int, str] = {}

    # ---- small things

    def owner(self, name: str) -> int:
        if name not in self.proto.owners:
            self.proto.owners.append(name)
        return self.proto.owners.index(name)

    def geom(self, body: Any, piece: Piece, owner: str, side: str, surface: Material, mass: float = 0.0) -> Any:
        geom = body.add_geom()
        geom.type = PIECE_TYPES[piece.kind]
        if piece.points is not None:
            geom.meshname = self.hull(piece)
        else:
            geom.size = piece.size
            geom.pos = piece.position
            geom.quat = piece.rotation
        geom.contype, geom.conaffinity = CONTACT_BITS[side]
        geom.friction = surface.friction
        geom.solref = (surface.softness, 1.0)
        geom.priority = int(surface.decides)
        # Round pieces roll: without rolling friction a disc that stands on its rim would wobble for ever.
        geom.condim = 6 if surface.rolling or piece.kind in ("cylinder", "sphere", "capsule", "ellipsoid") else 4
        geom.mass = mass
        self.owner_of.append((geom, self.owner(owner)))
        return geom

    def hull(self, piece: Piece) -> str:
        """One mesh asset for each distinct convex piece."""
        key = id(piece)
        if key not in self.hulls:
            mesh = self.spec.add_mesh()
            mesh.name = f"hull{len(self.hulls)}"
            assert piece.points is not None
            mesh.uservert = piece.points.astype(np.float32).ravel()
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            self.hulls[key] = mesh.name
        return self.hulls[key]

    # ---- the room

    def room(self) -> None:
        world, scene = self.spec.worldbody, self.scene
        plain = material("default")
        if scene.floor is not None:
            self.plane(world, scene.floor.height, "floor")
        if scene.table is not None:
            if scene.table.endless:
                self.plane(world, scene.table.height, "table")
            else:
                self.geom(world, _table_piece(scene.table), "table", "still", plain)

    def plane(self, world: Any, height: float, owner: str) -> None:
        geom = world.add_geom()
        geom.type = GEOM.mjGEOM_PLANE
        geom.size = (0, 0, 1)
        geom.pos = (0, 0, height)
        surface = material("default")
        geom.contype, geom.conaffinity = CONTACT_BITS["still"]
        geom.friction, geom.condim, geom.solref = surface.friction, 4, (surface.softness, 1.0)
        self.owner_of.append((geom, self.owner(owner)))

    # ---- entities

    def rigid(self, entity: Body) -> None:
        shape = find_shape(entity.shape, entity.size)
        body = self.spec.worldbody.add_body()
        body.name = entity.name
        surface = material(entity.material)
        if not entity.fixed:
            body.add_freejoint().name = f"{entity.name} free"
            body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED
            _set_inertia(body, shape, entity.mass)
            self.weldable(entity.name)
        for piece in shape.pieces:
            for firm in _firm(piece):
                self.geom(body, firm, entity.name, "still" if entity.fixed else "loose", surface)

    def weldable(self, name: str) -> None:
        if self.scene.robot is None:
            return
        weld = self.spec.add_equality()
        weld.type = mujoco.mjtEq.mjEQ_WELD
        weld.objtype = mujoco.mjtObj.mjOBJ_BODY
        weld.name = f"{name} held"
        weld.name1, weld.name2 = "hand", name
        weld.active = False
        weld.solref = (0.006, 1.0)

    def fixture(self, entity: Fixture) -> None:
        root = self.spec.worldbody.add_body()
        root.name = entity.name
        if entity.movable:
            root.add_freejoint().name = f"{entity.name} free"
        made: dict[str, _Made] = {"": _Made(root, NOWHERE, entity.movable)}
        for part in entity.parts:
            if part.parent not in made:
                raise EtudeError(f"fixture {entity.name!r}: part {part.name!r} hangs on {part.parent!r}, which must come before it")
            made[part.name] = self.part(entity, part, made[part.parent])
            self.proto.frames[f"{entity.name}/{part.name}"] = made[part.name].frame
        moving = [part.name for part in entity.jointed()]
        for latch in entity.latches:
            for name in (latch.lock, latch.held):
                if name not in moving:
                    raise unknown(f"moving part of {entity.name!r}", name, moving)
            lock = self.spec.add_equality()
            lock.type = mujoco.mjtEq.mjEQ_JOINT
            lock.objtype = mujoco.mjtObj.mjOBJ_JOINT
            lock.name = f"{entity.name}/{latch.held} latched"
            lock.name1 = f"{entity.name}/{latch.held}"
            lock.data[:5] = 0.0
            lock.solref = (0.004, 1.0)

    def part(self, entity: Fixture, part: FixturePart, parent: _Made) -> _Made:
        """Parts that never move against their parent become one body with it."""
        made = _Made(parent.body, parent.frame * part.pose, parent.loose)
        if part.joint is not None:
            body = parent.body.add_body()
            body.name = f"{entity.name}/{part.name}"
            body.pos, body.quat = made.frame.position, made.frame.rotation
            if not parent.loose:
                # A moving part and what it hangs on fit into each other; MuJoCo leaves such pairs alone only where the parent can move.
                pair = self.spec.add_exclude()
                pair.bodyname1, pair.bodyname2 = parent.body.name, body.name
            made = _Made(body, NOWHERE, True)
        solids = [(s, find_shape(s.shape, s.size)) for s in part.solids]
        volume = total(abs(sh.volume) for s, sh in solids if s.collides) or 1.0
        for solid, shape in solids:
            if not solid.collides:
                continue
            place = made.frame * solid.pose
            share = part.mass * shape.volume / volume / len(shape.pieces)
            for piece in shape.pieces:
                moved = _moved(piece, place)
                side = "loose" if made.loose else "still"
                self.geom(made.body, moved, f"{entity.name}/{part.name}", side, material("default"), share)
        if part.joint is not None:
            joint = made.body.add_joint()
            joint.name = f"{entity.name}/{part.name}"
            kinds = {"slide": mujoco.mjtJoint.mjJNT_SLIDE, "hinge": mujoco.mjtJoint.mjJNT_HINGE}
            joint.type = kinds[part.joint.kind]
            joint.axis, joint.pos = part.joint.axis, part.joint.anchor
            joint.limited = True
            joint.range = part.joint.range
            joint.damping[0] = part.joint.damping
            joint.frictionloss = part.joint.friction
            joint.stiffness[0] = part.joint.spring
            if not parent.loose:  # only the root of a tree has a say
                made.body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED
        return made

    def grains(self, entity: Particles) -> None:
        half = entity.diameter / 2
        piece = Piece("sphere", (half, 0, 0)) if entity.kind_of == "sphere" else Piece("box", (half, half, half))
        for i in range(len(entity.positions)):
            body = self.spec.worldbody.add_body()
            body.name = f"{entity.name} {i}"
            body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED
            geom = self.geom(body, piece, entity.name, "loose", material(entity.material), entity.mass)
            if entity.flows:
                geom.condim, geom.priority = 1, 1  # whatever they meet, too, is without friction for them
                for axis in np.eye(3):
                    joint = body.add_joint()
                    joint.type, joint.axis = mujoco.mjtJoint.mjJNT_SLIDE, axis
                    joint.damping[0] = entity.mass / DRAG
            else:
                geom.condim = 3
                body.add_freejoint()

    # ---- the robot

    def robot(self, robot: Robot) -> None:
        arm, hand = robots.arm(robot.arm), robots.hand(robot.hand)
        body = self.spec.worldbody.add_body()
        body.name = "robot"
        body.pos, body.quat = robot.base.position, robot.base.rotation
        plain = material("default")
        for piece in arm.base_pieces:
            self.geom(body, piece, "robot", "robot", plain)
        for i, link in enumerate(arm.links):
            body = body.add_body()
            body.name = f"link{i + 1}"
            body.pos, body.quat = link.origin.position, link.origin.rotation
            body.gravcomp = 1
            joint = body.add_joint()
            joint.name = f"joint{i + 1}"
            joint.axis = (0, 0, 1)
            joint.limited, joint.range = True, link.range
            joint.armature, joint.damping[0] = 0.1, 0.5
            for piece in link.pieces:
                self.geom(body, piece, "robot", "robot", plain, link.mass / len(link.pieces))
            servo = self.spec.add_actuator()
            servo.name = joint.name
            servo.trntype, servo.target = mujoco.mjtTrn.mjTRN_JOINT, joint.name
            self.servo(servo, arm.stiffness[i], SERVO_DAMPING * arm.stiffness[i], link.torque)
        self.hand(body, arm, hand)

    @staticmethod
    def servo(actuator: Any, stiffness: float, damping: float, force: float) -> None:
        # The servo's set point is an activation that moves at the commanded velocity, so a whole control period runs inside MuJoCo.
        actuator.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR
        actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        actuator.gainprm[0] = stiffness
        actuator.biasprm[:3] = (0.0, -stiffness, -damping)
        actuator.forcelimited, actuator.forcerange = True, (-force, force)

    def hand(self, wrist: Any, arm: Arm, hand: Hand) -> None:
        body = wrist.add_body()
        body.name = "hand"
        body.pos, body.quat = arm.flange.position, arm.flange.rotation
        body.gravcomp = 1
        plain, rubber = material("default"), material("rubber")
        for piece in hand.pieces:
            self.geom(body, piece, "hand", "robot", plain, hand.mass / len(hand.pieces))
        for i, (x, y, z, radius) in enumerate(hand.cups):
            cup = Piece("cylinder", (radius, 0.004, 0.0), (x, y, z - 0.004))
            self.geom(body, cup, "hand/cups", "robot", rubber).name = f"cup{i}"
        if hand.kind != "fingers":
            return
        tendon = self.spec.add_tendon()
        tendon.name = "fingers"
        for side, sign in (("left", 1.0), ("right", -1.0)):
            finger = body.add_body()
            finger.name = f"{side} finger"
            finger.pos = hand.finger_origin
            finger.quat = (1, 0, 0, 0) if sign > 0 else (0, 0, 0, 1)
            finger.gravcomp = 1
            joint = finger.add_joint()
            joint.name = finger.name
            joint.type = mujoco.mjtJoint.mjJNT_SLIDE
            joint.axis = (0, 1, 0)
            joint.limited, joint.range = True, (0, hand.finger_travel)
            # The drive behind a finger is heavy, and a contact gives way in proportion to the mass that presses on it.
            joint.armature, joint.damping[0] = 2.0, 5.0
            joint.solref_limit = (0.004, 1.0)
            for piece in hand.finger_pieces:
                self.geom(finger, piece, f"hand/{side}", "robot", rubber, 0.05)
            tendon.wrap_joint(joint.name, 0.5)
        same = self.spec.add_equality()
        same.type, same.objtype = mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtObj.mjOBJ_JOINT
        same.name1, same.name2 = "left finger", "right finger"
        same.data[:5] = (0, 1, 0, 0, 0)
        same.solref = (0.004, 1.0)
        grip = self.spec.add_actuator()
        grip.name = "grip"
        grip.trntype, grip.target = mujoco.mjtTrn.mjTRN_TENDON, "fingers"
        self.servo(grip, 8000.0, 2 * hand.force / FINGER_SPEED, 2 * hand.force)

    # ---- all together

    def build(self) -> Prototype:
        self.spec.memory = ARENA
        options = self.spec.option
        options.timestep = TIMESTEP
        options.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        options.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        # Together these keep what is held from creeping out of the hand.
        options.impratio = 50.0
        options.noslip_iterations = 2
        options.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
        self.spec.compiler.degree = False
        self.room()
        if self.scene.robot is not None:
            self.robot(self.scene.robot)
        for entity in self.scene.entities:
            with _in_our_words(f"{entity.name!r} cannot be built"):
                if isinstance(entity, Body):
                    self.rigid(entity)
                elif isinstance(entity, Fixture):
                    self.fixture(entity)
                elif isinstance(entity, Particles):
                    self.grains(entity)
        with _in_our_words("the scene cannot be built"):
            self.proto.model = self.spec.compile()
        self.index()
        return self.proto

    def index(self) -> None:
        proto, model = self.proto, self.proto.model
        proto.geom_owner = np.zeros(model.ngeom, np.int32)
        for geom, owner in self.owner_of:
            proto.geom_owner[geom.id] = owner
        for entity in self.scene.entities:
            if isinstance(entity, Particles):
                names = [f"{entity.name} {i}" for i in range(len(entity.positions))]
                proto.particle_bodies[entity.name] = bodies = np.array([model.body(n).id for n in names], np.intp)
                proto.particles[entity.name] = model.jnt_qposadr[model.body_jntadr[bodies]].astype(np.intp)
                continue
            self.index_root(entity)
            if isinstance(entity, Fixture):
                self.index_fixture(entity)
        if self.scene.robot is not None:
            proto.robot = self.index_robot(self.scene.robot)

    def index_root(self, entity: Entity) -> None:
        proto, model = self.proto, self.proto.model
        body = model.body(entity.name)
        proto.bodies[entity.name] = body.id
        if body.jntnum[0] == 0:
            proto.fixed[entity.name] = body.id
        else:
            joint = model.joint(f"{entity.name} free")
            proto.free[entity.name] = (int(joint.qposadr[0]), int(joint.dofadr[0]))
        if isinstance(entity, Body) and not entity.fixed and self.scene.robot is not None:
            proto.welds[entity.name] = model.equality(f"{entity.name} held").id

    def index_fixture(self, entity: Fixture) -> None:
        proto, model = self.proto, self.proto.model
        for part in entity.parts:
            name = f"{entity.name}/{part.name}"
            carrier = f"{entity.name}/{part.parent}" if part.parent else entity.name
            proto.bodies[name] = model.body(name).id if part.joint is not None else proto.bodies[carrier]
            if part.joint is not None:
                joint = model.joint(name)
                proto.joints[name] = (int(joint.qposadr[0]), int(joint.dofadr[0]))
        for latch in entity.latches:
            equality = model.equality(f"{entity.name}/{latch.held} latched").id
            lock, held = (proto.joints[f"{entity.name}/{j}"][0] for j in (latch.lock, latch.held))
            proto.latches.append((equality, lock, held, latch.release))

    def index_robot(self, robot: Robot) -> RobotIndex:
        model = self.proto.model
        arm, hand = robots.arm(robot.arm), robots.hand(robot.hand)
        names = [f"joint{i + 1}" for i in range(len(arm.links))]
        fingers = ["left finger", "right finger"] if hand.kind == "fingers" else []
        return RobotIndex(
            arm=arm,
            hand=hand,
            base=robot.base,
            joints=_run([model.joint(n).qposadr[0] for n in names]),
            dofs=_run([model.joint(n).dofadr[0] for n in names]),
            set_points=_run([model.actuator(n).actadr[0] for n in names]),
            actuators=_run([model.actuator(n).id for n in names]),
            hand_body=model.body("hand").id,
            fingers=np.array([model.joint(n).qposadr[0] for n in fingers], np.intp),
            grip=int(model.actuator("grip").actadr[0]) if fingers else -1,
            cups=tuple(model.geom(f"cup{i}").id for i in range(len(hand.cups))),
        )


@functools.lru_cache(maxsize=4096)
def _firm(piece: Piece) -> tuple[Piece, ...]:
    """A prism of many corners as up to three of fewer.

    MuJoCo keeps at most four contacts between a plane and a mesh; a pentagon would rock for ever between two choices of four corners.
    """
    points = piece.points
    if points is None or len(points) % 2 or len(points) < 10:
        return (piece,)
    k = len(points) // 2
    lower, upper = points[:k], points[k:]
    if np.ptp(lower[:, 2]) > 1e-9 or np.ptp(upper[:, 2]) > 1e-9 or not np.allclose(lower[:, :2], upper[:, :2], atol=1e-9):
        return (piece,)
    count = min(3, math.ceil((k - 2) / 2))
    cuts = [1 + round(i * (k - 2) / count) for i in range(count + 1)]
    fans = [[0, *range(a, b + 1)] for a, b in itertools.pairwise(cuts)]
    return tuple(Piece("hull", points=np.vstack([lower[fan], upper[fan]])) for fan in fans)


def _run(addresses: list[int]) -> slice:
    """Consecutive addresses as a slice: the joints of an arm follow each other."""
    first = int(addresses[0])
    assert [int(a) for a in addresses] == list(range(first, first + len(addresses)))
    return slice(first, first + len(addresses))


def _table_piece(table: Table) -> Piece:
    # The slab reaches deeper than it looks, so that nothing thrown at it can pass through.
    depth = max(table.thickness, 0.1)
    (x, y), (w, d) = table.centre, table.size
    return Piece("box", (w / 2, d / 2, depth / 2), (x, y, table.height - depth / 2))


def _moved(piece: Piece, pose: Pose) -> Piece:
    return piece if pose == NOWHERE else piece.moved(pose.position, pose.rotation)


def _set_inertia(body: Any, shape: Shape, mass: float | None) -> None:
    own, centre, inertia = shape.mass_properties
    scale = 1.0 if mass is None else mass / own
    full: Array = inertia * scale
    body.explicitinertial = True
    body.mass = own * scale
    body.ipos = centre
    body.fullinertia = (full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2])
