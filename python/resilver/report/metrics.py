"""The metrics of runs that are compared over a sweep: their words, their units, their axes."""

from __future__ import annotations

from dataclasses import dataclass

from resilver.charts.scales import Scale, rate_scale, time_scale
from resilver.tables import cell_text


@dataclass(frozen=True)
class Metric:
    """A column of the table `runs` as charts and findings speak of it.

    Args:
        name: What its chart is called: letters and hyphens.
        column: The column, the unit last.
        noun: What it is, within a sentence.
        title: The title of its axis, without the unit.
        kind: "rate", "seconds", "share", "count" or "number"; also how its table shows it.
        source: What it is made of, for the caption.
        zero: Whether 0 is a value; where it is not, a run of 0 has nothing to show.
        is_for_experts: Whether a page folds its chart.
    """

    name: str
    column: str
    noun: str
    title: str
    kind: str
    source: str
    zero: bool = True
    is_for_experts: bool = False

    @property
    def most(self) -> str:
        """What the largest value is called in a finding."""
        return "longest" if self.kind == "seconds" else "highest"

    @property
    def least(self) -> str:
        """What the smallest value is called in a finding."""
        return "shortest" if self.kind == "seconds" else "lowest"

    def words(self, value: float) -> str:
        """A value for people, with its unit."""
        return cell_text(value, self.kind)

    def scale(self, value: float) -> Scale:
        """The unit of an axis on which this value is at least 1."""
        if self.kind == "rate":
            return rate_scale(value)
        if self.kind == "seconds":
            return time_scale(value)
        return Scale(0.01, "%") if self.kind == "share" else Scale(1.0, "")

    def axis_title(self, scale: Scale) -> str:
        """The title of its axis with the unit, where it has one."""
        return f"{self.title} ({scale.unit})" if scale.unit else self.title


REBUILD_TIME = Metric(
    "rebuild-time",
    "rebuild_seconds",
    "rebuild time",
    "rebuild time",
    "seconds",
    "Rebuild time{over}: from the first fault until the last lost byte is written again.",
    zero=False,
)
REBUILD_RATE = Metric(
    "rate",
    "aggregate_bytes_per_second",
    "rebuild rate",
    "aggregate rebuild rate",
    "rate",
    "Aggregate rebuild rate{over}: rebuilt bytes over rebuild time.",
    zero=False,
    is_for_experts=True,
)

DETECTION_METRICS = (
    Metric(
        "detection-time",
        "detection_seconds",
        "detection time",
        "detection time",
        "seconds",
        "From the fault until those devices know that detection.known_by names{over}.",
    ),
    Metric(
        "detection-messages",
        "detection_messages_per_second",
        "the rate of detection messages",
        "detection messages per device per second",
        "number",
        "Messages that a device sends each second to detect failures, before one{over}.",
    ),
    Metric(
        "false-alarms",
        "false_alarms_per_hour",
        "the rate of false alarms",
        "false alarms per hour, all devices",
        "number",
        "How often each hour a device declares a healthy one failed{over}.",
    ),
)
TRAFFIC_METRICS = (
    Metric(
        "goodput-during",
        "during_throughput_bytes_per_second",
        "goodput during the faults",
        "goodput of clients during the faults and their recovery",
        "rate",
        "Bytes of clients' reads and writes completed a second, from the first fault to the end of "
        "its recovery.",
    ),
    Metric(
        "goodput-ratio",
        "during_before_throughput_ratio",
        "goodput during the faults against before",
        "goodput during the faults against that before them",
        "share",
        "What clients get from the first fault to the end of its recovery, against what they got "
        "before it.",
    ),
    Metric(
        "goodput",
        "throughput_bytes_per_second",
        "goodput",
        "goodput of clients, over all",
        "rate",
        "Bytes of clients' completed reads and writes a second, over the whole time of statistics: "
        "before faults, during them and after.",
    ),
    Metric(
        "mean-delay",
        "mean_delay_seconds",
        "mean delay",
        "mean delay of requests, over all",
        "seconds",
        "The time from the first issue of a request to its completion, its mean over all of the "
        "time of statistics.",
        zero=False,
    ),
    Metric(
        "p99-delay",
        "p99_delay_seconds",
        "99th percentile of delays",
        "99th percentile of delays, over all",
        "seconds",
        "The delay that one request in a hundred exceeds, over the whole time of statistics.",
        zero=False,
    ),
    Metric(
        "lost",
        "requests_lost",
        "number of lost requests",
        "requests lost",
        "count",
        "Requests whose timeout passed or whose packets were lost; each is tried again elsewhere.",
    ),
    Metric(
        "mean-hops",
        "mean_hops",
        "mean number of hops",
        "mean hops of delivered packets",
        "number",
        "Channels that a delivered packet crossed, its mean.",
        zero=False,
        is_for_experts=True,
    ),
    Metric(
        "queued",
        "packets_queued_fraction",
        "share of packets that wait",
        "packets that found their channel busy",
        "share",
        "The share of packets, counted at every hop, that found their channel busy.",
        is_for_experts=True,
    ),
    Metric(
        "link-busy",
        "link_busy_fraction",
        "channels' mean busy share",
        "mean busy share of channels",
        "share",
        "The share of the time that a channel was sending, the mean of all channels.",
        is_for_experts=True,
    ),
    Metric(
        "device-busy",
        "device_busy_fraction",
        "devices' mean busy share",
        "mean busy share of devices",
        "share",
        "The share of the time that a device was serving, the mean of all devices.",
        is_for_experts=True,
    ),
)
"""What the page compares over a sweep of studies with traffic, in this order."""

STREAM_METRICS = (
    Metric(
        "rebuilt-in-place",
        "rebuild_bytes_per_second",
        "rate of rebuilt strips",
        "rate of rebuilt strips",
        "rate",
        "Bytes a second of strips that soft errors made servers rebuild.",
        zero=False,
    ),
)
"""What it compares besides where servers make strips anew beside their clients."""
