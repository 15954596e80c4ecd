"""What requests take to pass a part between devices and network ports."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema, model_validator

from resilver.errors import Problem, Problems
from resilver.spec.section import Positive, Section
from resilver.units import BytesPerSecond, Seconds, exact_rate

PER_REQUEST_MAX = Seconds(3600)
"""The longest that a part takes for a request beside its bytes: what is slower is a slip."""


class PartService(Section):
    """What it takes to pass a part, one request after another.

    In a study file a rate alone says it: ``service = "17 GB/s"``.
    """

    rate: Positive[BytesPerSecond] | None = Field(default=None, examples=["17 GB/s"])
    """How fast bytes pass. Default: they take no time."""
    per_request: Seconds = Field(default=Seconds(0), examples=["5 us"])
    """The time of each request beside its bytes."""

    @model_validator(mode="before")
    @classmethod
    def _of_rate(cls, data: Any) -> Any:
        """Take a rate alone."""
        return data if isinstance(data, dict | PartService) else {"rate": data}

    @property
    def words(self) -> str:
        """What a message shows of it."""
        return "a table" if self.rate is None else exact_rate(self.rate)

    def _problems(self) -> Problems:
        if not 0 <= self.per_request <= PER_REQUEST_MAX:
            rule, remedy = "a request passes within an hour", 'such as "5 us"'
            yield Problem(rule, remedy, key="per_request")
        if self.rate is None and not self.per_request:
            yield Problem("it takes no time", 'say how much, such as "17 GB/s"')


ServiceOfParts = Annotated[
    PartService | None,
    WithJsonSchema(
        {
            "description": "What a byte or a request takes to pass such a part: a rate, or a table "
            "of rate and per_request.",
            "examples": ["17 GB/s"],
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {"rate": {"type": "string"}, "per_request": {"type": "string"}},
                    "additionalProperties": False,
                },
            ],
        }
    ),
]
