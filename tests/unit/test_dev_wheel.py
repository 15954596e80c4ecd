"""A wheel is refused that lacks the page or a study, or whose tag promises too much."""

import zipfile
from pathlib import Path

import pytest

from tools.checkout import DevError
from tools.wheel import PAGE, check_wheel, shipped_studies

CORE = b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.28\0GLIBC_PRIVATE\0"
TAGGED = "resilver-0.1.0-cp311-abi3-manylinux_2_28_x86_64.whl"


def wheel(folder: Path, name: str = TAGGED, core: bytes = CORE, without: str = "") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("resilver/_core.abi3.so", core)
        for file in (*PAGE, *shipped_studies()):
            if file != without:
                archive.writestr(file, "")
    return path


def test_a_whole_wheel_says_what_it_needs(tmp_path: Path) -> None:
    says = check_wheel(wheel(tmp_path))
    assert says == "needs glibc 2.28 or later (its core 2.28)"


@pytest.mark.parametrize("file", [PAGE[0], PAGE[-1], *list(shipped_studies())[:1]])
def test_a_wheel_without_a_file_is_refused(tmp_path: Path, file: str) -> None:
    with pytest.raises(DevError, match=f"lacks {file}"):
        check_wheel(wheel(tmp_path, without=file))


@pytest.mark.parametrize(
    ("name", "core", "says"),
    [
        (TAGGED, CORE + b"GLIBC_2.34\0", r"promises glibc 2\.28, and its core needs 2\.34"),
        (TAGGED.replace("manylinux_2_28", "linux"), CORE, "no manylinux tag"),
    ],
)
def test_a_tag_that_promises_too_much_is_refused(
    tmp_path: Path, name: str, core: bytes, says: str
) -> None:
    with pytest.raises(DevError, match=says):
        check_wheel(wheel(tmp_path, name, core))
