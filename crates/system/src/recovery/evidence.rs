//! What recovery knows of what limited it.

use resilver_fabric::Fabric;
use resilver_units::{SimDuration, SimTime};

use super::Recovery;
use super::limits::{Evidence, Limits, limits};
use super::waits::{NOBODY, Snapshot};
use crate::plant::{Plant, Site};

impl Recovery {
    /// What is waited for is counted anew: nothing was left to be done, and there is now.
    pub(super) fn begin_waits<F: Fabric>(&mut self, site: &Site<'_, F>) {
        self.waits.start(site.schedule.now(), site.plant, &self.devices);
        for receiver in &mut self.receivers {
            (receiver.paced, receiver.decoding) = (SimDuration::ZERO, SimDuration::ZERO);
        }
    }

    /// What limited the rebuild, up to `now` where it did not come to its end.
    pub(crate) fn limits<F: Fabric>(&self, plant: &Plant<F>, now: SimTime) -> Limits {
        let Some(receiver) = self.receivers.get(self.waits.last as usize).filter(|_| self.waits.last != NOBODY) else {
            return Limits::default();
        };
        let unfinished;
        let end = match &self.waits.end {
            Some(end) => end,
            None => {
                unfinished = Snapshot::of(now, plant, &self.devices);
                &unfinished
            }
        };
        let begin = &self.waits.begin;
        let asking = receiver.asked_at.min(end.at).since(begin.at);
        let evidence = Evidence {
            begin,
            end,
            spent: self.waits.spent(),
            stride: self.waits.stride(),
            last: self.waits.last,
            paced: receiver.paced,
            full: if asking > receiver.paced { asking - receiver.paced } else { SimDuration::ZERO },
            decoding: receiver.decoding,
            is_pipelined: self.policy.pipelining,
            is_copied: !self.is_coded,
        };
        limits(&evidence, plant)
    }
}
