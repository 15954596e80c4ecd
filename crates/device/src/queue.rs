//! Requests that wait at a device: in a lane a class of traffic, and in each lane in the order of the discipline.

use resilver_kernel::lanes::{LaneOrder, LanePorts, Lanes, Taken};
use resilver_units::SimTime;
use serde::Deserialize;

use crate::{Direction, Io};

/// The one port of a device.
pub(crate) const PORT: u32 = 0;

/// In which order a device serves the requests of a lane, or all where it has no lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// As they come.
    #[default]
    Fifo,
    /// Reads before writes.
    ///
    /// A write that was acknowledged when its data had arrived keeps nobody waiting, while a read does (Mehech, "The Impact of
    /// Failures on Large Distributed Storage Systems" (2007), section 4.4). What is being served is finished whatever comes.
    ReadsFirst,
}

/// A request that waits, or a place for one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub io: Io,
    pub tag: u64,
    /// It was queued before a failure or during one, and is over with in name only.
    pub is_void: bool,
}

/// What waits at a device whose order of service is not that in which its requests come.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub port: LanePorts,
    discipline: Discipline,
    requests: Vec<Request>,
    /// Places in `requests` that are free.
    free: Vec<u32>,
    /// The place of the last read that waits in each lane, where reads pass writes.
    last_reads: Vec<Option<u32>>,
    /// The tag of the request that is being served.
    pub serving: Option<u64>,
    /// The class whose requests others may pass for ever, and how many of it wait.
    watched: Option<(u8, u32)>,
    /// How many requests of other classes were served since it was last its turn, while some of it wait.
    passed: u64,
    has_shares: bool,
}

impl Queue {
    /// An empty queue.
    ///
    /// # Panics
    /// When [`Lanes::check`] refuses the lanes.
    pub fn new(discipline: Discipline, lanes: &Lanes) -> Self {
        Queue {
            port: LanePorts::new(1, lanes),
            discipline,
            requests: Vec::new(),
            free: Vec::new(),
            last_reads: vec![None; lanes.count()],
            serving: None,
            watched: None,
            passed: 0,
            has_shares: lanes.count() > 1 && !matches!(lanes.order, LaneOrder::Priority(_)),
        }
    }

    /// Counts the requests that pass those of a class; where classes have shares, each gets its turn.
    pub fn watch(&mut self, class: u8) {
        self.watched = (!self.has_shares).then_some((class, 0));
    }

    /// How many requests passed the watched ones that wait, beyond all that may have come before them.
    pub fn passed(&self) -> u64 {
        self.passed.saturating_sub(self.requests.len() as u64)
    }

    /// Puts a request into its lane.
    pub fn push(&mut self, now: SimTime, request: Request, lane: usize) {
        if let Some((class, waiting)) = &mut self.watched {
            *waiting += u32::from(*class == request.io.lane);
        }
        let place = match self.free.pop() {
            Some(place) => {
                self.requests[place as usize] = request;
                place
            }
            None => {
                self.requests.push(request);
                u32::try_from(self.requests.len() - 1).expect("2^32 requests exceed any memory")
            }
        };
        if self.discipline == Discipline::ReadsFirst && request.io.direction == Direction::Read {
            self.port.insert(now, PORT, lane, place, self.last_reads[lane].replace(place));
        } else {
            self.port.push(now, PORT, lane, place);
        }
    }

    /// Takes the request that is next, with its lane.
    pub fn take(&mut self, now: SimTime) -> Option<(Request, usize)> {
        let Taken { unit, lane } = self.port.take(now, PORT)?;
        self.free.push(unit);
        if self.last_reads[lane] == Some(unit) {
            self.last_reads[lane] = None;
        }
        let request = self.requests[unit as usize];
        if let Some((class, waiting)) = &mut self.watched {
            let is_its_turn = *class == request.io.lane;
            *waiting -= u32::from(is_its_turn);
            self.passed = if is_its_turn || *waiting == 0 { 0 } else { self.passed + 1 };
        }
        Some((request, lane))
    }

    /// The device fails: nothing that waits is served, nor what is left of the request being served.
    pub fn fail(&mut self, now: SimTime) {
        self.requests.iter_mut().for_each(|request| request.is_void = true);
        self.port.cut(now, PORT);
    }
}
