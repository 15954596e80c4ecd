"""What a piece of data needs to survive."""

from __future__ import annotations

from pydantic import Field

from resilver.spec.section import Section


class Redundancy(Section):
    """Replication.

    Args:
        replicas: How many copies of an object there are, the first included.
    """

    replicas: int = Field(
        default=3, strict=True, ge=1, le=16, description="Copies of each object.", examples=[3]
    )
