"""The analytic model of a burst buffer's streams: rates, attachments, bisection, switch loss.

Plain formulas with their sources, exact where they count; nothing here simulates.
`docs/models/burst-buffer.md` derives them.
"""

from resilver.analytic.bisection import LevelLoads, away_share, level_loads, rebuild_ceiling
from resilver.analytic.code_figures import CodeFigures, code_figures
from resilver.analytic.declustered import Declustered
from resilver.analytic.streams import Rates, payload_rate, server_rates, stream_rates
from resilver.analytic.switch_loss import (
    bandwidth_lost,
    data_loss_probability,
    servers_lost,
    stripes_lost,
)
from resilver.spec.attachment import Attachment
