//! Who begins operations, when, and on which pieces at which servers.

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::Stream;
use resilver_kernel::queue::QueueKind;
use resilver_redundancy::{Code, Pieces};
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::operations::{Action, NO_PIECE, Operation, STEPS};
use super::traffic::Pairing;
use super::{NO_DEVICE, StreamEvent, Streams};
use crate::SystemError;
use crate::class::TrafficClass;
use crate::ports::Ports;
use crate::storage::Site;

/// Stands for operations without an end.
pub(super) const ENDLESS: u64 = u64::MAX;
/// How often a stripe that cannot be read or written is drawn again before its source rests.
const DRAWS: u32 = 64;

/// One window of operations.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub class: TrafficClass,
    /// Which of the codes.
    pub code: u8,
    /// The server that coordinates, and its group; of none where stripes are the population's.
    pub device: u32,
    pub group: u32,
    /// The side of its messages; of none where operations take turns.
    pub side: Option<u8>,
    /// The endpoint where the client is, where stripes are the population's.
    pub entry: u32,
    /// How many more operations may be under way.
    pub free: u32,
    /// How many are due and not begun.
    pub owed: u64,
    /// How many came due by a pace.
    pub paced: u64,
    /// When the first one was, and the time between them.
    pub first_due: SimTime,
    pub interval: SimDuration,
    /// Whether it begins nothing until a pause is over.
    pub is_resting: bool,
    /// Whether it begins nothing any more, whatever it owes.
    pub is_closed: bool,
    /// Operations lost since one was completed, and how many may be before it is closed, where its operations have an end.
    pub lost_in_a_row: u64,
    pub lost_most: u64,
    pub begun: u64,
    pub completed: u64,
    /// Operations of each burst.
    pub of_burst: u64,
    pub draws: Stream,
}

/// A code, and what its operations gather.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub code: std::sync::Arc<Code>,
    /// The pieces that hold the data, as a set.
    pub data: u64,
    /// What makes each piece anew when it alone is lost, as a set.
    repairs: Vec<u64>,
}

impl Plan {
    pub fn new(code: std::sync::Arc<Code>) -> Self {
        let mut gathered = Vec::new();
        let mut repair = |piece| {
            // Nothing makes the piece of a code without redundancy anew.
            let is_made = code.repair(Pieces::of([piece]), piece, &[], &mut gathered);
            if is_made { Pieces::of(gathered.iter().copied()).bits() } else { 0 }
        };
        let repairs = (0..code.pieces()).map(&mut repair).collect();
        Plan { repairs, data: Pieces::first(code.data()).bits(), code }
    }
}

/// Draws `count` members other than one, each set as likely as any other; whether there are as many that `may` be drawn.
///
/// The members are left in another order, which the next draw does not depend on.
fn draw_others(
    members: &mut [u32],
    stream: &mut Stream,
    (other_than, count): (u32, u32),
    may: impl Fn(u32) -> bool,
    mut take: impl FnMut(u32),
) -> bool {
    let (mut seen, mut taken) = (0, 0);
    while taken < count {
        if seen == members.len() {
            return false;
        }
        // The next step of a Fisher-Yates shuffle.
        let chosen = seen + stream.below((members.len() - seen) as u64) as usize;
        members.swap(seen, chosen);
        let member = members[seen];
        seen += 1;
        if member != other_than && may(member) {
            take(member);
            taken += 1;
        }
    }
    true
}

/// The pieces of a set, in rising order.
pub(super) fn pieces_in(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let piece = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(piece)
    })
}

impl Streams {
    /// Begins what a source owes and may begin.
    #[inline]
    pub(super) fn fill<F: Fabric, D: Device, K: QueueKind>(&mut self, number: u32, site: &mut Site<'_, F, D, K>) {
        loop {
            let source = &self.sources[number as usize];
            if source.free == 0 || source.owed == 0 || source.is_resting || source.is_closed {
                return;
            }
            let now = site.schedule.now();
            let Some(operation) = self.draw(number, now, &site.plant.ports) else {
                if self.close(number) {
                    return;
                }
                self.sources[number as usize].is_resting = true;
                self.later(number, false, site);
                return;
            };
            let Some(handle) = self.operations.insert(operation, &self.drawn) else {
                self.problem = Some(SystemError::TooManyOperations);
                return;
            };
            let source = &mut self.sources[number as usize];
            source.free -= 1;
            source.begun += 1;
            if source.owed != ENDLESS {
                source.owed -= 1;
            }
            self.measures.issued(operation.lane);
            self.start_operation(handle, site);
        }
    }

    /// Closes a source of strips that are to be made anew, because its server or too many of their holders have failed or are out
    /// of reach; returns whether it is one. Nobody waits for the strips that it has not begun; those under way are still made or
    /// lost.
    pub(super) fn close(&mut self, number: u32) -> bool {
        let source = &mut self.sources[number as usize];
        let has_end = source.class == TrafficClass::Rebuild && source.owed != ENDLESS;
        if has_end && !std::mem::replace(&mut source.is_closed, true) {
            self.strips_left -= source.owed;
        }
        has_end
    }

    /// Has a source go on after a pause.
    pub(super) fn later<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        source: u32,
        gives_back: bool,
        site: &mut Site<'_, F, D, K>,
    ) {
        let time = site.schedule.now() + self.pause;
        if time < SimTime::MAX {
            self.schedule(time, StreamEvent::Again { source, gives_back }, site);
        }
    }

    /// A pause of a source is over.
    pub(super) fn go_on<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        number: u32,
        gives_back: bool,
        site: &mut Site<'_, F, D, K>,
    ) {
        let source = &mut self.sources[number as usize];
        if source.is_closed {
            self.strips_left -= u64::from(gives_back);
            return;
        }
        if gives_back {
            source.free += 1;
            // What was lost is owed again.
            source.owed = source.owed.saturating_add(1);
        } else {
            source.is_resting = false;
        }
        self.fill(number, site);
    }

    /// The next operation of a paced source is due, and the one behind it comes.
    pub(super) fn pace<F: Fabric, D: Device, K: QueueKind>(&mut self, number: u32, site: &mut Site<'_, F, D, K>) {
        let source = &mut self.sources[number as usize];
        source.owed += 1;
        source.paced += 1;
        let next = site.schedule.now() + source.interval;
        if next < SimTime::MAX {
            self.schedule(next, StreamEvent::Pace(number), site);
        }
        self.fill(number, site);
    }

    /// Draws a source's next operation, with its devices in `drawn`; `None` where there is none that can be done.
    fn draw(&mut self, number: u32, now: SimTime, ports: &Ports) -> Option<Operation> {
        let source = &mut self.sources[number as usize];
        let action = match source.class {
            TrafficClass::Rebuild => Action::Rebuild,
            TrafficClass::Bursts => Action::Write,
            // A stream that only reads or only writes draws nothing for it.
            TrafficClass::Clients if self.traffic.read_share >= 1.0 => Action::Read,
            TrafficClass::Clients if source.draws.uniform() < self.traffic.read_share => Action::Read,
            TrafficClass::Clients => Action::Write,
        };
        let due_at = if source.interval > SimDuration::ZERO {
            // Of those that came due, all but the owed ones have begun.
            let first = source.paced.saturating_sub(source.owed);
            let offset = source.interval.picoseconds().saturating_mul(first);
            source.first_due + SimDuration::from_picoseconds(offset)
        } else {
            now
        };
        let side = source.side.map_or((source.begun % u64::from(ports.sides())) as u8, |side| side);
        let draft = Operation {
            due_at,
            data: Bytes::ZERO,
            piece: Bytes::ZERO,
            pieces: 0,
            at_disk: 0,
            source: number,
            coordinator: source.device,
            entry: source.entry,
            waiting: 0,
            messages: 0,
            own: NO_PIECE,
            side,
            lane: source.class.lane(),
            code: source.code,
            action,
            is_wanted: true,
            is_degraded: false,
            is_coding: false,
            steps: [0; STEPS],
        };
        if source.device == NO_DEVICE {
            return (0..DRAWS).find_map(|_| self.draw_of_population(draft));
        }
        let mut operation = self.draw_of_group(draft)?;
        if action != Action::Rebuild {
            let port = ports.working(DeviceId::new(operation.coordinator), u32::from(side));
            operation.entry = self.entry_of(number, port).get();
        }
        Some(operation)
    }

    /// The entry of an operation whose coordinator is reached by a port.
    fn entry_of(&mut self, source: u32, port: EndpointId) -> EndpointId {
        let entries = &self.traffic.entries;
        let index = match self.traffic.pairing {
            Pairing::Paired => port.index() % entries.len(),
            Pairing::Random => self.sources[source as usize].draws.below(entries.len() as u64) as usize,
        };
        entries[index]
    }

    /// Draws the servers of a group for an operation of one of them.
    fn draw_of_group(&mut self, draft: Operation) -> Option<Operation> {
        let Operation { action, coordinator, .. } = draft;
        if self.attendance.is_dead(coordinator) {
            return None;
        }
        let Streams { sources, groups, plans, is_out, drawn, .. } = self;
        let source = &mut sources[draft.source as usize];
        let plan = &plans[draft.code as usize];
        let count = plan.code.pieces();
        let positions = if action == Action::Read { plan.code.data() } else { count };
        let own = source.draws.below(u64::from(positions)) as u32;
        let wanted = match action {
            Action::Rebuild => plan.repairs[own as usize],
            Action::Read | Action::Write => Pieces::first(count).bits() & !(1 << own),
        };
        if action == Action::Rebuild && wanted == 0 {
            return None;
        }
        drawn.clear();
        drawn.resize(count as usize, NO_DEVICE);
        drawn[own as usize] = coordinator;
        let mut places = pieces_in(wanted);
        // A stripe that is there to be read may have pieces on servers that have failed since.
        let may = |device: u32| action == Action::Read || !is_out[device as usize];
        let members = &mut groups[source.group as usize].members;
        let take = |device| drawn[places.next().expect("as many places as are drawn") as usize] = device;
        if !draw_others(members, &mut source.draws, (coordinator, wanted.count_ones()), may, take) {
            return None;
        }
        let piece = self.strip;
        let data = Bytes::new(piece.get() * u64::from(plan.code.data()));
        let operation = Operation { piece, data, own: own as u8, ..draft };
        match action {
            Action::Read => self.plan_read(operation),
            Action::Write => Some(Operation { pieces: wanted | 1 << own, ..operation }),
            Action::Rebuild => Some(Operation { pieces: wanted, ..operation }),
        }
    }

    /// Draws an object of the population, and where its pieces are at present.
    fn draw_of_population(&mut self, draft: Operation) -> Option<Operation> {
        let source = &mut self.sources[draft.source as usize];
        let stripe = source.draws.below(self.stripes.len() as u64) as usize;
        let is_write = draft.action == Action::Write;
        self.stripes.locate(stripe, is_write, (&self.is_out, self.share_rebuilt), &mut self.drawn);
        let own = self.drawn.iter().position(|&device| device != NO_DEVICE)?;
        let coordinator = self.drawn[own];
        let data = self.stripes.size(stripe);
        let piece = Bytes::new(data.pieces_of(Bytes::new(u64::from(self.plans[0].code.data()))));
        let piece = Bytes::new(piece.get().max(1));
        let operation = Operation { data, piece, coordinator, own: own as u8, ..draft };
        if !is_write {
            return self.plan_read(operation);
        }
        let held = (0u32..).zip(&self.drawn).filter(|&(_, &device)| device != NO_DEVICE);
        let pieces = held.fold(0, |set, (piece, _)| set | 1 << piece);
        Some(Operation { pieces, ..operation })
    }

    /// Says which pieces a read of the stripe in `drawn` gathers; `None` where too many are lost.
    fn plan_read(&mut self, operation: Operation) -> Option<Operation> {
        let plan = &self.plans[operation.code as usize];
        let is_lost = |&device: &u32| device == NO_DEVICE || self.is_out[device as usize];
        let lost = (0u32..).zip(&self.drawn).filter(|(_, device)| is_lost(device));
        let lost = Pieces::of(lost.map(|(piece, _)| piece));
        if lost.bits() & plan.data == 0 && plan.code.data() > 1 {
            return Some(Operation { pieces: plan.data, ..operation });
        }
        let prefer = [u32::from(operation.own)];
        if !plan.code.read(lost, &prefer, &mut self.gathered) {
            return None;
        }
        let pieces = Pieces::of(self.gathered.iter().copied()).bits();
        let is_degraded = lost.bits() & plan.data != 0;
        Some(Operation { pieces, is_degraded, ..operation })
    }
}
