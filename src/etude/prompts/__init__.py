"""Instructions of words and pictures."""

from etude.prompts.instruction import Instruction, ObjectPicture, Part, ScenePicture, TexturePicture, Words, told

__all__ = ["Instruction", "ObjectPicture", "Part", "ScenePicture", "TexturePicture", "Words", "told"]
