"""The study file: one frozen model a section, and the study that they make.

A quantity is given as text with its unit, ``"64 MiB"``, or as a value that `resilver.units` made;
a bare number other than zero is an error, in Python as in a file.
"""

from __future__ import annotations

from resilver.spec.arrivals import Arrivals, RequestTargets
from resilver.spec.ceph import CephCluster
from resilver.spec.cluster import Cluster
from resilver.spec.code import ErasureCode
from resilver.spec.corrupt import Corrupt
from resilver.spec.device import DeviceService, DeviceTable
from resilver.spec.durability import DurabilityQuestion
from resilver.spec.ensemble import Ensemble
from resilver.spec.fabric import Fabric
from resilver.spec.failures import Failure
from resilver.spec.faults import Failing, Fault
from resilver.spec.histogram import Histogram
from resilver.spec.jobs import Job, JobSignature
from resilver.spec.lanes import Lanes
from resilver.spec.placement import Placement
from resilver.spec.pools import Pool
from resilver.spec.population import Objects, Population
from resilver.spec.recovery import Recovery
from resilver.spec.redundancy import CodingSpeed, Redundancy
from resilver.spec.run import RESULTS_SCHEMA_VERSION, Run, run_key
from resilver.spec.streams import Bursts, Streams
from resilver.spec.study import Study
from resilver.spec.system import System, auto_group_count
from resilver.spec.topology import TopologySpec
from resilver.spec.traffic import Traffic
