"""dev.py sizes holds each room to its ceiling, and a ceiling falls with what goes."""

import subprocess
from pathlib import Path

import pytest

from tools import budget, checkout

BUDGETS = """
[lines]
"crates" = { budget = 100, ceiling = 400 }
"crates/a crates/b" = { budget = 50, ceiling = 250 }

[folders]
studies = { budget = 1, ceiling = 3 }
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two crates that count, one that is ignored, and two studies."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    for name, lines in {
        "crates/a/lib.rs": 120,
        "crates/b/lib.rs": 30,
        "crates/ab/lib.rs": 75,
        "crates/a/table.csv": 1000,
        "crates/ignored/lib.rs": 1000,
        "studies/one/study.toml": 1,
        "studies/two/study.toml": 1,
        "studies/list.md": 1,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n" * lines, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("/crates/ignored\n", encoding="utf-8")
    (tmp_path / "budget.toml").write_text(BUDGETS, encoding="utf-8")
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    return tmp_path


def test_a_room_has_the_lines_of_the_sources_that_git_knows(house: Path) -> None:
    # 120 + 30 + 75; no table, nothing ignored. `crates/ab` is not in `crates/a`.
    found = {room.name: room.present for room in budget.rooms()}
    assert found == {"crates": 225, "crates/a crates/b": 150, "studies": 2}
    budget.check_sizes()


def test_a_room_above_its_ceiling_fails(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (house / "crates" / "a" / "lib.rs").write_text("x\n" * 221, encoding="utf-8")
    with pytest.raises(checkout.DevError, match="crates/a crates/b has 251 lines of 250"):
        budget.check_sizes()
    # 221 + 30 + 75 of the whole, 226 above its budget of 100.
    assert "326      400      100 lines, 226 to go" in capsys.readouterr().out


def test_ceilings_fall_to_what_stands_and_never_rise(house: Path) -> None:
    """In full hundreds of lines, not below the budget."""
    budget.lower_ceilings()
    assert {room.name: room.ceiling for room in budget.rooms()} == {
        "crates": 300,
        "crates/a crates/b": 200,
        "studies": 2,
    }
    (house / "crates" / "a" / "lib.rs").write_text("x\n" * 999, encoding="utf-8")
    budget.lower_ceilings()
    assert budget.rooms()[0].ceiling == 300
    (house / "crates" / "a" / "lib.rs").unlink()
    (house / "crates" / "ab" / "lib.rs").unlink()
    budget.lower_ceilings()
    assert [room.ceiling for room in budget.rooms()] == [100, 100, 2]
