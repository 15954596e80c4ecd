"""The page on result tables names every column, and no other."""

import re
from pathlib import Path

from resilver.columns import SHARD_SCHEMAS
from resilver.spec.lanes import CLASSES
from resilver.whatif.columns import TABLES

DOCS = Path(__file__).resolve().parents[2] / "docs"
OF_WHAT_IF = DOCS / "what-if-tables.md"


def sections(page: Path = DOCS / "tables.md") -> dict[str, str]:
    """The text of each table's section by the names in its heading."""
    parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)[1:]
    found = {}
    for part in parts:
        heading, _, text = part.partition("\n")
        for name in re.findall(r"`(\w+)`", heading):
            found[name] = text
    return found


def test_there_is_a_section_for_each_table() -> None:
    assert list(sections()) == list(SHARD_SCHEMAS)


def test_nothing_is_explained_that_is_no_column() -> None:
    known = {column for schema in SHARD_SCHEMAS.values() for column in schema.names}
    # What a run cost is joined to its row from elsewhere, and a histogram's quantities are values.
    known |= {"wall_seconds", "peak_rss_bytes", "read_delay_seconds", "write_delay_seconds"}
    known |= {"hops", "channel_busy_fraction", *SHARD_SCHEMAS}
    # The parts of a system that have lanes, and the classes of traffic, are values too.
    known |= {"interfaces", "devices", *CLASSES}
    for name, text in sections().items():
        assert set(re.findall(r"`(\w+)`", text)) <= known, name


def test_a_what_if_has_a_section_for_each_table_that_names_its_columns_alone() -> None:
    found = sections(OF_WHAT_IF)
    assert list(found) == list(TABLES)
    others = {*TABLES, "backfillfull", "nearfull", "full", "max_avail", "min_size"}
    others |= {"pg_autoscale_mode"}
    for name, text in found.items():
        columns = {word for word in re.findall(r"`(\w+)`", text)}
        assert set(TABLES[name].names) <= columns
        assert columns <= {*TABLES[name].names, *others}, name
