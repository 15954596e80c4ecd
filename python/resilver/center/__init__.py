"""A center's file system: how large it must be, how full it gets, and what slows it down."""

from resilver.center.sizing import Figure, Need, SizedOffer, Sizing, size
from resilver.center.sizing_file import SizingFile

__all__ = ["Figure", "Need", "SizedOffer", "Sizing", "SizingFile", "size"]
