//! On which pieces, at which servers, an operation is.

use resilver_kernel::Stream;
use resilver_redundancy::Pieces;
use resilver_units::Bytes;

use super::operations::plan::pieces_in;
use super::operations::table::{Action, Operation};
use super::{NO_DEVICE, Workload};
use crate::ports::Ports;
use crate::scenario::NO_OBJECT;

/// How often an object that cannot be read or written is drawn again before whoever asks for it rests.
const DRAWS: u32 = 64;

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

impl Workload {
    /// Draws the servers of a group for an operation of one of them.
    pub(super) fn draw_of_group(&mut self, draft: Operation) -> Option<Operation> {
        let Operation { action, coordinator, .. } = draft;
        if self.liveness.is_dead(coordinator) {
            return None;
        }
        let Workload { sources, groups, plans, is_out, drawn, .. } = self;
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
    pub(super) fn draw_of_population(&mut self, draft: Operation) -> Option<Operation> {
        for _ in 0..DRAWS {
            let source = &mut self.sources[draft.source as usize];
            let object = source.draws.below(self.objects.len() as u64) as usize;
            let drawn = Operation { object: object as u32, data: self.objects.size(object), ..draft };
            if let Some(operation) = self.place_on_object(drawn) {
                return Some(operation);
            }
        }
        None
    }

    /// Says where an operation on an object finds its pieces at present; `None` where it does not find enough of them.
    fn place_on_object(&mut self, draft: Operation) -> Option<Operation> {
        let is_write = draft.action == Action::Write;
        let known = (&self.is_out[..], self.share_rebuilt);
        self.objects.locate(draft.object as usize, is_write, known, &mut self.drawn);
        let own = self.drawn.iter().position(|&device| device != NO_DEVICE)?;
        let coordinator = self.drawn[own];
        let code = self.objects.code(draft.object as usize);
        let piece = draft.data.pieces_of(Bytes::new(u64::from(self.plans[usize::from(code)].code.data())));
        let operation = Operation { piece: Bytes::new(piece.max(1)), coordinator, own: own as u8, code, ..draft };
        if !is_write {
            return self.plan_read(operation);
        }
        let held = (0u32..).zip(&self.drawn).filter(|&(_, &device)| device != NO_DEVICE);
        let pieces = held.fold(0, |set, (piece, _)| set | 1 << piece);
        Some(Operation { pieces, ..operation })
    }

    /// Says where a request finds what it asks for: an object of its server's, where objects are stored, else a piece there.
    ///
    /// An object that cannot be read or written at present gives way to another one of the server's, and after some draws to
    /// one of any server's.
    pub(super) fn place_request(&mut self, draft: Operation) -> Option<Operation> {
        if draft.operation.is_some() {
            return self.place_metadata(draft);
        }
        if self.objects.len() == 0 {
            return self.place_at_server(draft);
        }
        if draft.object != NO_OBJECT
            && let Some(operation) = self.place_on_object(draft)
        {
            return Some(operation);
        }
        for draw in 0..DRAWS {
            let requests = self.requests.as_mut()?;
            let server = if 2 * draw < DRAWS { draft.server } else { requests.draw_server(draft.source).get() };
            let target = &mut requests.requesters[draft.source as usize].target;
            let object = self.objects.draw_of(usize::from(draft.law), server, target);
            if let Some(operation) = self.place_on_object(Operation { server, object, ..draft }) {
                return Some(operation);
            }
        }
        None
    }

    /// An operation at the server of its directory, and at those of a file's stripes, which are neighbours from any server of data on.
    ///
    /// While its server is known to be gone it has nowhere to go; a stripe's that is gone is not asked.
    fn place_metadata(&mut self, draft: Operation) -> Option<Operation> {
        let server = draft.server;
        if self.is_out[server as usize] {
            return None;
        }
        self.drawn.clear();
        self.drawn.push(server);
        let (piece, stripes) = self.requests.as_mut()?.draw_stripes(draft.source, draft.class);
        self.drawn.extend(stripes.filter(|&server| !self.is_out[server as usize]));
        let pieces = Pieces::first(self.drawn.len() as u32).bits();
        let code = (self.plans.len() - 1) as u8;
        Some(Operation { coordinator: server, piece, pieces, own: 0, code, ..draft })
    }

    /// A request to a piece of its own at its server; at another one, where that is known to have failed.
    fn place_at_server(&mut self, draft: Operation) -> Option<Operation> {
        let mut server = draft.server;
        if self.is_out[server as usize] {
            let requests = self.requests.as_mut()?;
            server = requests.draw_other(draft.source, |other| self.is_out[other.index()])?.get();
        }
        self.drawn.clear();
        self.drawn.push(server);
        let writes_behind = draft.action == Action::Write;
        Some(Operation { server, coordinator: server, piece: draft.data, pieces: 1, own: 0, writes_behind, ..draft })
    }

    /// The side of servers that the next request's messages take: they take turns.
    pub(super) fn next_side(&mut self, ports: &Ports) -> u8 {
        let side = self.turns % ports.sides();
        self.turns = side + 1;
        side as u8
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
