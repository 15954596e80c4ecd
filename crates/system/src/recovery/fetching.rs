//! What events to come are about, fetched while others are executed.

use resilver_device::Device;
use resilver_kernel::prefetch;

use super::Recovery;
use super::drivers::HANDED_OVER;
use super::events::RecoveryEvent;
use super::gathers::Leg;
use crate::event::REQUEST;

impl Recovery {
    /// Fetches what a message is about.
    #[inline]
    pub(crate) fn announce(&self, token: u64) {
        self.gathers.fetch(Leg::of_token(token).0.slot);
    }

    /// Fetches what an event of recovery's own is about.
    #[inline]
    pub(crate) fn announce_event(&self, number: u64) {
        match RecoveryEvent::of_number(number) {
            RecoveryEvent::ReadDone(leg) | RecoveryEvent::SendDone(leg) => self.gathers.fetch(leg.slot),
            RecoveryEvent::WriteDone(slot, task) => {
                self.gathers.fetch(slot);
                prefetch(&self.work.tasks[task as usize]);
            }
            _ => {}
        }
    }

    /// Fetches what the delivery of a message concerns: who is asked, or what counts what has come.
    #[inline]
    pub(crate) fn approach(&self, token: u64, disks: &[Device]) {
        if token & HANDED_OVER != 0 {
            return;
        }
        let (leg, kind) = Leg::of_token(token);
        let source = self.gathers.device(leg.slot, leg.position);
        if kind == REQUEST {
            prefetch(&self.senders[source as usize]);
            return;
        }
        let driver = self.gathers.get(leg.slot).driver;
        self.transfers.fetch(source, driver);
        prefetch(&disks[driver as usize]);
    }

    /// Fetches what an event of recovery's own concerns.
    #[inline]
    pub(crate) fn approach_event(&self, number: u64) {
        match RecoveryEvent::of_number(number) {
            RecoveryEvent::ReadDone(leg) => {
                prefetch(&self.devices[self.gathers.device(leg.slot, leg.position) as usize]);
            }
            RecoveryEvent::SendDone(leg) => {
                let source = self.gathers.device(leg.slot, leg.position) as usize;
                if let Some(next) = self.senders[source].waiting.front() {
                    self.gathers.fetch(next.slot);
                }
            }
            RecoveryEvent::WriteDone(slot, task) => {
                prefetch(&self.work.tasks[task as usize]);
                let driver = self.gathers.get(slot).driver as usize;
                prefetch(&self.receivers[driver]);
            }
            _ => {}
        }
    }
}
