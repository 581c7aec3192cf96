"""All leaves: physical predicates about where things are, what they rest on, what was touched, pushed, thrown or toppled.

Names are those of entities in the scene. Tolerances are fields; the defaults are the paper's (ClevrSkills 2.2), and the ceilings of the
rewards its scheme: pick 4, place-like 6, throw 12, touch 3, end effector 2, trace 6, balance 6 for each block.
"""

from etude.goals.balance import Balanced
from etude.goals.contact import PushedTo, PushedTowards, StructureToppled, Touched, Untouched
from etude.goals.imitating import Anew, Followed, InTurn, NotAmong
from etude.goals.laying import Away, Clear, Laid, OnBoard
from etude.goals.placing import AtPose, AtPosition, Inside, OnTop, Picked, RotatedBy, Stacked
from etude.goals.sweeping import Gathered, KeptOff, NoMore
from etude.goals.throwing import Hit
from etude.goals.tip import TipAtPose, TipAtPosition, Traced

__all__ = [
    "Anew", "AtPose", "AtPosition", "Away", "Balanced", "Clear", "Followed", "Gathered", "Hit", "InTurn", "Inside", "KeptOff", "Laid",
    "NoMore", "NotAmong", "OnBoard", "OnTop", "Picked",
    "PushedTo", "PushedTowards", "RotatedBy", "Stacked", "StructureToppled", "TipAtPose", "TipAtPosition", "Touched", "Traced", "Untouched",
]  # fmt: skip
