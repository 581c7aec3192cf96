"""What a name stands for, to look at: the frames of a decision, or the scene of an episode, with what is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from etude.decisions.showing import PIXELS, pictures, told
from etude.decisions.trial import SILENT, Trial
from etude.episodes import Episode
from etude.library import told_in
from etude.names import EtudeError
from etude.prompts.instruction import one_scale
from etude.prompts.pictures import part_picture
from etude.report.gallery import scene_pictures
from etude.report.graphs import draw_tasks, png, svg
from etude.report.page import Page
from etude.report.pictures import Picture, save, sheet, stacked
from etude.scene.viewpoints import camera_names

LETTERS, MARGIN = 15, 10
LONGEST = 1200  # pixels of a line of words


def show_named(found: Episode | Trial, out: Path, size: tuple[int, int] | None = None, camera: str = "", renderer: str = "raster") -> None:
    """Write an episode or a trial as a page or as one picture, by the suffix of ``out``."""
    title, words, rows = _trial(found, size) if isinstance(found, Trial) else _episode(found, size, camera, renderer)
    if out.suffix.lower() == ".png":
        parts = []
        for heading, shown in rows:
            tile = max(max(p.shape[:2]) for _, p in shown)
            parts += [_written(heading)] * bool(heading) + [sheet([(c, _squared(p)) for c, p in shown], min(len(shown), 5), tile)]
        save(stacked([_written(line) for line in words] + parts), out)
        return
    page = Page(title)
    for line in words:
        page.text(line.replace("`", "'"))
    for heading, shown in rows:
        if heading:
            page.heading(heading)
        page.figures(shown)
    page.write(out)


def show_graph(found: Episode | Trial, out: Path) -> None:
    """Write the graph of a decision as SVG, PNG or a page."""
    if isinstance(found, Episode):
        raise EtudeError(f"{found.name} has no graph of operators: --graph is for decisions")
    drawing = draw_tasks(found.tasks)
    if out.suffix.lower() == ".svg":
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(svg(drawing), encoding="utf-8")
    elif out.suffix.lower() == ".png":
        save(png(drawing), out)
    else:
        page = Page(f"etude: {found.name}", told(found, "fluent"))
        page.drawing(svg(drawing))
        page.write(out)


Rows = list[tuple[str, list[tuple[str, Picture]]]]


def _trial(trial: Trial, size: tuple[int, int] | None) -> tuple[str, list[str], Rows]:
    if size is not None and size[0] != size[1]:
        raise EtudeError("frames of a decision are squares: give --size one number")
    shown = pictures(trial, size[0] if size else PIXELS)
    captions = [f"{k}: {a}" if a != SILENT else str(k) for k, a in enumerate(trial.answers, 1)]
    words = [told(trial, "fluent"), f"Answers to choose from: {', '.join(trial.choices)}"]
    return f"etude: {trial.name}", words, [("", list(zip(captions, shown, strict=True)))]


def _episode(episode: Episode, size: tuple[int, int] | None, camera: str, renderer: str) -> tuple[str, list[str], Rows]:
    scene = episode.seen_by([camera]).scene if camera else episode.scene
    seen = scene_pictures(scene, size, renderer)
    if camera:
        wanted = scene.camera(*camera_names([camera])).name  # refuses one that there is not
        seen = [(name, picture) for name, picture in seen if name == wanted]
    rows: Rows = [("", seen)]
    told_by = one_scale(episode.instruction).pictures()
    if told_by:
        prompt = [(f"{k}: {part.words}".rstrip(": "), part_picture(part, told_in(episode), 128)) for k, part in enumerate(told_by)]
        rows.append((f"Pictures of the instruction: {episode.instruction.template('[{k}]')}", prompt))
    return f"etude: {episode.name}", [episode.instruction.text], rows


def _squared(picture: Picture) -> Picture:
    """A picture on a square of paper, so that it keeps its proportions."""
    height, width = picture.shape[:2]
    side = max(height, width)
    above, left = (side - height) // 2, (side - width) // 2
    edges = ((above, side - height - above), (left, side - width - left), (0, 0))
    return np.pad(picture, edges, constant_values=250)


def _written(text: str) -> Picture:
    """Words as a picture, in as many lines as they need."""
    font = ImageFont.load_default(LETTERS)
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > LONGEST:
            lines.append(word)
        else:
            lines[-1] = longer
    width = round(max(font.getlength(line) for line in lines)) + 2 * MARGIN
    image = Image.new("RGB", (width, len(lines) * (LETTERS + 5) + MARGIN), (250, 250, 250))
    ImageDraw.Draw(image).multiline_text((MARGIN, MARGIN / 2), "\n".join(lines), (29, 33, 38), font, spacing=5)
    return np.asarray(image)
