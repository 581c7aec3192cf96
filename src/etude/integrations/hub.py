"""Folders on the Hugging Face Hub, through its own client (extra ``hub``), which knows where the Hub is and who is logged in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from etude.names import EtudeError

HubKind = Literal["dataset", "model", "space"]
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def hub_repository(push: str | None, kind: HubKind, private: bool) -> HubRepository | None:
    """The repository that ``--push`` names; None where nothing is to be pushed."""
    if push is not None:
        return HubRepository(push, kind, private)
    if private:
        raise EtudeError("--private is for --push OWNER/NAME, which was not given")
    return None


class HubRepository:
    """A repository that may be pushed to. Made before any work is done: what would be refused in the end is refused at once."""

    def __init__(self, name: str, kind: HubKind, private: bool = False) -> None:
        if not _REPOSITORY.fullmatch(name):
            raise EtudeError(f"--push {name!r} is no repository of the Hub; expected OWNER/NAME, such as my-lab/stacking")
        try:
            from huggingface_hub import HfApi
        except ModuleNotFoundError as error:
            raise EtudeError(f"--push needs {error.name!r}, which is not installed: pip install 'etude[hub]'") from None
        from huggingface_hub.errors import LocalTokenNotFoundError

        self.name, self.kind, self._private = name, kind, private
        self._client: Any = HfApi(library_name="etude")
        with self._asked("who is logged in"):
            try:
                self._client.whoami()
            except LocalTokenNotFoundError:
                raise EtudeError("--push needs somebody who is logged in to the Hub: hf auth login") from None

    def push(self, folder: Path, message: str, tag: str = "", only: Sequence[str] = (), ours: Sequence[str] = ()) -> str:
        """Make the repository where there is none, and put a folder into it, or ``only`` these files of it; gives its address.

        What an earlier push left in sub-folders that the folder has too, or under a pattern of ``ours``, and is not there any more, is
        removed; everything else stays. ``tag`` is moved to what was pushed.
        """
        from huggingface_hub.errors import RevisionNotFoundError

        within = [*ours] if only else [f"{path.name}/*" for path in sorted(folder.iterdir()) if path.is_dir()]
        place = {"repo_id": self.name, "repo_type": self.kind}
        with self._asked(f"to take {folder}"):
            made = self._client.create_repo(
                **place, private=self._private or None, exist_ok=True, space_sdk="static" if self.kind == "space" else None
            )
            self._client.upload_folder(
                **place, folder_path=folder, commit_message=message, delete_patterns=within, allow_patterns=list(only) or None
            )
            if tag:
                with suppress(RevisionNotFoundError):  # at the first push
                    self._client.delete_tag(**place, tag=tag)
                self._client.create_tag(**place, tag=tag)
        return str(made)

    @contextmanager
    def _asked(self, what: str) -> Iterator[None]:
        """Whatever the client raises (it has errors of several libraries) is told in one line."""
        try:
            yield
        except EtudeError:
            raise
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            raise EtudeError(f"the Hub was asked {what}, for {self.name}: {' '.join(lines)[:300]}") from error
