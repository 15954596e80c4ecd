"""A center's file system: how large it must be, how full it gets, and what slows it down."""

from resilver.center.advice import Advice, NoTargetError, advise
from resilver.center.capacity import FillOutlook, Outlook
from resilver.center.figures import Figure
from resilver.center.jobs import JobRates, LayerLoad, job_rates
from resilver.center.load_state import LoadState, read_state
from resilver.center.machine_file import MachineFile
from resilver.center.machines import Machine, machine
from resilver.center.namespaces import Dealt, deal
from resilver.center.profiling import LotProfile, MeasuredProfile
from resilver.center.quality import QualityCharts, quality_chart
from resilver.center.rates_file import LotFile, Rates, read_rates
from resilver.center.routes import RouteFigures, Routes, route, route_figures
from resilver.center.signatures import (
    FoundSignature,
    ShiftPlan,
    Signature,
    SignaturesCompared,
    compare_signatures,
    read_signature,
    shift_signatures,
    signature,
)
from resilver.center.siting import Sites, sites
from resilver.center.sizing import Need, SizedOffer, Sizing, size
from resilver.center.sizing_file import SizingFile
from resilver.center.storage import Storage, storage
from resilver.center.theil_sen import Trend, trend
from resilver.center.year import Year, mean_life_days, simulate_year
