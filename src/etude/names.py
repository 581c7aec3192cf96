"""Episode names, ids, canonical JSON and random streams.

A name reads ``suite/task@split#seed+perturbation?option=value``. It is the one handle users type, results are keyed by and
random choices are derived from, so everything here is independent of process, platform and Python's hash seed.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import json
import math
import numbers
import re
import types
import typing
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:  # names are read by commands that count nothing, and numpy takes longer to load than they do
    import numpy as np
    from numpy.random import PCG64
    from numpy.typing import NDArray

PROTOCOL = "etude-v2"  # what names stand for
SALT = "etude-v1"  # of random streams: what is drawn need not change with the protocol
LEGIBLE = 200  # characters of a wrong name that are repeated in an error
PLUGGED_IN = ("suite", "perturbation")  # what other packages bring, and a command may not have been told of

T = TypeVar("T")


class EtudeError(ValueError):
    """An error in the user's input. Its message is one line that says what was wrong and what was expected.

    >>> etude.episode("kitchen/cup_on_plat@test#3")
    EtudeError: unknown task of kitchen 'cup_on_plat'; did you mean 'cup_on_plate'?
    """


def unknown(what: str, name: str, valid: Iterable[str]) -> EtudeError:
    """The error for a name that does not exist, with the nearest ones that do."""
    choices = sorted(valid)
    near = difflib.get_close_matches(name[:LEGIBLE], choices, n=3, cutoff=0.5)
    if not near:  # fall back on shared words, so that "big bowl" still finds "bowl"
        near = [c for c in choices if set(c.split()) & set(name.split())][:3]
    wrong = f"unknown {what} {legible(name)}"
    elsewhere = "; if a plug-in brings it, name its module: --import MODULE" if what in PLUGGED_IN else ""
    if near:
        return EtudeError(f"{wrong}; did you mean {' or '.join(repr(n) for n in near)}?{elsewhere[1:]}")
    shown = ", ".join(choices[:8]) + (f", … ({len(choices)} in all)" if len(choices) > 8 else "")
    return EtudeError((f"{wrong}; valid: {shown}" if choices else f"{wrong}; there are none") + elsewhere)


def legible(text: str) -> str:
    """A text of somebody else's between quotes, on one line and not too long of one."""
    return repr(text) if len(text) <= LEGIBLE else f"{text[:LEGIBLE]!r}… ({len(text)} characters)"


def whole_number(text: str) -> int | None:
    """The whole number that is written in plain digits, from 0 to 999999999999999999; None where it is something else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def repeated(values: Iterable[str]) -> str | None:
    """The first of those that come more than once; None where all differ."""
    return next((value for value, count in Counter(values).items() if count > 1), None)


def pick(what: str, name: str, table: Mapping[str, T]) -> T:
    """``table[name]``, or the error that names the nearest valid choice."""
    try:
        return table[name]
    except KeyError:
        raise unknown(what, name, table) from None


# ------------------------------------------------------------------------------------------------ episode names

_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.:,-]*"
_NAME = re.compile(
    rf"(?P<suite>{_WORD})/(?P<task>{_WORD})@(?P<split>{_WORD})#(?P<seed>0|[1-9][0-9]{{0,17}})"
    rf"(?P<perturbations>(?:\+{_WORD})*)(?:\?(?P<options>{_WORD}=[^&=?+#@/]+(?:&{_WORD}=[^&=?+#@/]+)*))?"
)
_FORM = "suite/task@split#seed+perturbation?option=value"


@dataclasses.dataclass(frozen=True)
class EpisodeName:
    """A parsed episode name. Perturbations and options are kept sorted: their order never matters.

    >>> EpisodeName.parse("kitchen/cup_on_plate@test#3+mo_color?prompt=1").perturbations
    """

    suite: str
    task: str
    split: str
    seed: int
    perturbations: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for what, values in (("perturbation", self.perturbations), ("option", [key for key, _ in self.options])):
            twice = repeated(values)
            if twice is not None:
                raise EtudeError(f"{what} {twice!r} is given twice in the episode name")
        object.__setattr__(self, "perturbations", tuple(sorted(self.perturbations)))
        object.__setattr__(self, "options", tuple(sorted(self.options)))
        if not _NAME.fullmatch(str(self)):
            raise EtudeError(f"{legible(str(self))} is not an episode name; the form is {_FORM}")

    @staticmethod
    @functools.lru_cache(maxsize=1024)  # every step from a name to its first frame asks for its parts
    def parse(text: str) -> EpisodeName:
        """The name written as ``text``; raises :class:`EtudeError` that says which part is wrong."""
        match = _NAME.fullmatch(text)
        if match is None:
            raise EtudeError(f"{legible(text)} is not an episode name: {_fault(text)}; the form is {_FORM}")
        options = match["options"]
        pairs = (item.partition("=") for item in options.split("&")) if options else ()
        return EpisodeName(
            suite=match["suite"],
            task=match["task"],
            split=match["split"],
            seed=int(match["seed"]),
            perturbations=tuple(p for p in match["perturbations"].split("+") if p),
            options=tuple((key, value) for key, _, value in pairs),
        )

    @property
    def base(self) -> str:
        """What random streams are derived from: neither perturbations nor options, so that variants of an episode stay paired."""
        return f"{self.suite}/{self.task}@{self.split}#{self.seed}"

    def __str__(self) -> str:
        plus = "".join(f"+{p}" for p in self.perturbations)
        options = "&".join(f"{key}={value}" for key, value in self.options)
        return self.base + plus + (f"?{options}" if options else "")


def _fault(text: str) -> str:
    if "/" not in text:
        return "the suite and '/' are missing"
    if "@" not in text:
        return "the split ('@…') is missing"
    if "#" not in text:
        return "the seed ('#…') is missing"
    seed = re.split(r"[+?]", text.partition("#")[2])[0]
    if not re.fullmatch(r"0|[1-9][0-9]{0,17}", seed):
        return f"the seed {legible(seed)} is not a whole number from 0 to 999999999999999999"
    for item in filter(None, text.partition("?")[2].split("&")):
        key, _, value = item.partition("=")
        if not value:
            return f"the option {legible(key)} has no value"
        if found := re.search(r"[=?+#@/]", value):
            return f"the value of {legible(key)} holds {found[0]!r}; several are parted by ',', and a slash is written %2F"
    return "it has an empty part or a character that names cannot hold"


# ------------------------------------------------------------------------------------------------ canonical JSON


class Family:
    """Base of dataclasses that stand for each other in a field: their JSON carries ``"kind"``, the class's name unless another is given.

    ``class MoveFree(Goal, kind="M1")`` may be renamed, and what was written with it still reads.
    """

    kinds: ClassVar[dict[str, type]] = {}
    json_kind: ClassVar[str] = ""

    def __init_subclass__(cls, kind: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.json_kind = kind or cls.__name__
        if Family in cls.__bases__:
            cls.kinds = {}
        elif not cls.__name__.startswith("_"):
            there = cls.kinds.setdefault(cls.json_kind, cls)
            if there is not cls:
                raise EtudeError(
                    f"{cls.__module__}.{cls.__name__}: {there.__module__} has a {cls.json_kind!r} already; choose another name"
                )


BITS = 2**63  # whole numbers are smaller than this: other languages could not read them


def _broken(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


SPARSE = {"sparse": True}
"""Metadata of a field that came later than ids: its default is not written, so that what was written before it keeps its digest."""


def unsaid(field: dataclasses.Field[Any], value: Any) -> bool:
    """Is a field of this value one that is not written, because it stands at its default?"""
    return bool(field.metadata.get("sparse")) and getattr(value, field.name) == field.default


@functools.cache
def _written(kind: type) -> tuple[dict[str, str], tuple[str, ...], tuple[dataclasses.Field[Any], ...]]:
    """Of a dataclass: what its JSON begins with, the names of its fields, and those that may be unsaid."""
    fields = dataclasses.fields(kind)
    begins = {"kind": kind.json_kind} if issubclass(kind, Family) else {}
    return begins, tuple(f.name for f in fields), tuple(f for f in fields if f.metadata.get("sparse"))


def encode(value: Any) -> Any:
    """A frozen dataclass (or a part of one) as plain JSON data. Refuses what JSON cannot say exactly: NaN, infinities, sets."""
    kind: type = type(value)
    if (kind is str and value.isascii()) or (kind is int and -BITS < value < BITS) or kind is bool or value is None:
        return value
    if kind is tuple or kind is list:
        return [encode(item) for item in value]
    if hasattr(kind, "__dataclass_fields__"):
        begins, names, sparse = _written(kind)
        data: dict[str, Any] = {**begins}
        left_out = [f.name for f in sparse if unsaid(f, value)] if sparse else ()
        for name in names:
            if name not in left_out:
                item = getattr(value, name)
                own = type(item)  # most are plain: to ask for each costs more than to look
                plain = own is bool or item is None or (own is int and -BITS < item < BITS) or (own is str and item.isascii())
                data[name] = item if plain else encode(item)
        return data
    if isinstance(value, str):
        if _broken(value):
            raise EtudeError(f"{legible(value)} cannot be part of an episode: it holds half a character (a lone surrogate)")
        return value
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    number = value if isinstance(value, (int, float)) else _number(value)
    if isinstance(number, int):
        if abs(number) >= BITS:
            raise EtudeError(f"{number:.4g} cannot be part of an episode; every number must fit into 64 bits")
        return int(number)
    if not math.isfinite(number):
        raise EtudeError(f"{number} cannot be part of an episode; every number must be finite")
    return float(number)


def _number(value: Any) -> int | float:
    """A number of numpy's as one of Python's."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        return float(value)
    raise EtudeError(f"a value of type {type(value).__name__} cannot be part of an episode")


def canonical_json(value: Any) -> str:
    """The one text of a value: sorted keys, no spaces, shortest decimal form of every float."""
    return plain_json(encode(value))


json_string = json.encoder.encode_basestring
"""A text as it stands in canonical JSON."""


plain_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""The canonical text of what is plain JSON data already."""


_LONE = re.compile("[\ud800-\udfff]")


def json_text(data: Any, **form: Any) -> str:
    """Plain data as JSON text that UTF-8 can hold: lone surrogates (undecodable bytes, half a pair) are written out, ``\\udc80``."""
    text = json.dumps(data, ensure_ascii=False, **form)
    return _LONE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text)


def digest(value: Any, length: int = 12) -> str:
    """The first ``length`` hexadecimal digits of the SHA-256 of the canonical JSON."""
    return _text_digest(canonical_json(value), length)


def _text_digest(text: str, length: int = 12) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def episode_id(name: EpisodeName, text: str) -> str:
    """The id under which results are kept: the name and the digest of what it stood for when it was run, as canonical JSON."""
    return f"{name}~{_text_digest(text)}"


def from_json(kind: type[T], text: str) -> T:
    """The inverse of :func:`canonical_json`, strict about missing and extra fields."""
    return typing.cast(T, decode(kind, parse_json(text)))


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, or one line that says why it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise EtudeError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise EtudeError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise EtudeError(f"{path} is not text in UTF-8") from None


def parse_json(text: str) -> Any:
    """Plain data from a text that anybody may have written; whatever is wrong with it as JSON is told in one line."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise EtudeError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise EtudeError("not JSON that can be read: lists or objects are nested too deeply") from None
    except EtudeError:
        raise
    except ValueError:  # Python reads no number of thousands of digits
        raise EtudeError("not JSON that can be read: a number in it has thousands of digits") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = repeated(name for name, _ in pairs)
    if twice is not None:
        raise EtudeError(f"not JSON that can be read: the field {legible(twice)} is given twice")
    return dict(pairs)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def decode(kind: Any, data: Any, path: str = "") -> Any:
    """Build a value of the annotated type ``kind`` from plain JSON data; errors carry the path of the offending field."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    where = path or getattr(kind, "__name__", str(kind))
    if origin in (typing.Union, types.UnionType):
        if data is None and type(None) in arguments:
            return None
        concrete = [a for a in arguments if a is not type(None)]
        if len(concrete) == 1:
            return decode(concrete[0], data, path)
        raise TypeError(f"{where}: a union of several types needs a Family")
    if origin is tuple:
        if not isinstance(data, list):
            raise EtudeError(f"{where}: expected a list, got {_shown(data)}")
        if len(arguments) == 2 and arguments[1] is ...:
            return tuple(decode(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(data))
        if len(data) != len(arguments):
            raise EtudeError(f"{where}: expected {len(arguments)} values, got {len(data)}")
        return tuple(decode(a, item, f"{where}[{i}]") for i, (a, item) in enumerate(zip(arguments, data, strict=True)))
    if origin is Mapping:
        if not isinstance(data, dict):
            raise EtudeError(f"{where}: expected an object, got {_shown(data)}")
        return {decode(str, key, f"{where}: key"): decode(arguments[1], item, f"{where}.{key}") for key, item in data.items()}
    if origin is typing.Literal:
        if data not in arguments:
            raise EtudeError(f"{where}: expected one of {', '.join(map(repr, arguments))}, got {_shown(data)}")
        return data
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, Family)):
        return _decode_dataclass(kind, data, where)
    return _decode_plain(kind, data, where)


def _decode_dataclass(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise EtudeError(f"{where}: expected an object, got {_shown(data)}")
    given = dict(data)
    if issubclass(kind, Family):
        if "kind" not in given:
            raise EtudeError(f"{where}: the field 'kind' is missing; valid: {', '.join(sorted(kind.kinds))}")
        kind = pick(f"kind of {where}", str(given.pop("kind")), kind.kinds)
    fields = {f.name: f for f in dataclasses.fields(kind) if f.init}
    for name in given:
        if name not in fields:
            raise unknown(f"field in {where}:", name, fields)
    missing = [name for name, field in fields.items() if name not in given and not field.metadata.get("sparse")]
    if missing:
        raise EtudeError(f"{where}: the field {missing[0]!r} is missing")
    hints = _hints(kind)
    return kind(**{name: decode(hints[name], given[name], f"{where}.{name}") for name in fields if name in given})


def _decode_plain(kind: Any, data: Any, where: str) -> Any:
    if kind in (float, int) and isinstance(data, int) and abs(data) >= BITS:
        raise EtudeError(f"{where}: expected a number of at most 64 bits, got {_shown(data)}")
    if kind is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        if not math.isfinite(data):
            raise EtudeError(f"{where}: expected a finite number, got {data}")
        return float(data)
    if kind is int and isinstance(data, int) and not isinstance(data, bool):
        return data
    if kind is str and isinstance(data, str):
        if _broken(data):
            raise EtudeError(f"{where}: {_shown(data)} holds half a character (a lone surrogate), which cannot be written in UTF-8")
        return data
    if kind is bool and isinstance(data, bool):
        return data
    raise EtudeError(f"{where}: expected {kind.__name__}, got {_shown(data)}")


def _shown(data: Any) -> str:
    text = json.dumps(data)
    return text if len(text) <= 40 else text[:37] + "..."


# ------------------------------------------------------------------------------------------------ random streams


WORDS = 1 << 64  # that a bit generator gives


class Stream:
    """A random stream whose values are fixed for all time.

    NumPy keeps the raw output of its bit generators stable over releases, but not what ``Generator`` makes of it; so the few
    distributions an episode draws from are derived here from raw words.
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = seed

    @functools.cached_property
    def _bits(self) -> PCG64:
        """Made at the first draw: seeding costs more than many a step that has a stream at hand and does not need it."""
        import numpy as np
        from numpy.random import PCG64, SeedSequence

        # The seed as one whole number, in the words that numpy would cut it into itself, in twice the time.
        digits = self._seed[::-1].rstrip(b"\0")
        words = np.frombuffer(digits.ljust(max(4, len(digits) + 3 & ~3), b"\0"), "<u4").astype(np.uint32, copy=False)
        return PCG64(SeedSequence(words))

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """A float in [low, high)."""
        return low + (high - low) * ((self._bits.random_raw() >> 11) * 2.0**-53)

    def uniforms(self, low: float, high: float, count: int) -> NDArray[np.float64]:
        """``count`` floats in [low, high), shape (count,)."""
        import numpy as np

        return np.asarray(low + (high - low) * ((self._bits.random_raw(count) >> np.uint64(11)) * 2.0**-53), np.float64)

    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> float:
        """A normally distributed float (Box-Muller), to twelve decimals: the last bits of a cosine depend on the machine."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return mean + deviation * round(radius * math.cos(2.0 * math.pi * self.uniform()), 12)

    def integer(self, low: int, high: int) -> int:
        """An int in [low, high], both ends included, without bias."""
        if high < low:
            raise EtudeError(f"cannot draw a whole number from {low} to {high}")
        span = high - low + 1
        word: int = self._bits.random_raw()
        if word >= WORDS - span:  # hardly ever: only then may it be one of the last words, which would favour some numbers
            while word >= WORDS - WORDS % span:
                word = self._bits.random_raw()
        return low + word % span

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.uniform() < probability

    def choice(self, items: Sequence[T]) -> T:
        """One of ``items``."""
        if not items:
            raise EtudeError("cannot choose from an empty list")
        return items[self.integer(0, len(items) - 1)]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different items, in random order."""
        if count > len(items):
            raise EtudeError(f"cannot draw {count} different items from a list of {len(items)}")
        pool = list(items)
        for i in range(count):
            j = self.integer(i, len(pool) - 1)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in random order."""
        return self.sample(items, len(items))


def rng(base: str | EpisodeName, purpose: str) -> Stream:
    """The stream for one purpose of one episode, e.g. ``rng(name, "layout")``. Equal arguments give equal streams, anywhere."""
    text = base if isinstance(base, str) else base.base
    for key, value in () if isinstance(base, str) else base.options:
        if key == "salt":
            from etude.salt import salt_of

            text = f"{text}\n{salt_of(value)}"
    return Stream(hashlib.sha256(f"{SALT}\n{text}\n{purpose}".encode()).digest())
