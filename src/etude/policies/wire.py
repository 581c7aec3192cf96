"""Messages of a policy server: msgpack with NumPy inside, byte for byte as openpi's clients and servers write it.

An array is a map with *bytes* keys: ``__ndarray__`` true, ``data`` the numbers in C order, ``dtype`` as ``dtype.str``, ``shape`` a list. A
NumPy scalar is a map with ``__npgeneric__`` true, ``data`` the plain number and ``dtype``. Everything else is plain msgpack, so tuples come
back as lists and ``np.float64``, which is a Python float, as a float.

Nothing here runs what a message says: no pickle, no object arrays. Whatever bytes come in, only :class:`EtudeError` comes out.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgpack  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from etude.names import EtudeError

LARGEST_FRAME = 64 * 2**20  # bytes in one message, unless told otherwise: eighty pictures of 512 x 512 with colour
LONGEST_LIST = 2**12  # items: msgpack makes room for as many as a message claims before it looks whether they come
_REFUSED = {"V": "structured or raw", "O": "object", "c": "complex"}
_KINDS = "biufSUmM"  # booleans, integers, floats, bytes, text, durations and times
_DTYPE = re.compile(rf"[<>|=]?[{_KINDS}][0-9]{{1,9}}(\[[0-9]{{0,9}}[A-Za-z]{{1,2}}\])?", re.ASCII)
_LAST_CODE_POINT = 0x10FFFF


def pack(data: Any) -> bytes:
    """The message for ``data``: dicts with text keys, lists, text, bytes, numbers, None, NumPy arrays and scalars."""
    try:
        message: bytes = msgpack.packb(data, default=_plain)
    except EtudeError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise EtudeError(f"cannot be sent to or from a policy server: {_one_line(error)}") from None
    return message


def unpack(message: bytes) -> Any:
    """What ``message`` says. Arrays are read-only views of it."""
    try:
        return msgpack.unpackb(message, object_hook=_rebuilt, ext_hook=_refuse_extension, max_array_len=LONGEST_LIST)
    except EtudeError:
        raise
    # Bytes from a socket may be anything: which of a dozen exceptions msgpack and NumPy choose for it says nothing to the reader.
    except Exception as error:
        raise EtudeError(f"not a message of a policy server: {_one_line(error)}") from None


def _plain(value: Any) -> Any:
    """What msgpack knows in place of a NumPy value."""
    if isinstance(value, np.ndarray):
        _check_kind(value.dtype)
        return {b"__ndarray__": True, b"data": value.tobytes(), b"dtype": value.dtype.str, b"shape": value.shape}
    if isinstance(value, np.generic):
        _check_kind(value.dtype)
        item = value.item()
        if not isinstance(item, (bool, int, float)):  # a time, or a float too wide for Python's
            raise EtudeError(f"a NumPy scalar of dtype {value.dtype} cannot be sent to or from a policy server; send an array")
        return {b"__npgeneric__": True, b"data": item, b"dtype": value.dtype.str}
    what = "a whole number beyond 64 bits" if isinstance(value, int) else f"a value of type {type(value).__name__}"
    raise EtudeError(f"{what} cannot be sent to or from a policy server")


def _check_kind(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in _KINDS:
        what = _REFUSED.get(dtype.kind, "such")
        raise EtudeError(f"{what} arrays (dtype {dtype}) cannot be sent to or from a policy server; send numbers, booleans or text")


def _rebuilt(found: dict[Any, Any]) -> Any:
    if b"__ndarray__" in found:
        return _array(found)
    if b"__npgeneric__" in found:
        return _scalar(found)
    return found


def _array(found: dict[Any, Any]) -> NDArray[Any]:
    dtype, shape, data = _dtype(found.get(b"dtype")), found.get(b"shape"), found.get(b"data")
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        raise EtudeError(f"the shape of an array in a message must be a list of whole numbers, got {shape!r:.60}")
    if not isinstance(data, bytes):
        raise EtudeError(f"the data of an array in a message must be bytes, got {type(data).__name__}")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise EtudeError(f"an array in a message has {len(data)} bytes, which is not {dtype.str} of shape {shape!r:.60}")
    array: NDArray[Any] = np.ndarray(shape=tuple(shape), dtype=dtype, buffer=data)
    if dtype.kind == "U" and (np.frombuffer(data, np.dtype("u4").newbyteorder(dtype.byteorder)) > _LAST_CODE_POINT).any():
        raise EtudeError("an array of text in a message holds a number that is no character")
    return array


def _scalar(found: dict[Any, Any]) -> np.generic:
    dtype, data = _dtype(found.get(b"dtype")), found.get(b"data")
    wanted: dict[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float)}
    if type(data) not in wanted.get(dtype.kind, ()):
        raise EtudeError(f"a NumPy scalar of dtype {dtype.str} in a message cannot be {data!r:.60}")
    value: np.generic = dtype.type(data)
    return value


def _dtype(text: Any) -> np.dtype[Any]:
    """The dtype written as ``text``. NumPy also reads structures, objects and aliases there, so its grammar is cut down first."""
    if isinstance(text, str):
        kind = text.lstrip("<>|=")[:1]
        if kind in _REFUSED:
            raise EtudeError(f"{_REFUSED[kind]} arrays (dtype {text[:20]!r}) are not accepted in a message; send numbers, booleans or text")
        if _DTYPE.fullmatch(text):
            dtype = np.dtype(text)
            if dtype.itemsize:
                return dtype
    raise EtudeError(f"unknown dtype {text!r:.60} in a message; expected one like '<f4' or '|u1'")


def _refuse_extension(code: int, data: bytes) -> Any:
    raise EtudeError(f"a message holds a msgpack extension of type {code}; none is known here")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
