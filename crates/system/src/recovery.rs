//! What a storage system's recovery does, whether it is of copies or of pieces.

use resilver_device::Device;
use resilver_kernel::Schedule;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, DeviceId};

use crate::SystemError;
use crate::event::{EventOf, Owner};
use crate::network::Network;
use crate::rebuild::Rebuild;
use crate::reconstruction::Reconstruction;
use crate::storage::{Site, Storage};
use crate::work::Losses;

/// How much of the recovery that failures so far ask for is done, from 0 to 1.
#[inline]
pub(crate) fn share_rebuilt((rebuild, reconstruction): (&Rebuild, &Option<Box<Reconstruction>>)) -> f64 {
    match reconstruction {
        Some(reconstruction) => reconstruction.share_rebuilt(),
        None => rebuild.share_rebuilt(),
    }
}

impl<F: Network, D: Device> Storage<F, D> {
    /// Data written so far by recovery, to show progress.
    pub fn bytes_recovered(&self) -> Bytes {
        match &self.reconstruction {
            Some(reconstruction) => reconstruction.bytes_written(),
            None => self.rebuild.bytes_written(),
        }
    }

    /// Lost copies or pieces that are whole again.
    pub fn rebuilt_replicas(&self) -> u64 {
        match &self.reconstruction {
            Some(reconstruction) => reconstruction.rebuilt_pieces(),
            None => self.rebuild.rebuilt_replicas(),
        }
    }

    /// What failures so far ask for.
    pub fn losses(&self) -> Losses {
        match &self.reconstruction {
            Some(reconstruction) => reconstruction.losses(),
            None => self.rebuild.losses(),
        }
    }

    /// Why recovery cannot go on, if it cannot.
    pub(crate) fn recovery_problem(&self) -> Option<SystemError> {
        match &self.reconstruction {
            Some(reconstruction) => reconstruction.problem(),
            None => self.rebuild.problem(),
        }
    }

    /// Whether nothing is left to be recovered, now or after a failure to come.
    #[inline]
    pub(crate) fn recovery_is_over(&self) -> bool {
        match &self.reconstruction {
            Some(reconstruction) => reconstruction.is_over(),
            None => self.rebuild.is_over(),
        }
    }

    /// The devices that the failure of a stage adds.
    pub(crate) fn failing_at(&self, stage: u32) -> Vec<DeviceId> {
        match &self.reconstruction {
            Some(reconstruction) => reconstruction.failing_at(stage),
            None => self.rebuild.failing_at(stage),
        }
    }

    /// The devices that fail at time zero.
    pub(crate) fn failing_at_start(&self) -> Vec<DeviceId> {
        match &self.reconstruction {
            Some(reconstruction) => reconstruction.failing_at_start(),
            None => self.rebuild.failing_at_start(),
        }
    }

    /// Whether a message of recovery is not to go any further.
    #[inline]
    pub(crate) fn is_void<K: QueueKind>(&mut self, token: u64, schedule: &mut Schedule<EventOf<F>, K>) -> bool {
        match (Owner::of(token), &mut self.reconstruction) {
            (Owner::Rebuild, _) => self.rebuild.is_void(token),
            (Owner::Reconstruction, Some(reconstruction)) => {
                reconstruction.has_vanished(token, &mut Site { plant: &mut self.plant, schedule })
            }
            _ => false,
        }
    }
}
