"""What several tests of runs look at."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undisturbed run on one worker. It is read, never changed."""
    from test_resuming import PLAN, Quiet

    from etude.evaluation.run import RunSettings, evaluate

    folder = tmp_path_factory.mktemp("runs") / "whole"
    evaluate(PLAN, folder, RunSettings(workers=1), Quiet())
    return folder
