"""What the core in a page is asked: the very text and maps that the native core gets."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from resilver.core_errors import core_errors
from resilver.core_input import core_json
from resilver.errors import ConfigError, Problem, show
from resilver.simulate.from_page import RunKind
from resilver.simulate.maps import maps_of
from resilver.spec import System
from resilver.whatif.request import Prepared


@dataclass(frozen=True)
class CoreRequest:
    """A run that the core in a page can begin.

    Attributes:
        kind: Whether a system runs, or a Ceph cluster heals.
        input: The JSON that the native core gets.
        maps: The CRUSH maps beside it, in Ceph's binary form.
    """

    kind: RunKind
    input: str
    maps: tuple[bytes, ...] = ()

    def to_json(self) -> str:
        """The request as ``core.mjs`` reads it, with the maps in Base64."""
        maps = [b64encode(one).decode("ascii") for one in self.maps]
        return json.dumps({"kind": self.kind, "input": self.input, "maps": maps})

    @classmethod
    def from_json(cls, text: str | bytes) -> CoreRequest:
        """Read what `to_json` writes.

        Args:
            text: The request; what is in its input, the core judges.

        Raises:
            ConfigError: It is no request.
        """
        try:
            given = json.loads(text)
        except RecursionError:
            raise ConfigError("the request is JSON of too many levels; give an object") from None
        except ValueError as error:
            raise ConfigError(f"the request is not JSON ({error}); give an object") from None
        if not isinstance(given, dict):
            raise ConfigError("a request is an object", 'give {"kind": ...}')
        names = [one.name for one in fields(cls)]
        if set(given) != set(names):
            rule, remedy = "a request has other keys", f"give {', '.join(names)} and no more"
            raise ConfigError(rule, remedy, value=show(sorted(given)))
        return cls(_kind(given["kind"]), _input(given["input"]), _maps(given["maps"]))


def _kind(value: Any) -> RunKind:
    kinds = get_args(RunKind)
    if value not in kinds:
        remedy = f"give {' or '.join(map(show, kinds))}"
        raise ConfigError("there is no such kind of run", remedy, "kind", show(value))
    kind: RunKind = value
    return kind


def _input(value: Any) -> str:
    problem = Problem("the input is text in UTF-8", "give its JSON as one text", "input")
    if not isinstance(value, str):
        raise ConfigError(replace(problem, value=show(value)))
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # JSON can have half of a pair of surrogates, which the core cannot.
        raise ConfigError(replace(problem, place=f"character {error.start}")) from None
    return value


def _maps(value: Any) -> tuple[bytes, ...]:
    if not isinstance(value, list):
        rule = "the maps are a list"
        raise ConfigError(rule, "give one in Base64 a map", "maps", show(value))
    return tuple(_map(number, one) for number, one in enumerate(value))


def _map(number: int, value: Any) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (TypeError, ValueError):
        rule, remedy = "a map is text in Base64", "give it in Ceph's binary form"
        raise ConfigError(rule, remedy, f"maps[{number}]", show(value)) from None


def system_request(system: System, seed: int) -> CoreRequest:
    """The run of one system with one seed, as `resilver.study.simulate` begins it.

    Args:
        seed: The key of every random draw, 0 to 2^64 - 1.

    Raises:
        PlacementError: A CRUSH map cannot be used, or written.
    """
    return CoreRequest("system", core_json(system, seed), system_maps(system, seed))


def system_maps(system: System, seed: int) -> tuple[bytes, ...]:
    """The CRUSH maps beside a system's JSON, in Ceph's binary form.

    Args:
        seed: The seed of the run, for messages.

    Raises:
        PlacementError: A map cannot be used, or written.
    """
    with core_errors(f"seed {seed}"):
        return tuple(one.to_bytes() for one in maps_of(system))


def cluster_request(ready: Prepared) -> CoreRequest:
    """The run of a real cluster and a plan, as `resilver.whatif` begins it.

    Args:
        ready: The cluster and its plan.
    """
    return CoreRequest("cluster", ready.text)
