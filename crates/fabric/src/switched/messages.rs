//! The ends of packets, and what the senders of their messages are told.

use resilver_units::SimTime;

use super::packet::Transit;
use super::{Cause, Fate, Switched, SwitchedEvent};
use crate::Notice;

impl Switched {
    /// A packet of the plain path will have left its message's sender at `time`, or never will.
    pub(super) fn leave_sender(
        &mut self,
        time: SimTime,
        message: u32,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) {
        let transit = &mut self.transits.places[message as usize];
        transit.unsent -= 1;
        // Of packets on channels of several rates, the last to begin may not be the last to have left.
        transit.left_at = transit.left_at.max(time.picoseconds());
        if transit.unsent == 0 {
            transit.tells += 1;
            schedule(SimTime::from_picoseconds(transit.left_at), SwitchedEvent::Tell { message, fate: Fate::Sent });
        }
    }

    /// Takes a packet out of the network for good.
    #[inline]
    pub(super) fn retire(&mut self, id: u32) -> (u32, &mut Transit) {
        let message = self.packets.places[id as usize].message;
        self.packets.remove(id);
        let transit = &mut self.transits.places[message as usize];
        transit.packets -= 1;
        (message, transit)
    }

    #[inline]
    pub(super) fn deliver(&mut self, id: u32) -> Option<Notice> {
        let packet = &self.packets.places[id as usize];
        self.counters.delivered += 1;
        self.counters.deviated += u64::from(packet.is_deviated());
        let hops = packet.hops() as usize;
        if self.hops.len() <= hops {
            self.hops.resize(hops + 1, 0);
        }
        self.hops[hops] += 1;
        let (message, transit) = self.retire(id);
        let notice = (transit.packets == 0 && !transit.is_lost).then_some(Notice::Delivered(transit.token));
        self.transits.settle(message);
        notice
    }

    /// Drops a packet; returns its message and its token if that is lost by it.
    #[cold]
    pub(super) fn drop_packet(
        &mut self,
        now: SimTime,
        id: u32,
        cause: Cause,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) -> Option<u64> {
        let dropped = &mut self.counters.dropped;
        match cause {
            Cause::NoLink => dropped.no_link += 1,
            Cause::HopLimit => dropped.hop_limit += 1,
            Cause::Cut => dropped.cut += 1,
        }
        let packet = self.packets.places[id as usize];
        if self.ports.is_some() && !packet.has_left_source() {
            self.leave_sender(now, packet.message, schedule);
        }
        let (message, transit) = self.retire(id);
        let lost = (!std::mem::replace(&mut transit.is_lost, true)).then_some(transit.token);
        self.transits.settle(message);
        lost
    }

    /// Has a message's sender told of it at `now`.
    pub(super) fn tell(
        &mut self,
        now: SimTime,
        message: u32,
        fate: Fate,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) {
        self.transits.places[message as usize].tells += 1;
        schedule(now, SwitchedEvent::Tell { message, fate });
    }
}
