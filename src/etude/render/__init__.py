"""Triangles to pixels on the CPU: colour, depth and segmentation in one pass, the same bytes on every run.

``Renderer`` is loaded, and numba with it, when it is first asked for; cameras and pictures come without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from etude.render.camera import intrinsics, point_cloud, project, unproject
from etude.render.picture import Picture

if TYPE_CHECKING:
    from etude.render.gl import GlRenderer, gl_available
    from etude.render.renderer import Renderer, fingerprint

__all__ = ["GlRenderer", "Picture", "Renderer", "fingerprint", "gl_available", "intrinsics", "point_cloud", "project", "unproject"]

_HOMES = {
    "Renderer": "etude.render.renderer",
    "fingerprint": "etude.render.renderer",
    "GlRenderer": "etude.render.gl",
    "gl_available": "etude.render.gl",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'etude.render' has no attribute {name!r}")
