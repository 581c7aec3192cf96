"""PNG files that are put together from pictures packed once: objects on black, wherever they stand.

Every byte is stored as its difference from the same channel of the pixel to the left, so that black and even parts are nothing but zeros.
Runs of zeros and all other bytes get the words of one code, the same for all pictures. So the bits of a row do not depend on what stands
elsewhere: a file is the rows of its pictures, copied, with runs of zeros between them. No library packs anything, hence a file has the same
bytes on every machine. What is packed but once is smaller by :func:`etude.render.png.png`, whose code is made for each picture.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.render.png import Picture, png_file, size_of

Words = NDArray[np.uint64]

LEFT = 1  # the filter of rows that are not black: bytes minus those of the pixel to the left; black rows need none, 0
ADLER = 65521
LONGEST = 258  # bytes that one word of the code may repeat
RUN = 1 + 8 * LONGEST  # zeros whose words, one after the other, are no more than 64 bits


# ------------------------------------------------------------------------------------------------ the code

# Differences up to so large, of either sign, and how many bits their words have; the same for the word that ends a file, and for those that
# repeat the last byte, from short to long. Made for drawn objects on black; it must fill all words there are, else readers refuse it.
DIFFERENCES = ((0, 3), (1, 4), (2, 5), (6, 6), (12, 7), (23, 8), (46, 9), (71, 10), (128, 11))
END = 11
REPEATS = "8989989a999999999999899989993"
# The same for the words that tell these numbers of bits: 0 to 15, and "the last one again, three to six times".
TOLD = "06066655323300002"
TOLD_ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)  # RFC 1951, 3.2.7
MORE_BITS = (*[0] * 8, *[1] * 4, *[2] * 4, *[3] * 4, *[4] * 4, *[5] * 4, 0)  # that follow a word for a length


@dataclass(frozen=True)
class _Code:
    """``words`` and their ``bits``: of the bytes 0 to 255, then of runs of so many zeros. ``start`` begins a file."""

    words: Words
    bits: NDArray[np.int64]
    start: Words
    start_bits: int
    end: int
    end_bits: int


@functools.cache
def _code() -> _Code:
    differences = [next(bits for most, bits in DIFFERENCES if min(k, 256 - k) <= most) for k in range(256)]
    lengths = [*differences, END, *(int(digit, 16) for digit in REPEATS)]
    words = _canonical(lengths)
    repeats = [(0, 0), (words[0], lengths[0]), (words[0] | words[0] << lengths[0], 2 * lengths[0])]  # up to two are written out
    for word, length, more in zip(words[257:], lengths[257:], MORE_BITS, strict=True):
        for extra in range(min(1 << more, LONGEST - len(repeats)) or 1):
            repeats.append((word | extra << length, length + more + 1))  # the last bit, a 0, says that one byte is repeated
    found, bits = [*words[:256], 0], [*lengths[:256], 0]
    long, long_bits = repeats[LONGEST]
    for count in range(1, RUN + 1):
        again, rest = divmod(count - 1, LONGEST)
        word, length = words[0], lengths[0]
        for part, own in (*[(long, long_bits)] * again, repeats[rest]):
            word, length = word | part << length, length + own
        found.append(word)
        bits.append(length)
    start, start_bits = _told_first(lengths)
    return _Code(
        np.array(found, np.uint64),
        np.array(bits, np.int64),
        np.frombuffer(start.to_bytes(start_bits // 64 * 8 + 8, "little"), "<u8").astype(np.uint64),
        start_bits,
        words[256],
        lengths[256],
    )


def _canonical(lengths: Sequence[int]) -> list[int]:
    """The words of a code whose numbers of bits are given (RFC 1951, 3.2.2), first bit lowest; 0 where there is none."""
    found, word = [0] * len(lengths), 0
    for length in range(1, 16):
        for k, own in enumerate(lengths):
            if own == length:
                found[k] = int(f"{word:0{length}b}"[::-1], 2)
                word += 1
        word <<= 1
    return found


def _told_first(lengths: Sequence[int]) -> tuple[int, int]:
    """What stands before the first word of a file, and its bits: that all is one block with a code of its own, and which."""
    told_lengths = [int(digit, 16) for digit in TOLD]
    told_words = _canonical(told_lengths)
    parts = [(0x0178, 16), (1, 1), (2, 2), (len(lengths) - 257, 5), (0, 5), (len(TOLD_ORDER) - 4, 4)]
    parts += [(told_lengths[k] if k < len(told_lengths) else 0, 3) for k in TOLD_ORDER]
    every, k = [*lengths, 1], 0  # the last one is of the only way to go back
    while k < len(every):
        parts.append((told_words[every[k]], told_lengths[every[k]]))
        again = next((n for n in range(6) if every[k + 1 + n : k + 2 + n] != [every[k]]), 6)
        if again >= 3:
            parts += [(told_words[16], told_lengths[16]), (again - 3, 2)]
        k += 1 + (again if again >= 3 else 0)
    found, at = 0, 0
    for word, bits in parts:
        found, at = found | word << at, at + bits
    return found, at


# ------------------------------------------------------------------------------------------------ packing


@dataclass(frozen=True)
class PackedPicture:
    """A picture whose rows are packed. ``rows`` (R, 7), those that are not black: where its differences begin, row and byte, how many
    there are, where their bits begin in ``words`` and how many, and for the checksum their sum, plain and each times its place.
    """

    width: int
    rows: NDArray[np.int64]
    words: Words
    ends_black: bool  # in the last column, so that something may stand beside it


def packed(picture: Picture) -> PackedPicture:
    """Pack a picture (H, W, 3)."""
    height, width = size_of(picture)
    code = _code()
    rows = np.empty((height, 7), np.int64)
    words = np.zeros(height * (width * 3 * 15 // 64 + 2), np.uint64)  # no word of the code is longer than 15 bits
    count, used = _pack(np.ascontiguousarray(picture).reshape(height, width * 3), code.words, code.bits, rows, words)
    return PackedPicture(width, rows[:count].copy(), words[:used].copy(), not picture[:, -1].any())


def laid(height: int, width: int, pieces: Sequence[tuple[PackedPicture, int, int]]) -> bytes | None:
    """The PNG file of packed pictures on black, each with its left and upper pixel in it; None where they overlap or touch."""
    code, stride = _code(), 3 * width + 1
    table = np.empty((sum(len(piece.rows) for piece, _, _ in pieces), 7), np.int64)
    words = np.concatenate([piece.words for piece, _, _ in pieces] or [np.empty(0, np.uint64)])
    count = used = 0
    for piece, x, y in pieces:
        if not piece.ends_black and x + piece.width < width:
            return None
        count = _merge(piece.rows, x, y, stride, used, table, count)
        used += len(piece.words)
    # Around each row stand two runs of zeros and a filter; every run that is longer than one entry of the code takes a word more.
    room = len(code.start) + len(words) + 4 * len(table) + stride * height // RUN + 5
    out = np.zeros(room, np.uint64)
    out[: len(code.start)] = code.start
    size, check = _lay(table, words, stride, stride * height, code.words, code.bits, out, code.start_bits)
    if size < 0:
        return None
    _put(out, size, code.end, code.end_bits)
    data, end = out.astype("<u8", copy=False).data.cast("B"), (size + code.end_bits + 7) // 8
    data[end : end + 4] = check.to_bytes(4, "big")
    return png_file(height, width, data[: end + 4])


@compiled
def _put(words: Words, at: int, word: int, bits: int) -> int:
    """Write a word of at most 64 bits from bit ``at`` on; gives the bit after it."""
    place, shift = at >> 6, np.uint64(at & 63)
    words[place] |= np.uint64(word) << shift
    if (at & 63) + bits > 64:
        words[place + 1] |= np.uint64(word) >> (np.uint64(64) - shift)
    return at + bits


@compiled
def _zeros(words: Words, at: int, count: int, code: Words, bits: NDArray[np.int64]) -> int:
    """Write a run of zeros."""
    while count > 0:
        run = min(count, RUN)
        at = _put(words, at, code[256 + run], bits[256 + run])
        count -= run
    return at


@compiled
def _pack(lines: Picture, code: Words, bits: NDArray[np.int64], rows: NDArray[np.int64], words: Words) -> tuple[int, int]:
    """Fill ``rows`` and ``words``; gives how many of each are used."""
    count, at = 0, 0
    line = np.empty(lines.shape[1], np.uint8)
    for y in range(lines.shape[0]):
        line[:3] = lines[y, :3]
        for x in range(3, len(line)):
            line[x] = lines[y, x] - lines[y, x - 3]
        first, last = 0, len(line)
        while first < last and line[first] == 0:
            first += 1
        while last > first and line[last - 1] == 0:
            last -= 1
        if first == last:
            continue
        begin = at = (at + 63) // 64 * 64
        plain, placed, x = 0, 0, first
        while x < last:
            value = line[x]
            if value:
                at = _put(words, at, code[value], bits[value])
                plain += value
                placed += (x - first) * value
                x += 1
            else:
                run = x + 1
                while line[run] == 0:
                    run += 1
                at = _zeros(words, at, run - x, code, bits)
                x = run
        rows[count] = (y, first, last - first, begin >> 6, at - begin, plain, placed)
        count += 1
    return count, (at + 63) // 64


@compiled
def _merge(rows: NDArray[np.int64], x: int, y: int, stride: int, word: int, table: NDArray[np.int64], count: int) -> int:
    """Put the rows of a picture that stands at pixel (x, y) among the ``count`` rows of a table, which begin with their place in the file;
    its bits stand from this word on. Gives the number of rows that are there now."""
    one, other = count - 1, len(rows) - 1
    while other >= 0:
        begin = (rows[other, 0] + y) * stride + rows[other, 1] + 1 + 3 * x
        into = one + other + 1
        if one >= 0 and table[one, 0] > begin:
            for k in range(7):
                table[into, k] = table[one, k]
            one -= 1
        else:
            for k in range(1, 7):
                table[into, k] = rows[other, k]
            table[into, 0] = begin
            table[into, 3] += word
            other -= 1
    return count + len(rows)


@compiled
def _copy(words: Words, at: int, source: Words, first: int, bits: int) -> int:
    """Write bits that begin with a word of ``source``, from bit ``at`` on; gives the bit after them."""
    place, shift = at >> 6, np.uint64(at & 63)
    if shift == 0:
        for k in range((bits + 63) >> 6):
            words[place + k] = source[first + k]
        return at + bits
    above = words[place]
    for k in range((bits + 63) >> 6):
        words[place + k] = above | source[first + k] << shift
        above = source[first + k] >> (np.uint64(64) - shift)
    words[place + ((bits + 63) >> 6)] = above
    return at + bits


@compiled
def _lay(
    rows: NDArray[np.int64], source: Words, stride: int, total: int, code: Words, bits: NDArray[np.int64], words: Words, at: int
) -> tuple[int, int]:
    """Write rows, whose first number is now their place in the file, and all zeros around them, from bit ``at`` on; gives the bit after
    them and the checksum (Adler-32), or -1 where rows overlap."""
    line, done = -1, 0
    low, high = 1, total
    for k in range(len(rows)):
        begin, _, count, word, left, plain, placed = rows[k]
        y = begin // stride
        if y != line:
            at = _zeros(words, at, y * stride - done, code, bits)
            at = _put(words, at, code[LEFT], bits[LEFT])
            line, done = y, y * stride + 1
            low += LEFT
            high += LEFT * (total - y * stride)
        if begin < done:
            return -1, 0
        at = _zeros(words, at, begin - done, code, bits)
        at = _copy(words, at, source, word, left)
        done = begin + count
        low += plain
        high += (total - begin) * plain - placed
    at = _zeros(words, at, total - done, code, bits)
    return at, (high % ADLER) << 16 | low % ADLER
