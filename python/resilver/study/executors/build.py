"""Which resilver a process runs: a driver and its workers must run the same."""

from __future__ import annotations

import functools
import hashlib
import platform
from dataclasses import dataclass
from pathlib import Path

from resilver.spec import RESULTS_SCHEMA_VERSION

# Long enough that two builds never share it, short enough to print.
_DIGITS = 12


@dataclass(frozen=True)
class Build:
    """What decides the bytes that a run gives.

    Attributes:
        version: the version of resilver.
        schema: the version of the tables of results.
        machine: the processor architecture.
        core: the first digits of the SHA-256 of the native core and of the Python beside it.
    """

    version: str
    schema: int
    machine: str
    core: str

    def difference(self, other: Build) -> str | None:
        """How another build differs from this one, in words.

        Args:
            other: a worker's build.

        Returns:
            None where both give the same bytes. Wheels for two architectures hold different
            machine code for the same version and are taken to agree.
        """
        if other.version != self.version:
            return f"runs resilver {other.version}, and this is {self.version}"
        if other.schema != self.schema:
            return f"writes tables of version {other.schema}, and this writes {self.schema}"
        if other.machine == self.machine and other.core != self.core:
            return f"runs another build of resilver {self.version} ({other.core}, not {self.core})"
        return None


@functools.cache
def own_build() -> Build:
    """The build of this process.

    Returns:
        Its version and what tells builds of one version apart.
    """
    import resilver

    folder = Path(resilver.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".so", ".toml", ".dat"):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    return Build(
        str(resilver.__version__),
        RESULTS_SCHEMA_VERSION,
        platform.machine(),
        digest.hexdigest()[:_DIGITS],
    )
