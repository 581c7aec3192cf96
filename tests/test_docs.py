"""What the documentation shows, runs; where it points, there is something."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from demo_fixtures import made, order
from forked_process import forked

from etude.datasets.taking import RecordingSpec

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [(page, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)]


@pytest.mark.parametrize(("page", "code"), BLOCKS, ids=[f"{page.stem}-{i}" for i, (page, _) in enumerate(BLOCKS)])
def test_every_example_in_the_documentation_runs(page, code, tmp_path):
    if "data/clevrskills" in code:  # which the page has made before
        made(order([f"clevrskills/pick@train#{k}" for k in range(2)]), tmp_path / "data/clevrskills")
    if "data/vima" in code:
        spec = RecordingSpec(modalities=("objects", "prompt_views"))
        made(order(["vima/rotate@train#0", "vima/sweep_without_exceeding@train#0"], "oracle", spec), tmp_path / "data/vima")
    # In a process of its own: some examples register shapes and tasks.
    done = forked(lambda: exec(compile(code, page.name, "exec", dont_inherit=True), {"__name__": "__main__"}), tmp_path)
    assert done.returncode == 0, f"{page.name}: {done.stderr}"


DOCS = ROOT / "docs"
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Where links may lead in a page: its headings, as GitHub and the site write them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead(page: Path) -> list[str]:
    """Links of a page that lead nowhere; those to other sites are not followed."""
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        file, _, anchor = target.partition("#")
        there = page.parent / file if file else page
        if not re.match(r"https?://", target) and (not there.exists() or (anchor and anchor not in anchors(there))):
            found.append(target)
    return found


@pytest.mark.parametrize("page", LINKED, ids=[str(page.relative_to(ROOT)) for page in LINKED])
def test_every_link_in_the_documentation_leads_somewhere(page):
    assert not dead(page)


def test_a_link_that_leads_nowhere_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A title, *here*\n[1](gone.md) [2](#gone) [3](page.md#a-title-here) [4](https://example.org)\n```\n[5](code.md)\n```\n"
    )
    assert dead(page) == ["gone.md", "#gone"]


def test_every_page_is_in_the_contents_of_the_site_once():
    contents = re.findall(r"^```\{toctree\}\n(?::.+\n)+\n((?:.+\n)+)```", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")]
    assert sorted("".join(contents).split()) == sorted(page for page in pages if page != "index")


def test_every_module_of_the_reference_is_there():
    named = [name for page in (DOCS / "api").glob("*.md") for name in re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf-8"))]
    assert "etude" in named and len(named) == len(set(named))
    assert [name for name in named if importlib.util.find_spec(name) is None] == []
