"""What is fitted or trained, made once: recipes, and a folder that keeps what they make for every process that asks."""

from unembed.artifacts.base import Json, Recipe, texts_digest
from unembed.artifacts.keeping import Artifacts

__all__ = ["Artifacts", "Json", "Recipe", "texts_digest"]
