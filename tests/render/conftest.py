from __future__ import annotations

import pytest
from render_desk import desk

from etude.render import Renderer
from etude.scene.scene import Lighting


@pytest.fixture
def desk_renderer() -> Renderer:
    visuals, positions, rotations = desk()
    renderer = Renderer(visuals, Lighting())
    renderer.pose(positions, rotations)
    return renderer
