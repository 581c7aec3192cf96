"""How large a page is, how soon it is drawn in headless Chromium, and how many frames a second its view has, all drawn in software.

    python tests/report/page_speed.py out/report.html out/view.html

Measured for the documentation, never asserted: a clock says as much about the machine as about the page.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from browser import Tab, browser

ROUNDS, SECONDS = 5, 8
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
# Has the page a view? A page of views opens the first by itself, a report waits for a press.
OPEN = """(() => { if (typeof etudeViewer === 'undefined' || !etudeViewer) return false;
  if (!etudeViewer.opened) [...document.querySelectorAll('button')].find(b => b.textContent === 'Walk around').click();
  return true; })()"""
PLAYED = f"""new Promise(done => {{ const viewer = etudeViewer.viewer; document.querySelector('.view select').value = '0.25';
  if (!viewer.state().playing) viewer.play(); let frames = 0; const begun = performance.now();
  const count = now => {{ frames += 1; if (!viewer.state().playing) viewer.play();
    if (now - begun < {1000 * SECONDS}) requestAnimationFrame(count);
    else done([1000 * frames / (now - begun), viewer.canvas.width, viewer.canvas.height]); }};
  requestAnimationFrame(count); }})"""


def drawn(tab: Tab, page: Path) -> float:
    """Milliseconds from the beginning of the navigation until the frame after the page has loaded."""
    tab.open(page)
    return float(tab.run(DRAWN))


def main(pages: list[Path]) -> None:
    """Print a line for each page; the first round warms the browser up and is left out."""
    for page in pages:
        with browser() as tab:
            tab.size(1280, 900)
            times = [drawn(tab, page) for _ in range(ROUNDS + 1)][1:]
            words = f"{page}: {page.stat().st_size / 1e6:.2f} MB, drawn after {statistics.median(times):.0f} ms"
            words += f" ({min(times):.0f} to {max(times):.0f})"
            if tab.run(OPEN):
                tab.wait("etudeViewer.viewer && document.querySelector('.view canvas')")
                rate, width, height = tab.run(PLAYED)
                words += f", view {rate:.0f} frames a second at {width:.0f} × {height:.0f} pixels"
            print(words)


if __name__ == "__main__":
    main([Path(text) for text in sys.argv[1:]])
