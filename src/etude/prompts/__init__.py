"""Instructions of words and pictures."""

from etude.prompts.instruction import Blank, Instruction, ObjectPicture, Part, ScenePicture, TexturePicture, Words, told

__all__ = ["Blank", "Instruction", "ObjectPicture", "Part", "ScenePicture", "TexturePicture", "Words", "told"]
