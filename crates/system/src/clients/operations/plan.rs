//! What a code has operations gather.

use std::sync::Arc;

use resilver_redundancy::{Code, Pieces};
use resilver_units::BytesPerSecond;

/// A code, and what its operations gather.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub code: Arc<Code>,
    /// The pieces that hold the data, as a set.
    pub data: u64,
    /// What makes each piece anew when it alone is lost, as a set.
    pub repairs: Vec<u64>,
    /// How fast one server encodes or decodes, in user data; `None` where that takes no time.
    pub coding: Option<BytesPerSecond>,
}

impl Plan {
    /// What operations gather under a code that takes so long.
    pub fn new(code: Arc<Code>, coding: Option<BytesPerSecond>) -> Self {
        let mut gathered = Vec::new();
        let mut repair = |piece| {
            // Nothing makes the piece of a code without redundancy anew.
            let is_made = code.repair(Pieces::of([piece]), piece, &[], &mut gathered);
            if is_made { Pieces::of(gathered.iter().copied()).bits() } else { 0 }
        };
        let repairs = (0..code.pieces()).map(&mut repair).collect();
        Plan { repairs, data: Pieces::first(code.data()).bits(), code, coding }
    }

    /// A single piece, which is all that there is of what is stored nowhere else.
    pub fn single() -> Self {
        let code = Arc::new(Code::replication(1).expect("one copy is a code"));
        Plan { code, data: 1, repairs: vec![0], coding: None }
    }
}

/// The pieces of a set, in rising order.
pub(crate) fn pieces_in(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let piece = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(piece)
    })
}
