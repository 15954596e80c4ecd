//! The course of an OSD's bytes: its peak, and when it first crossed each ratio.

use resilver_units::SimTime;

use crate::input::Ratios;

/// When an OSD first crossed each ratio, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Crossings {
    /// A warning: by bytes used.
    pub nearfull: Option<f64>,
    /// No new backfill: by bytes used and promised.
    pub backfillfull: Option<f64>,
    /// No writes of clients: by bytes used and promised.
    pub full: Option<f64>,
    /// No writes: by bytes used.
    pub failsafe: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    seconds: f64,
    used: u64,
    promised: u64,
}

/// What was seen of an OSD.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    last: Option<Point>,
    /// Bytes used at the start.
    pub start: u64,
    /// The most bytes used.
    pub peak: u64,
    /// When they were, in seconds.
    pub peak_seconds: f64,
    /// First crossings.
    pub crossings: Crossings,
}

impl Watch {
    /// Sees so many bytes used, and so many used and promised.
    pub fn note(&mut self, now: SimTime, used: u64, promised: u64, capacity: u64, ratios: Ratios) {
        let point = Point { seconds: now.seconds(), used, promised };
        if self.last.is_none() {
            (self.start, self.peak, self.peak_seconds) = (used, used, point.seconds);
        }
        if used > self.peak {
            (self.peak, self.peak_seconds) = (used, point.seconds);
        }
        // What is promised comes at once, so the line begins at what was promised before; used bytes come evenly.
        let last = self.last.unwrap_or(point);
        let lines = [
            (&mut self.crossings.nearfull, last.used, used, ratios.nearfull),
            (&mut self.crossings.backfillfull, last.promised, promised, ratios.backfillfull),
            (&mut self.crossings.full, last.promised, promised, ratios.full),
            (&mut self.crossings.failsafe, last.used, used, ratios.failsafe),
        ];
        for (first, before, after, ratio) in lines {
            let limit = ratio * capacity as f64;
            let (before, after) = (before as f64, after as f64);
            if first.is_none() && after > limit {
                let part = if before >= limit || after <= before { 0.0 } else { (limit - before) / (after - before) };
                *first = Some(last.seconds + part * (point.seconds - last.seconds));
            }
        }
        self.last = Some(point);
    }
}
