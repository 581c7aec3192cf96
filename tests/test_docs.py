"""What the documentation shows, runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from forked import forked
from made_demos import made, order

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [(page, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)]


@pytest.mark.parametrize(("page", "code"), BLOCKS, ids=[f"{page.stem}-{i}" for i, (page, _) in enumerate(BLOCKS)])
def test_every_example_in_the_documentation_runs(page, code, tmp_path):
    if "data/clevrskills" in code:  # which the page has made before
        made(order([f"clevrskills/pick@train#{k}" for k in range(2)]), tmp_path / "data/clevrskills")
    # In a process of its own: some examples register shapes and tasks.
    done = forked(lambda: exec(compile(code, page.name, "exec", dont_inherit=True), {"__name__": "__main__"}), tmp_path)
    assert done.returncode == 0, f"{page.name}: {done.stderr}"


def test_every_link_in_the_documentation_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"
