"""``meta/info.json``: what it must say, and what it says about the features."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from etude.datasets import lerobot, lerobot21
from etude.datasets.checks.findings import Findings, reason, shown
from etude.datasets.columns import ACTION, COUNTERS, STATE

PATH = "meta/info.json"
V3, V21 = lerobot.VERSION, lerobot21.VERSION
PICTURES, TEXTS = ("image", "video"), ("string", "language")


@dataclass(frozen=True)
class Feature:
    """One feature. ``shape`` as it is written; ``size`` (height, width) of pictures, and their number of channels; ``labels``: of numbers
    that stand for names, these."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: tuple[int, int] = (0, 0)
    channels: int = 0
    depth: bool = False
    labels: tuple[str, ...] = ()

    @property
    def number(self) -> bool:
        """Is it a column of numbers?"""
        return self.dtype not in (*PICTURES, *TEXTS)

    @property
    def width(self) -> int:
        """How many numbers each frame has of it."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Info:
    """What is usable of the file; what is not is None. ``names``: all features, also those whose description is wrong."""

    version: str
    fps: int | None
    chunks: int | None
    data_path: str | None
    video_path: str | None
    features: Mapping[str, Feature]
    totals: Mapping[str, int]
    splits: Mapping[str, Any]
    names: frozenset[str]

    def of(self, *dtypes: str) -> list[Feature]:
        """The features of these types."""
        return [f for f in self.features.values() if f.dtype in dtypes]


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _rate(value: Any) -> bool:
    return type(value) in (int, float) and value > 0 and value == value // 1


def _positive(value: Any) -> bool:
    return type(value) in (int, float) and value > 0


_TEXT = ("a text", lambda v: isinstance(v, str))
_TEXT_OR_NONE = ("a text or null", lambda v: v is None or isinstance(v, str))
_OBJECT = ("an object", lambda v: isinstance(v, dict))
_WHOLE, _COUNT = ("a whole number", _whole), ("a whole number above 0", lambda v: _whole(v) and v > 0)
_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "codebase_version": _TEXT,
    "robot_type": _TEXT_OR_NONE,
    "total_episodes": _WHOLE,
    "total_frames": _WHOLE,
    "total_tasks": _WHOLE,
    "chunks_size": _COUNT,
    "fps": ("a whole number above 0", _rate),
    "splits": _OBJECT,
    "data_path": _TEXT,
    "video_path": _TEXT_OR_NONE,
    "features": _OBJECT,
}
_MEGABYTES = ("a number above 0", _positive)
_MORE: dict[str, dict[str, tuple[str, Callable[[Any], bool]]]] = {
    V3: {"data_files_size_in_mb": _MEGABYTES, "video_files_size_in_mb": _MEGABYTES},
    V21: {"total_videos": _WHOLE, "total_chunks": _WHOLE},
}


def read_json(path: Path, findings: Findings, hint: str = "") -> dict[str, Any] | None:
    """The object in a JSON file, or None where there is none."""
    if not path.is_file():
        findings.add("meta-missing", path, f"there is no such file{hint}")
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        findings.add("meta-unreadable", path, f"it is not JSON: {reason(error)}")
        return None
    if not isinstance(found, dict):
        findings.add("meta-unreadable", path, f"it holds {shown(found)}, not an object")
        return None
    return found


def read_info(folder: Path, findings: Findings) -> Info | None:
    """Read and check the file; None where the format cannot be told from it."""
    nested = sorted(p.parent.parent.name for p in folder.glob(f"*/{PATH}"))
    ours = (folder / "meta/etude.json").is_file() and not (folder / "data").exists()
    other = "; only LeRobot's forms are checked, and this is another" if ours else ""
    data = read_json(folder / PATH, findings, f"; there are datasets in {', '.join(nested)}" if nested else other)
    if data is None:
        return None
    version = data.get("codebase_version")
    if version not in _MORE:
        text = f"codebase_version is {shown(version)}, not {V3!r} or {V21!r}"
        findings.add("version-unknown" if "codebase_version" in data else "info-missing-key", folder / PATH, text)
        return None
    good = _checked(data, {**_KEYS, **_MORE[version]}, folder / PATH, findings)
    fps = int(good["fps"]) if "fps" in good else None
    features = {}
    for name, told in good.get("features", {}).items():
        one = _feature(name, told, findings, folder / PATH)
        if one is not None:
            features[name] = one
            _check_video_info(one, told, fps, findings, folder / PATH)
    if "features" in good:
        _check_counters(features, findings, folder / PATH)
    video_path = good.get("video_path")
    if video_path is None and "video_path" in good and any(f.dtype == "video" for f in features.values()):
        findings.add("info-path", folder / PATH, "video_path is null, but there are features of the type video")
    totals = {name: value for name, value in good.items() if name.startswith("total_")}
    return Info(
        version,
        fps,
        good.get("chunks_size"),
        good.get("data_path"),
        video_path,
        features,
        totals,
        good.get("splits", {}),
        frozenset(good.get("features", ())),
    )


def _checked(
    data: Mapping[str, Any], keys: Mapping[str, tuple[str, Callable[[Any], bool]]], path: Path, findings: Findings
) -> dict[str, Any]:
    """The values of the keys that are there and of the right kind."""
    good = {}
    for key, (kind, fits) in keys.items():
        if key not in data:
            findings.add("info-missing-key", path, f"{key!r} is missing")
        elif not fits(data[key]):
            findings.add("info-type", path, f"{key} is {shown(data[key])}, not {kind}")
        else:
            good[key] = data[key]
    return good


def _feature(name: str, told: Any, findings: Findings, path: Path) -> Feature | None:
    fault = _fault(name, told)
    if fault:
        findings.add("feature-invalid", path, f"the feature {name!r} {fault}")
        return None
    dtype, shape, names = told["dtype"], told["shape"], told.get("names")
    if names is not None and not isinstance(names, (list, dict)):
        findings.add("feature-names", path, f"the names of the feature {name!r} are {shown(names)}, not a list, an object or null")
    elif isinstance(names, list) and len(shape) == 1 and len(names) not in (1, shape[0]):  # one name for all of them is common
        findings.add("feature-names", path, f"the feature {name!r} has {len(names)} names for {shape[0]} numbers")
    more = told["info"] if isinstance(told.get("info"), dict) else {}
    if dtype not in PICTURES:
        labels = more.get("labels")
        return Feature(name, dtype, tuple(shape), labels=tuple(labels) if isinstance(labels, list) else ())
    height, width, channels = (shape[1], shape[2], shape[0]) if _channels_first(names, shape) else shape
    depth = bool(more.get("is_depth_map") or more.get("video.is_depth_map"))
    return Feature(name, dtype, tuple(shape), (height, width), channels, depth)


def _fault(name: str, told: Any) -> str:
    """What is wrong with the description of a feature; empty where nothing is."""
    if not isinstance(told, dict) or not {"dtype", "shape"} <= set(told):
        return "is not an object with dtype and shape"
    dtype, shape = told["dtype"], told["shape"]
    if "/" in name:
        return "has a '/' in its name, which separates the names of columns in the table of episodes"
    if dtype not in (*PICTURES, *TEXTS) and not _is_number(dtype):
        return f"has the dtype {shown(dtype)}, which is neither one of numpy's numbers nor image, video, string or language"
    if not isinstance(shape, list) or not 1 <= len(shape) <= 5 or not all(_whole(n) for n in shape):
        return f"has the shape {shown(shape)}, not a list of one to five whole numbers"
    if dtype in PICTURES and (len(shape) != 3 or 0 in shape):
        return f"is a picture of the shape {shape}, not of height, width and channels"
    return ""


def _is_number(dtype: Any) -> bool:
    try:
        return isinstance(dtype, str) and np.dtype(dtype).kind in "biuf"
    except TypeError:
        return False


def _channels_first(names: Any, shape: list[int]) -> bool:
    if isinstance(names, list) and len(names) == 3 and all(isinstance(n, str) for n in names):
        return bool(names[0].startswith("channel"))
    return shape[0] in (1, 3, 4) and shape[2] not in (1, 3, 4)


def _check_counters(features: Mapping[str, Feature], findings: Findings, path: Path) -> None:
    for name in COUNTERS:
        dtype = "float32" if name == "timestamp" else "int64"
        one = features.get(name)
        if one is None:
            findings.add("feature-invalid", path, f"the feature {name!r}, which every dataset has, is missing")
        elif (one.dtype, one.shape) != (dtype, (1,)):
            findings.add(
                "feature-invalid", path, f"the feature {name!r} is {one.dtype} of shape {list(one.shape)}, not {dtype} of shape [1]"
            )


def _check_video_info(feature: Feature, told: Mapping[str, Any], fps: int | None, findings: Findings, path: Path) -> None:
    info = told.get("info")
    if feature.dtype != "video" or not isinstance(info, dict):
        return
    wanted = {"video.fps": fps, "video.height": feature.size[0], "video.width": feature.size[1]}
    for key, value in wanted.items():
        if key in info and value is not None and info[key] != value:
            findings.add("video-info", path, f"{key} of {feature.name!r} is {shown(info[key])}, which should be {value}")


def check_totals(info: Info, found: Mapping[str, int | None], findings: Findings) -> None:
    """Compare the totals with what there is, and see that splits are ranges of episodes."""
    path = findings.folder / PATH
    for name, count in found.items():
        if name in info.totals and count is not None and info.totals[name] != count:
            findings.add("total-wrong", path, f"{name} is {info.totals[name]}, but there are {count}")
    episodes = found.get("total_episodes")
    for name, span in info.splits.items():
        match = re.fullmatch(r"(\d{1,12}):(\d{1,12})", span) if isinstance(span, str) else None
        if match is None:
            findings.add("info-splits", path, f"the split {name!r} is {shown(span)}, not 'first:end'")
        elif episodes is not None and not int(match[1]) <= int(match[2]) <= episodes:
            findings.add("info-splits", path, f"the split {name!r} is {span!r}, but there are {episodes} episodes")


MODALITY = "meta/modality.json"


def check_modality(folder: Path, info: Info, findings: Findings) -> None:
    """Check the file where there is one."""
    path = folder / MODALITY
    if not path.exists():
        return
    data = read_json(path, findings)
    if data is None:
        return
    for group, key in (("state", STATE), ("action", ACTION)):
        for name, part in _items(data.get(group)):
            source = part.get("original_key", key)
            feature = info.features.get(source) if isinstance(source, str) else None
            start, end = part.get("start"), part.get("end")
            if feature is None or not feature.number:
                findings.add("modality-wrong", path, f"{group}.{name} is a part of {shown(source)}, which is not a feature of numbers")
            elif type(start) is not int or type(end) is not int or not 0 <= start < end <= feature.width:
                text = f"{group}.{name} is from {shown(start)} to {shown(end)}, but {source!r} has {feature.width} numbers"
                findings.add("modality-wrong", path, text)
    for group in ("video", "annotation"):
        for name, part in _items(data.get(group)):
            source = part.get("original_key")
            if source is not None and (not isinstance(source, str) or source not in info.features):
                findings.add("modality-wrong", path, f"{group}.{name} is {shown(source)}, which is not a feature")


def _items(group: Any) -> list[tuple[str, dict[str, Any]]]:
    """The parts of a group; one that is not an object says nothing, and is wrong wherever something has to be said."""
    return [(name, part if isinstance(part, dict) else {}) for name, part in group.items()] if isinstance(group, dict) else []
