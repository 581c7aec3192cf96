"""The messages of policy servers: openpi's bytes exactly, and nothing but an EtudeError for bytes that are none."""

import struct
import tracemalloc
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from etude.names import EtudeError
from etude.policies.wire import pack, unpack


def key(name: bytes) -> bytes:
    """A map's key as bytes: bin 8 (c4), its length, itself."""
    return b"\xc4" + bytes([len(name)]) + name


def array_map(data: bytes, dtype: bytes, shape: bytes) -> bytes:
    """A map of four (84): the mark is true (c3), the data is bin 8, the dtype a short text (a0 + length), the shape as given."""
    return (
        b"\x84" + key(b"__ndarray__") + b"\xc3" + key(b"data") + b"\xc4" + bytes([len(data)]) + data
        + key(b"dtype") + bytes([0xA0 + len(dtype)]) + dtype + key(b"shape") + shape
    )  # fmt: skip


def scalar_map(data: bytes, dtype: bytes) -> bytes:
    return b"\x83" + key(b"__npgeneric__") + b"\xc3" + key(b"data") + data + key(b"dtype") + bytes([0xA0 + len(dtype)]) + dtype


# {"actions": float32 [[1, -2]]}, written out byte by byte.
ACTIONS = bytes.fromhex(
    "81"  # a map of one
    "a7 61 63 74 69 6f 6e 73"  # "actions"
    "84"  # a map of four
    "c4 0b 5f 5f 6e 64 61 72 72 61 79 5f 5f c3"  # b"__ndarray__": true
    "c4 04 64 61 74 61 c4 08 00 00 80 3f 00 00 00 c0"  # b"data": eight bytes, 1.0 and -2.0
    "c4 05 64 74 79 70 65 a3 3c 66 34"  # b"dtype": "<f4"
    "c4 05 73 68 61 70 65 92 01 02"  # b"shape": [1, 2]
)

# {"prompt": "go", "seen": uint8 (2,), "n": np.int64(7), "on": np.bool_(True)}
OBSERVATION = bytes.fromhex(
    "84"
    "a6 70 72 6f 6d 70 74 a2 67 6f"  # "prompt": "go"
    "a4 73 65 65 6e"  # "seen"
    "84 c4 0b 5f 5f 6e 64 61 72 72 61 79 5f 5f c3"
    "c4 04 64 61 74 61 c4 02 ff 01"
    "c4 05 64 74 79 70 65 a3 7c 75 31"  # "|u1"
    "c4 05 73 68 61 70 65 91 02"
    "a1 6e"  # "n"
    "83 c4 0d 5f 5f 6e 70 67 65 6e 65 72 69 63 5f 5f c3"  # b"__npgeneric__": true
    "c4 04 64 61 74 61 07"
    "c4 05 64 74 79 70 65 a3 3c 69 38"  # "<i8"
    "a2 6f 6e"  # "on"
    "83 c4 0d 5f 5f 6e 70 67 65 6e 65 72 69 63 5f 5f c3"
    "c4 04 64 61 74 61 c3"
    "c4 05 64 74 79 70 65 a3 7c 62 31"  # "|b1"
)


def test_actions_are_written_as_the_bytes_of_openpi() -> None:
    assert pack({"actions": np.array([[1, -2]], np.float32)}) == ACTIONS


def test_an_observation_is_written_as_the_bytes_of_openpi() -> None:
    said = {"prompt": "go", "seen": np.array([255, 1], np.uint8), "n": np.int64(7), "on": np.bool_(True)}
    assert pack(said) == OBSERVATION


def test_the_bytes_of_openpi_are_read() -> None:
    actions = unpack(ACTIONS)["actions"]
    assert actions.dtype == np.float32 and actions.tolist() == [[1.0, -2.0]]
    seen = unpack(OBSERVATION)
    assert seen["prompt"] == "go" and seen["seen"].tolist() == [255, 1]
    assert type(seen["n"]) is np.int64 and seen["n"] == 7
    assert type(seen["on"]) is np.bool_ and seen["on"]


def test_an_array_that_was_read_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        unpack(ACTIONS)["actions"][0, 0] = 3.0


def test_a_reader_without_our_code_sees_plain_maps() -> None:
    plain = msgpack.unpackb(pack({"a": np.arange(4, dtype=">i2").reshape(2, 2).T}))["a"]
    assert plain == {b"__ndarray__": True, b"data": struct.pack(">4h", 0, 2, 1, 3), b"dtype": ">i2", b"shape": [2, 2]}


# ------------------------------------------------------------------------------------------------ round trip

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.byte_string_dtypes(endianness="?", max_len=5),
    hnp.unicode_string_dtypes(endianness="?", max_len=5),
    hnp.datetime64_dtypes(endianness="?"),
    hnp.timedelta64_dtypes(endianness="?"),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def views(array: np.ndarray[Any, Any]) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    """The array itself and views of it that do not lie in C order."""
    if array.ndim == 0:
        return st.just(array)
    return st.sampled_from([array, array.T, array[::-1], array[..., ::2]])


ARRAYS = hnp.arrays(DTYPES, SHAPES).flatmap(views)
SCALARS = st.one_of(hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes(sizes=(16, 32))).flatmap(
    lambda dtype: hnp.from_dtype(dtype).map(dtype.type)
)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(), st.binary())
DATA = st.recursive(
    st.one_of(PLAIN, ARRAYS, SCALARS), lambda part: st.one_of(st.lists(part, max_size=4), st.dictionaries(st.text(), part, max_size=4))
)


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit: types, dtypes, shapes and bytes, so that NaN equals itself and 0.0 is not -0.0."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and (a.dtype.str, a.shape, a.tobytes()) == (b.dtype.str, b.shape, b.tobytes())
    if isinstance(a, np.floating | float):
        return type(a) is type(b) and (np.asarray(a).tobytes() == np.asarray(b).tobytes() or (a != a and b != b))
    return type(a) is type(b) and a == b


@given(DATA)
@settings(max_examples=150)
def test_whatever_is_packed_comes_back_the_same(data: Any) -> None:
    assert same(data, unpack(pack(data)))


def test_an_array_without_dimensions_stays_an_array() -> None:
    back = unpack(pack(np.array(3.5)))
    assert isinstance(back, np.ndarray) and back.shape == () and back == 3.5


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "value",
    [
        np.array([1j]),
        np.complex64(1j),
        np.array([None, {}], object),
        np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")]),
        np.zeros(2, "V3"),
        np.array(["long text"], np.dtypes.StringDType()),
        np.datetime64("2020-01-01"),
        np.longdouble(1),
        {1, 2},
        1j,
        2**64,
        "\ud800",
    ],
    ids=repr,
)
def test_what_the_wire_cannot_say_is_refused_in_one_line(value: Any) -> None:
    with pytest.raises(EtudeError) as caught:
        pack({"nested": [value]})
    assert "\n" not in str(caught.value)


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(EtudeError):
        pack(endless)


FOUR = bytes(4)
BAD_MESSAGES = {
    "nothing": b"",
    "no msgpack": b"\xc1",
    "half a map": b"\x82\xa1a\x01",
    "bytes after the end": b"\xc0\xc0",
    "a list said to be huge": b"\xdd\xff\xff\xff\xff\x00",
    "a map said to be huge": b"\xdf\xff\xff\xff\xff",
    "bytes said to be huge": b"\xc6\xff\xff\xff\xff\x00",
    "text that is none": b"\xa2\xff\xfe",
    "a number for a key": b"\x81\x01\x02",
    "lists without end": b"\x91" * 100_000 + b"\xc0",
    "an extension": b"\xd4\x05\x00",
    "a structure": array_map(FOUR, b"<i2,<i2", b"\x91\x01"),
    "a raw type": array_map(FOUR, b"|V4", b"\x91\x01"),
    "objects": array_map(bytes(8), b"|O", b"\x91\x01"),
    "complex numbers": array_map(bytes(8), b"<c8", b"\x91\x01"),
    "an alias of a dtype": array_map(FOUR, b"float32", b"\x91\x01"),
    "a dtype that is not": array_map(FOUR, b"<f5", b"\x91\x01"),
    "an empty dtype": array_map(FOUR, b"", b"\x91\x01"),
    "a dtype without size": array_map(b"", b"|S0", b"\x91\xcf\x00\x00\xff\xff\xff\xff\xff\xff"),
    "another unit of time": array_map(bytes(8), b"<M8[xy]", b"\x91\x01"),
    "a byte too few": array_map(bytes(3), b"<f4", b"\x91\x01"),
    "a byte too many": array_map(bytes(5), b"<f4", b"\x91\x01"),
    "a negative length": array_map(FOUR, b"<f4", b"\x92\xff\xff"),
    "a huge shape": array_map(FOUR, b"<f4", b"\x92" + (b"\xcf" + b"\xff" * 8) * 2),
    "a huge empty shape": array_map(b"", b"<f4", b"\x93\x00" + (b"\xcf\x7f" + b"\xff" * 7) * 2),
    "a shape of floats": array_map(FOUR, b"<f4", b"\x91\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"),
    "a shape of booleans": array_map(FOUR, b"<f4", b"\x91\xc3"),
    "a shape that is a number": array_map(FOUR, b"<f4", b"\x01"),
    "a shape of 70 dimensions": array_map(FOUR, b"<f4", b"\xdc\x00\x46" + b"\x01" * 70),
    "no character": array_map(b"\xff\xff\xff\xff", b"<U1", b"\x91\x01"),
    "no character, the other way round": array_map(b"\x00\x11\x00\x00", b">U1", b"\x91\x01"),
    "an array of its mark alone": b"\x81" + key(b"__ndarray__") + b"\xc3",
    "an array with text for data": b"\x82" + key(b"__ndarray__") + b"\xc3" + key(b"data") + b"\xa1a",
    "a scalar of its mark alone": b"\x81" + key(b"__npgeneric__") + b"\xc3",
    "a scalar too large": scalar_map(b"\xcd\x01\x00", b"|u1"),
    "a scalar with text": scalar_map(b"\xa11", b"<f4"),
    "a scalar that is a list": scalar_map(b"\x90", b"<f4"),
    "a complex scalar": scalar_map(b"\x01", b"<c8"),
    "an object scalar": scalar_map(b"\x01", b"|O"),
    "a fraction for an integer": scalar_map(b"\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", b"<i4"),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD_MESSAGES.values(), ids=BAD_MESSAGES.keys())
def test_a_malformed_message_is_refused_in_one_line(message: bytes) -> None:
    with pytest.raises(EtudeError) as caught:
        unpack(message)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_no_room_is_made_for_what_a_message_only_claims_to_hold() -> None:
    claims = (b"\xdd" + (10**6).to_bytes(4, "big")) * 200 + bytes(10**6)  # lists in lists, each of a million
    tracemalloc.start()
    try:
        with pytest.raises(EtudeError, match="1000000 exceeds max_array_len"):
            unpack(claims)
        assert tracemalloc.get_traced_memory()[1] < len(claims)
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=80))
@settings(max_examples=200)
def test_random_bytes_are_read_or_refused(message: bytes) -> None:
    read_or_refused(message)


@given(DATA, st.data())
@settings(max_examples=200)
def test_damaged_messages_are_read_or_refused(data: Any, draw: st.DataObject) -> None:
    message = bytearray(pack(data))
    for _ in range(draw.draw(st.integers(1, 4), label="changes")):
        where = draw.draw(st.integers(0, max(len(message) - 1, 0)), label="where")
        how = draw.draw(st.sampled_from(["set", "cut", "insert", "drop"]), label="how")
        byte = draw.draw(st.integers(0, 255), label="byte")
        if how == "cut":
            del message[where:]
        elif how == "drop":
            del message[where : where + 1]
        elif how == "insert" or not message:
            message.insert(where, byte)
        else:
            message[where] = byte
    read_or_refused(bytes(message))


FIELDS = st.one_of(
    st.integers(-3, 2**40), st.text(max_size=3), st.binary(max_size=8), st.lists(st.integers(-1, 3), max_size=3), st.floats()
)
TYPES = st.one_of(st.from_regex(r"[<>|=]?[a-zA-Z?][0-9]{0,3}(\[[a-z]{1,2}\])?", fullmatch=True), st.text(max_size=6))


@given(st.sampled_from([b"__ndarray__", b"__npgeneric__"]), FIELDS, st.one_of(TYPES, FIELDS), FIELDS)
@settings(max_examples=200)
def test_arrays_with_odd_parts_are_read_or_refused(mark: bytes, data: Any, dtype: Any, shape: Any) -> None:
    read_or_refused(msgpack.packb({mark: True, b"data": data, b"dtype": dtype, b"shape": shape}))


def read_or_refused(message: bytes) -> None:
    try:
        found = unpack(message)
    except EtudeError:
        return
    repr(found)  # what was read can also be used: a text array, say, with a number that is no character cannot
