//! What a trace asks of recovery, where a run is traced.

use resilver_units::SimTime;

use super::Recovery;
use super::gathers::{Gather, Leg};
use super::waits::Waits;
use crate::event::DATA;
use crate::trace::{About, BufferRow, Fate, RecoveryTrace, TraceWindow, WaitRow};

impl Recovery {
    /// The same recovery, of which a window of time is traced.
    pub fn with_trace(mut self, window: TraceWindow) -> Self {
        self.waits.trace = Some(Box::new(RecoveryTrace::new(window)));
        self
    }

    /// The window that is traced, where one is.
    pub(crate) fn trace_window(&self) -> Option<TraceWindow> {
        self.waits.trace.as_ref().map(|trace| trace.window)
    }

    /// What was noted of buffers and waits, with what became of the buffers' pieces.
    pub(crate) fn take_trace(&mut self) -> (Vec<BufferRow>, Vec<WaitRow>) {
        let (mut buffers, waits) = self.waits.trace.take().map(|trace| trace.rows()).unwrap_or_default();
        for row in &mut buffers {
            let task = self.work.tasks[row.task as usize];
            row.piece = task.position;
            row.state = match row.fate {
                Fate::UnderWay => 0,
                Fate::Done if task.buffers_left == 0 => 2 - u8::from(task.is_rebuild),
                _ => 3,
            };
        }
        (buffers, waits)
    }

    /// What a trace says of a message.
    pub(super) fn about(&self, leg: Leg, kind: u64) -> About {
        let gather = self.gathers.get(leg.slot);
        let (source, driver) = (self.gathers.device(leg.slot, leg.position), gather.driver);
        let devices = Some(if kind == DATA { (source, driver) } else { (driver, source) });
        About { kind: kind as u8, part: Some((gather.object.get(), leg.position, gather.number())), devices }
    }
}

impl Gather {
    /// The row of a trace, for a buffer that is taken up now.
    pub fn row(&self, now: SimTime) -> BufferRow {
        BufferRow {
            asked: now,
            whole: None,
            decoded: None,
            ended: None,
            fate: Fate::UnderWay,
            device: self.driver,
            object: self.object.get(),
            task: self.task(),
            number: self.number(),
            bytes: self.bytes,
            held: self.held(),
            state: 0,
            piece: 0,
        }
    }
}

impl Waits {
    /// Notes something of buffers and waits, where the run is traced.
    #[inline]
    pub(super) fn note(&mut self, note: impl FnOnce(&mut RecoveryTrace)) {
        if let Some(trace) = &mut self.trace {
            note(trace);
        }
    }
}
