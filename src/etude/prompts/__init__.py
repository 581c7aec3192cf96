"""Instructions of words and pictures."""

from etude.prompts.instruction import Blank, Instruction, InstructionPart, ObjectPicture, ScenePicture, TexturePicture, Words, instruction

__all__ = ["Blank", "Instruction", "InstructionPart", "ObjectPicture", "ScenePicture", "TexturePicture", "Words", "instruction"]
