"""Makes the installed lerobot importable beside torch for the CPU and on Python 3.11. Doing it twice does no harm.

lerobot is written for Python 3.12: a few declarations of types are put in the older form. torchvision, where there is only a build for
CUDA, fails when it registers kernels for detection, which nobody here uses.
"""

import re
import sysconfig
from pathlib import Path

GENERIC = re.compile(r"^(@dataclass\n)?class (\w+)\[([\w, ]+)\](?:\((\w+)\))?:", re.MULTILINE)
FUNCTION = re.compile(r"^def (\w+)\[(\w+): \w+\]\(", re.MULTILINE)
ALIAS = re.compile(r"^type (\w+) = ", re.MULTILINE)


def declared(names: list[str]) -> str:
    return "from typing import Generic, TypeVar\n" + "".join(f'{name} = TypeVar("{name}")\n' for name in names)


def generic(match: re.Match[str]) -> str:
    decorator, name, parameters, base = match.groups()
    bases = f"{base}, " if base else ""
    return declared(parameters.split(", ")) + (decorator or "") + f"class {name}({bases}Generic[{parameters}]):"


def older(text: str) -> str:
    text = ALIAS.sub(r"\1 = ", text)
    text = GENERIC.sub(generic, text)
    return FUNCTION.sub(lambda m: declared([m[2]]) + f"def {m[1]}(", text)


def main() -> None:
    site = Path(sysconfig.get_path("purelib"))
    (site / "torchvision/_meta_registrations.py").write_text("")
    for path in sorted((site / "lerobot").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if older(text) != text:
            path.write_text(older(text), encoding="utf-8")


if __name__ == "__main__":
    main()
