"""One claim about many things in one test: what would be thousands of cases, each dearer to start than to decide."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable

import pytest


def every(argument: str, items: Iterable[object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The test holds for each of the items, given to it as ``argument``; those for which it does not are all named."""
    items = tuple(items)
    assert items, f"no {argument} to claim anything of"

    def decorate(claim: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(claim)
        def test(**fixtures: object) -> None:
            failures = []
            for item in items:
                try:
                    claim(**{argument: item}, **fixtures)
                except (Exception, pytest.fail.Exception) as failure:
                    failures.append((item, failure))
            if failures:
                said = "\n".join(f"{argument} {item!r}: {type(failure).__name__}: {failure}" for item, failure in failures)
                raise AssertionError(f"{len(failures)} of {len(items)} fail\n{said}") from failures[0][1]

        signature = inspect.signature(claim)
        others = [parameter for name, parameter in signature.parameters.items() if name != argument]
        assert len(others) == len(signature.parameters) - 1, f"{claim.__name__} takes no {argument}"
        test.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return test

    return decorate
