"""The public names of `resilver.simulate` and where each is from."""

from .affecting import (
    affected as affected,
    affected_batches as affected_batches,
    affected_groups as affected_groups,
)
from .balance import (
    BalancePlan as BalancePlan,
    OsdShares as OsdShares,
    balance_by_bytes as balance_by_bytes,
    balance_by_groups as balance_by_groups,
)
from .code_trees import CodeTree as CodeTree, RepairStep as RepairStep, code_tree as code_tree
from .codes import Code as Code, Survivable as Survivable, redundancy as redundancy
from .devices import drawn_speeds as drawn_speeds, named_faults as named_faults
from .flows import FairRates as FairRates, fair_rates as fair_rates
from .incident import set_loss_probability as set_loss_probability
from .layouts import (
    ParityGroupBalance as ParityGroupBalance,
    group_sets_of as group_sets_of,
    parity_group_balance as parity_group_balance,
    place_objects as place_objects,
    place_pieces as place_pieces,
)
from .lost import (
    LostObjects as LostObjects,
    lost_objects as lost_objects,
    unrecoverable as unrecoverable,
)
from .network import network_measures as network_measures
from .parts import (
    PartOfPopulation as PartOfPopulation,
    PopulationScan as PopulationScan,
    simulate_found as simulate_found,
)
from .pools import (
    StatedGroups as StatedGroups,
    compare_stated as compare_stated,
    group_sets as group_sets,
)
from .population import census as census
from .progress import Progress as Progress
from .result import RunResult as RunResult
from .room_left import (
    STATES as STATES,
    Fits as Fits,
    PoolRoom as PoolRoom,
    Reached as Reached,
    Room as Room,
    room as room,
)
from .topologies import Topology as Topology, topology as topology

version: str
