//! Buffers under way: of one piece and one stretch of it, what each source has been asked for and what has come.

use resilver_kernel::prefetch;
use resilver_redundancy::Pieces;
use resilver_units::{Bytes, ObjectId};

use super::places::NOBODY;
use crate::event::BUFFER_LIMIT;

/// What is being done about a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Sources are asked for their parts.
    Gathering,
    /// As before, but what is left of the object suffices only with a source whose last answer is still to come.
    Starved,
    /// All parts are there, and the piece's is being made of them.
    Decoding,
    /// It is on its way from its driver to the device that it is to be at.
    HandedOver,
    /// It is being written.
    Writing,
    /// Nothing is wanted of it any more, but an event of its being decoded is to come.
    Leaving,
    /// Nothing is wanted of it any more.
    Done,
    /// Its number has been given back.
    Free,
}

impl Phase {
    const ALL: [Phase; 8] = {
        use Phase::*;
        [Gathering, Starved, Decoding, HandedOver, Writing, Leaving, Done, Free]
    };
}

/// Which buffer of which task it is, and what is being done about it, in one word.
#[derive(Clone, Copy, Debug)]
struct Turn(u64);

impl Turn {
    const PHASE_BITS: u32 = 3;
    const NUMBER_BITS: u32 = BUFFER_LIMIT.ilog2();

    fn of(task: u32, number: u32) -> Self {
        Turn((u64::from(task) << Self::NUMBER_BITS | u64::from(number)) << Self::PHASE_BITS)
    }
}

// A constant of a type's own would be judged only where it is used.
const _: () = assert!(Turn::PHASE_BITS + Turn::NUMBER_BITS + TASK_BITS <= u64::BITS);

/// One buffer of one task: all that its events need, in one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Gather {
    /// The object that the piece is of.
    pub object: ObjectId,
    /// Data asked of each source, and made of it.
    pub bytes: Bytes,
    /// The pieces that it is made of, as a set.
    pub wanted: u64,
    /// Those that have come.
    pub arrived: u64,
    /// Those of which a message, a read or a new attempt is under way, wanted or not.
    pub in_flight: u64,
    /// Those that hold memory at their source, wanted or not.
    pub unsent: u64,
    turn: Turn,
    /// The device that gathers it, and that has it written.
    pub driver: u32,
    /// The device that it comes from, where that is one.
    source: u32,
}

impl Gather {
    /// The buffer of this number of a task, asked of all that are `wanted`.
    pub fn new(object: ObjectId, bytes: Bytes, wanted: u64, (task, number): (u32, u32), driver: u32) -> Self {
        let (turn, source) = (Turn::of(task, number), NOBODY);
        Gather { object, bytes, wanted, arrived: 0, in_flight: wanted, unsent: 0, turn, driver, source }
    }

    #[inline]
    pub fn task(&self) -> u32 {
        (self.turn.0 >> (Turn::PHASE_BITS + Turn::NUMBER_BITS)) as u32
    }

    /// Which buffer of its task.
    #[inline]
    pub fn number(&self) -> u32 {
        (self.turn.0 >> Turn::PHASE_BITS) as u32 % (1 << Turn::NUMBER_BITS)
    }

    #[inline]
    pub fn phase(&self) -> Phase {
        Phase::ALL[self.turn.0 as usize % Phase::ALL.len()]
    }

    #[inline]
    pub fn set_phase(&mut self, phase: Phase) {
        self.turn.0 = self.turn.0 >> Turn::PHASE_BITS << Turn::PHASE_BITS | phase as u64;
    }

    /// Whether it comes from one device alone, by the piece at this position.
    #[inline]
    fn is_all_of(&self, position: u32) -> bool {
        self.wanted == 1 << position
    }

    /// How many sources it is gathered from.
    #[inline]
    pub fn sources(&self) -> u64 {
        u64::from(self.wanted.count_ones())
    }

    /// Memory at its driver.
    #[inline]
    pub fn held(&self) -> Bytes {
        Bytes::new(self.sources() * self.bytes.get())
    }

    #[inline]
    pub fn wants(&self, position: u32) -> bool {
        self.wanted >> position & 1 == 1
    }

    /// Whether it may still lose a source: not all of its parts have come.
    pub fn is_gathering(&self) -> bool {
        matches!(self.phase(), Phase::Gathering | Phase::Starved)
    }

    /// The pieces of which something is under way and that are not wanted any more.
    pub fn stale(&self) -> u64 {
        (self.in_flight | self.unsent) & !self.wanted
    }

    fn is_free(&self) -> bool {
        self.phase() == Phase::Done && self.in_flight | self.unsent == 0
    }
}

/// Pieces of a set by its bits.
pub(super) fn pieces_of(bits: u64) -> Pieces {
    let mut left = bits;
    Pieces::of(std::iter::from_fn(move || {
        let piece = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        Some(piece)
    }))
}

/// All buffers under way, by numbers that are used again.
#[derive(Clone, Debug)]
pub(super) struct Gathers {
    width: usize,
    /// Whether some come from several devices.
    is_coded: bool,
    all: Vec<Gather>,
    /// The device of each position that was ever asked, but for those that a gather itself tells.
    devices: Vec<u32>,
    free: Vec<u32>,
}

impl Gathers {
    pub fn new(width: usize, is_coded: bool) -> Self {
        Gathers { width, is_coded, all: Vec::new(), devices: Vec::new(), free: Vec::new() }
    }

    /// Whether no more can be numbered.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.all.len() == GATHER_LIMIT
    }

    /// Takes a buffer up; returns its number.
    #[inline]
    pub fn open(&mut self, gather: Gather) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.all[slot as usize] = gather;
                slot
            }
            None => {
                self.all.push(gather);
                self.devices.resize(self.devices.len() + self.width, 0);
                (self.all.len() - 1) as u32
            }
        }
    }

    /// Gives a buffer's number back where nothing of it is under way; says whether it was.
    #[inline]
    pub fn close(&mut self, slot: u32) -> bool {
        let is_free = self.all[slot as usize].is_free();
        if is_free {
            self.all[slot as usize].set_phase(Phase::Free);
            self.free.push(slot);
        }
        is_free
    }

    /// Fetches what is known of a buffer while other work goes on.
    #[inline]
    pub fn fetch(&self, slot: u32) {
        prefetch(&self.all[slot as usize]);
        if self.is_coded {
            prefetch(&self.devices[slot as usize * self.width]);
        }
    }

    #[inline]
    pub fn get(&self, slot: u32) -> &Gather {
        &self.all[slot as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut Gather {
        &mut self.all[slot as usize]
    }

    /// The device that a buffer's part is asked of.
    #[inline]
    pub fn device(&self, slot: u32, position: u32) -> u32 {
        let gather = &self.all[slot as usize];
        if gather.is_all_of(position) { gather.source } else { self.devices[self.place(slot, position)] }
    }

    #[inline]
    pub fn set_device(&mut self, slot: u32, position: u32, device: u32) {
        let gather = &mut self.all[slot as usize];
        if gather.is_all_of(position) {
            gather.source = device;
        } else {
            let place = self.place(slot, position);
            self.devices[place] = device;
        }
    }

    /// Has a buffer be made of other pieces, or of none; the devices that were asked stay known.
    pub fn set_wanted(&mut self, slot: u32, wanted: u64) {
        let asked: Vec<u32> = (0..self.width as u32).map(|position| self.device(slot, position)).collect();
        let gather = &mut self.all[slot as usize];
        (gather.wanted, gather.arrived) = (wanted, gather.arrived & wanted);
        (0..).zip(asked).for_each(|(position, device)| self.set_device(slot, position, device));
    }

    #[inline]
    fn place(&self, slot: u32, position: u32) -> usize {
        slot as usize * self.width + position as usize
    }

    /// The numbers that may be in use.
    pub fn slots(&self) -> std::ops::Range<u32> {
        0..self.all.len() as u32
    }

    /// How many are in use.
    pub fn open_count(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// How many bits tell a task, of which there are up to 2^31; 28 are left to buffers under way.
pub(super) const TASK_BITS: u32 = 31;
/// Most buffers under way: they take 20 GB.
const GATHER_LIMIT: usize = 1 << 28;
/// How many bits tell a position.
const POSITION_BITS: u32 = 6;

/// A part of a buffer: what one source is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leg {
    /// Which of the buffers under way.
    pub slot: u32,
    /// Which piece.
    pub position: u32,
}

impl Leg {
    #[inline]
    pub fn pack(self) -> u64 {
        u64::from(self.slot) << POSITION_BITS | u64::from(self.position)
    }

    #[inline]
    pub fn unpack(packed: u64) -> Self {
        let position = (packed & ((1 << POSITION_BITS) - 1)) as u32;
        Leg { slot: (packed >> POSITION_BITS) as u32, position }
    }

    /// The leg's bit in a gather's sets.
    #[inline]
    pub fn bit(self) -> u64 {
        1 << self.position
    }

    /// The number of the leg's request or data among messages.
    #[inline]
    pub fn token(self, kind: u64) -> u64 {
        self.pack() << 1 | kind
    }

    #[inline]
    pub fn of_token(token: u64) -> (Self, u64) {
        // The slot takes 32 bits; what is above marks tokens of others.
        (Leg::unpack(token >> 1), token & 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_back_when_nothing_of_it_is_under_way() {
        let mut gathers = Gathers::new(3, true);
        let mut gather = Gather::new(ObjectId::new(0), Bytes::new(5), 0b011, (7, 9), 0);
        gather.unsent = 0b001;
        gather.set_phase(Phase::Done);
        assert_eq!((gather.task(), gather.number(), gather.phase()), (7, 9, Phase::Done));
        assert_eq!((gather.held(), gather.stale()), (Bytes::new(10), 0));
        let slot = gathers.open(gather);
        assert!(!gathers.close(slot));
        gathers.get_mut(slot).in_flight = 0;
        assert!(!gathers.close(slot));
        gathers.get_mut(slot).unsent = 0;
        assert!(gathers.close(slot) && gathers.open_count() == 0);
        // It is not given back twice.
        assert!(!gathers.close(slot));
        assert_eq!((gathers.open(gather), gathers.open(gather)), (0, 1));
    }
}
