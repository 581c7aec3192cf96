"""Private seeds: streams derived with a salt that its owner keeps, so that nobody can have trained on what is drawn from them.

A name carries the salt's digest, ``?salt=3f2a…``: it says which salt is needed, and gives it away to nobody. Who evaluates has it in a file
that the variable ETUDE_SALT names.
"""

from __future__ import annotations

import functools
import hashlib
import os
import secrets
from pathlib import Path

from etude.names import EtudeError

VARIABLE = "ETUDE_SALT"
SHORTEST = 16  # bytes: a shorter one could be found by trying


def salt_digest(salt: bytes) -> str:
    """What names tell of a salt."""
    return hashlib.sha256(b"etude salt\n" + salt).hexdigest()[:16]


@functools.lru_cache(maxsize=8)
def read_salt(path: Path) -> bytes:
    """The salt in a file, without what is white around it."""
    try:
        found = path.read_bytes().strip()
    except OSError as error:
        raise EtudeError(f"the salt {str(path)!r} cannot be read: {error.strerror}; 'etude salt FILE' makes one") from None
    if len(found) < SHORTEST:
        raise EtudeError(f"the salt in {str(path)!r} has {len(found)} bytes and could be guessed; 'etude salt FILE' makes one of 64")
    return found


def make_salt(path: Path) -> None:
    """Write a new salt, which nobody but its owner can read; a file that is there stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")


def salt_of(digest: str) -> str:
    """The salt of this digest, for streams; whoever does not have it is told so."""
    place = os.environ.get(VARIABLE, "")
    if not place:
        raise EtudeError(f"seeds with salt={digest} are private: set {VARIABLE} to the file of that salt, which its owner keeps")
    found = read_salt(Path(place))
    if salt_digest(found) != digest:
        raise EtudeError(f"the salt in {place!r} ({VARIABLE}) has the digest {salt_digest(found)}, and the name says salt={digest}")
    return found.hex()
