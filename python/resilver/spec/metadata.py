"""What operations on files need of a cluster, and what its metadata servers are not for."""

from __future__ import annotations

from resilver.errors import Problem, Problems, name_remedy, show
from resilver.spec.cluster import Cluster
from resilver.spec.device import DeviceService
from resilver.spec.mixes import MixedRequests
from resilver.spec.placement import Placement
from resilver.spec.traffic import Traffic

_RATES = 'such as device = { operations = { stat = "50000 /s" } }'


def operation_problems(cluster: Cluster, traffic: Traffic) -> list[Problem]:
    """What is wrong between what clients ask and the cluster's metadata servers."""
    servers, every = cluster.metadata_servers(), cluster.server_count
    trace = traffic.arrivals.trace if traffic.arrivals is not None else None
    if servers and (traffic.is_striped or trace is not None):
        key = "arrivals.trace" if trace is not None else "streams" if traffic.streams else "jobs"
        rule = "streams, jobs and traces have no operations, and the cluster has metadata servers"
        return [Problem(rule, "use a mix, or remove the servers", key=f"traffic.{key}")]
    classes = list(enumerate(traffic.mix or ()))
    of_data = next((index for index, one in classes if one.operation is None), None)
    if servers and len(servers) == every and (of_data is not None or not classes):
        key = "traffic" if of_data is None else f"traffic.mix.{of_data}.size"
        rule = "all devices are metadata servers, and none holds data"
        return [Problem(rule, "add devices without operations, of a class of their own", key=key)]
    of_operations = [(index, one) for index, one in classes if one.operation is not None]
    return [*_server_problems(cluster, traffic, of_operations), *_stripes(cluster, of_operations)]


def _server_problems(
    cluster: Cluster, traffic: Traffic, classes: list[tuple[int, MixedRequests]]
) -> Problems:
    """Operations that no metadata server, or not each of them, serves."""
    kinds = [kind for kind in cluster.device_kinds if kind.serves_metadata]
    if classes and not kinds:
        index, one = classes[0]
        key, rule = f"traffic.mix.{index}.operation", "no device serves operations on files"
        yield Problem(rule, _RATES, key=key, value=show(one.operation))
        return
    own = [kind for kind in kinds if traffic.metadata in (None, kind.device_class)]
    if classes and not own:
        names = [kind.device_class for kind in kinds if kind.device_class is not None]
        remedy = name_remedy(str(traffic.metadata), names, "classes")
        rule, value = "no metadata server has this class", show(traffic.metadata)
        yield Problem(rule, remedy, key="traffic.metadata", value=value)
        return
    for index, one in classes:
        for kind in own:
            rates = kind.device.rates if isinstance(kind.device, DeviceService) else {}
            if one.operation not in rates:
                rule = f"a metadata server has no rate of {one.operation}"
                key = f"traffic.mix.{index}.operation"
                remedy = f'add {one.operation} = "10000 /s" to its operations'
                yield Problem(rule, remedy, key=key, value=show(one.operation))
                break


def _stripes(cluster: Cluster, classes: list[tuple[int, MixedRequests]]) -> Problems:
    """Files of more stripes than there are devices of data."""
    most = cluster.server_count - len(cluster.metadata_servers())
    for index, one in classes:
        if (one.stripes or 0) > most:
            rule = f"there are {most} devices of data, and each stripe is on one of its own"
            key, value = f"traffic.mix.{index}.stripes", show(one.stripes)
            yield Problem(rule, "use fewer, or more devices", key=key, value=value)


def holder_problems(cluster: Cluster, placement: Placement | None) -> list[Problem]:
    """Data that is placed on metadata servers."""
    name = placement.only_class if placement is not None else None
    held = [kind for kind in cluster.device_kinds if name in (None, kind.device_class)]
    if not any(kind.serves_metadata for kind in held):
        return []
    rule = "metadata servers hold no data"
    remedy = 'name the class of the devices that do, such as class = "ost"'
    value = None if name is None else show(name)
    return [Problem(rule, remedy, key="placement.class", value=value)]
