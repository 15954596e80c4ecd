"""What a walk or a listing met and did not count, and names as text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """What was met and not counted.

    Attributes:
        symbolic_links: Symbolic links, which are not followed.
        special_files: Sockets, pipes and devices.
        further_names: Further names of files that have several (hard links).
        other_file_systems: Folders on which another file system is mounted.
        unreadable: Folders and files that could not be read, such as for want of permission.
        vanished: Folders and files that were gone when their turn came.
        without_size: Entries of a listing that have no size, such as delete markers.
        too_large: Files above 1 PiB, which a population cannot have.
        examples: Some of what could not be read, each with the reason.
    """

    symbolic_links: int = 0
    special_files: int = 0
    further_names: int = 0
    other_file_systems: int = 0
    unreadable: int = 0
    vanished: int = 0
    without_size: int = 0
    too_large: int = 0
    examples: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """The counts by name, those above zero."""
        found = {name: value for name, value in vars(self).items() if name != "examples"}
        return {name: value for name, value in found.items() if value}


def printable(text: str) -> str:
    """Text without the line ends and control characters that a file's name may have.

    >>> printable("a\\nb")
    'a\\\\nb'
    """
    clean = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in clean
    )
