//! What a trace asks of recovery, where a run is traced.

use super::Recovery;
use super::gathers::Leg;
use crate::event::DATA;
use crate::trace::{About, TraceWindow};

impl Recovery {
    /// The same recovery, of which a window of time is traced.
    pub fn with_trace(mut self, window: TraceWindow) -> Self {
        self.waits.trace = Some(window);
        self
    }

    /// The window that is traced, where one is.
    pub(crate) fn trace_window(&self) -> Option<TraceWindow> {
        self.waits.trace
    }

    /// What a trace says of a message.
    pub(super) fn about(&self, leg: Leg, kind: u64) -> About {
        let gather = self.gathers.get(leg.slot);
        let (source, driver) = (self.gathers.device(leg.slot, leg.position), gather.driver);
        let devices = Some(if kind == DATA { (source, driver) } else { (driver, source) });
        About { kind: kind as u8, part: Some((gather.object.get(), leg.position, gather.number())), devices }
    }
}
