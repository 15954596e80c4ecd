//! Volumes of which some serve requests as they come, and some reads first, in one system.

use resilver_units::{SimDuration, SimTime};

use crate::{Device, DeviceUse, Disk, Finished, Io, Pace, Queued, ReadsFirst};

/// A volume of one of the disciplines, where a system has both.
#[derive(Clone, Debug)]
pub enum Mixed {
    /// It serves requests as they come.
    Fifo(Disk),
    /// It serves reads before writes.
    ReadsFirst(ReadsFirst),
}

/// Asks whichever volume there is.
macro_rules! ask {
    ($mixed:expr, $volume:ident => $answer:expr) => {
        match $mixed {
            Mixed::Fifo($volume) => $answer,
            Mixed::ReadsFirst($volume) => $answer,
        }
    };
}

impl Device for Mixed {
    fn submit(&mut self, now: SimTime, io: Io, tag: u64) -> Queued {
        ask!(self, volume => volume.submit(now, io, tag))
    }

    fn finish(&mut self, now: SimTime) -> Finished {
        ask!(self, volume => volume.finish(now))
    }

    fn set_pace(&mut self, pace: Pace) {
        ask!(self, volume => volume.set_pace(pace));
    }

    fn fail(&mut self, now: SimTime) -> SimDuration {
        ask!(self, volume => volume.fail(now))
    }

    fn repair(&mut self, now: SimTime) {
        ask!(self, volume => volume.repair(now));
    }

    fn usage(&self) -> DeviceUse {
        ask!(self, volume => volume.usage())
    }

    fn busy_until(&self, now: SimTime) -> SimDuration {
        ask!(self, volume => volume.busy_until(now))
    }
}
