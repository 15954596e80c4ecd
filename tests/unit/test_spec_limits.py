"""What the core numbers or adds up in so many bits is taken up to the last and refused beyond."""

from __future__ import annotations

from pathlib import Path

import pytest

from resilver.spec import Study
from tests.unit.test_spec_errors import CLUSTER, GENOMES, problems


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            CLUSTER + '[population]\nfile_size = "1125899906842625 B"\nfiles = 1\n',
            'population.file_size = "1125899906842625 B": the largest file has '
            "1125899906842625 B, and a file has at most 1 PiB; split such files",
        ),
        (
            CLUSTER + '[population]\nhistogram = { bins = [["0 B", "2 PiB", 1]] }\nfiles = 1\n',
            'population.histogram = "inline": the largest file has 2251799813685247 B',
        ),
        (
            CLUSTER + '[population]\nhistogram = "mira"\nbytes = "4611686018427387905 B"\n',
            'population.bytes = "4611686018427387905 B": a system would hold more than 4 EiB; use',
        ),
        (
            CLUSTER + '[population]\nhistogram = "genomes1000"\nbytes_per_server = "513 PiB"\n',
            'population.bytes_per_server = "513 PiB": 8 servers would hold more than 4 EiB; use',
        ),
        (
            CLUSTER + '[population]\nfile_size = "1 PiB"\nfiles = 4097\n',
            "population.files = 4097: files of up to 1.0 PiB could hold more than 4 EiB; use fewer",
        ),
        (
            CLUSTER + '[population]\nfile_size = "1 B"\nfiles = 68719476737\n',
            "population.files = 68719476737: a population has at most 2^36 = 68719476736 files;",
        ),
        (
            CLUSTER + '[population]\nfile_size = "1 KiB"\nbytes = "70368744178688 B"\n',
            'population.bytes = "68719476737 KiB": in files of 1.0 KiB on average this is more '
            "than 2^36 = 68719476736 files; use a smaller volume or larger files",
        ),
        (
            # An empty file is drawn as one byte, so 2^36 of them are 64 GiB.
            CLUSTER + '[population]\nhistogram = { bins = [["0 B", "1 B", 1]] }\n'
            'bytes = "68719476737 B"\n',
            'population.bytes = "68719476737 B": in files of 1 B on average this is more than',
        ),
        # 2^50 bytes are 2^28 + 64 chunks of 2^22 - 1 bytes, and one shorter.
        (
            CLUSTER + '[population]\nfile_size = "1 PiB"\nfiles = 1\n'
            'objects = { chunk = "4194303 B" }\n',
            'population.objects.chunk = "4194303 B": a file of 1.0 PiB would be 268435521 objects, '
            "and a file has at most 2^28 = 268435456; use larger chunks",
        ),
        (
            CLUSTER + '[population]\nfile_size = "1 PiB"\nfiles = 1\n'
            'objects = { stripe_unit = "1 KiB", stripe_width = 268435457 }\n',
            'population.objects.stripe_unit = "1 KiB": a file of 1.0 PiB would be 268435457',
        ),
        (
            CLUSTER + '[population]\nfile_size = "1 PiB"\nfiles = 1\nobjects = "whole"\n'
            '[recovery]\npipeline_buffer = "1048575 B"\n',
            'recovery.pipeline_buffer = "1048575 B": an object of 1 PiB would take more than '
            "2^30 = 1073741824 buffers; use at least 1048576 B, or smaller objects",
        ),
        (
            "[cluster]\nservers = 1000000\nracks = 1000000\nrows = 50000\n" + GENOMES,
            "cluster.racks = 1000000: racks, rows and their root are 1050001 buckets, and a map "
            "has at most 1048575; use fewer racks or rows",
        ),
        (
            "[cluster]\nservers = 131073\n" + GENOMES + '[placement]\nalgorithm = "ring"\n',
            "placement.ring_points = 1024: 131073 servers would have 134218752 points, and a ring "
            "has at most 2^27 = 134217728; use at most 1023 points a server",
        ),
    ],
)
def test_what_the_core_cannot_number_is_refused_before_anything_runs(
    tmp_path: Path, text: str, says: str
) -> None:
    assert says in problems(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        CLUSTER + '[population]\nfile_size = "1 PiB"\nfiles = 4096\n',
        CLUSTER + '[population]\nhistogram = "genomes1000"\nbytes_per_server = "512 PiB"\n',
        CLUSTER + '[population]\nfile_size = "1 B"\nfiles = 68719476736\n',
        CLUSTER + '[population]\nfile_size = "1 KiB"\nbytes = "64 TiB"\n',
        CLUSTER + '[population]\nhistogram = { bins = [["0 B", "1 B", 1]] }\nbytes = "64 GiB"\n',
        CLUSTER + '[population]\nfile_size = "1 PiB"\nfiles = 1\nobjects = { chunk = "4 MiB" }\n',
        CLUSTER + '[population]\nfile_size = "1 PiB"\nfiles = 1\nobjects = "whole"\n'
        '[recovery]\npipeline_buffer = "1 MiB"\n',
        # A volume of 1 TiB holds no file of 1 PiB.
        CLUSTER + '[population]\nfile_size = "1 PiB"\nbytes = "1 TiB"\nobjects = "whole"\n'
        '[recovery]\npipeline_buffer = "1 KiB"\n',
        "[cluster]\nservers = 131072\n" + GENOMES + '[placement]\nalgorithm = "ring"\n',
    ],
)
def test_what_the_core_can_just_number_is_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.toml").write_text(text)
    assert Study.load(tmp_path / "study.toml").runs()
