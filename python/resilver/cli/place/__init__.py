"""`resilver place`: where things go, how good that is, and what a change would move."""

from resilver.cli.place.perform import place
from resilver.cli.place.request import PlaceRequest

__all__ = ["PlaceRequest", "place"]
