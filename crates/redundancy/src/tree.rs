//! Codes of several levels: each piece of a code is the data of a stripe of the next one, as in `rs 17+3 over rs 8+2`.
//!
//! A stripe of the level below is a *group*: one piece to the level above. Pieces of the tree are those of the lowest level,
//! numbered group after group. All groups of a level have the same code, which works byte by byte. So the
//! pieces at one place of all groups are themselves a stripe of the code above, and a dead group need not be rebuilt whole:
//! the level above makes as many of its pieces as bring it back to life, and the group makes the rest itself.
//!
//! **What is survived** is judged by level, as such systems work: a group is dead when its code cannot make its lost pieces,
//! and a dead group is a lost piece of the level above. A matrix over all pieces at once could at times do more.

use crate::code::levels;
use crate::{Code, CodeError, Pieces};

/// Codes by level, each over the next: the pieces of one are stored as stripes of the one below.
///
/// ```
/// use resilver_redundancy::CodeTree;
///
/// let tree = CodeTree::parse("rs 17+3 over rs 8+2").unwrap();
/// assert_eq!((tree.pieces(), tree.data(), tree.fault_tolerance()), (200, 136, 11));
/// let dead: Vec<u32> = (0..4).flat_map(|group| (0..3).map(move |piece| 10 * group + piece)).collect();
/// assert!(!tree.is_survivable(&dead) && tree.is_survivable(&dead[1..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeTree {
    levels: Vec<Code>,
}

/// One piece made anew, of others that are there or were made by an earlier step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairStep {
    /// The level whose code makes it, from 0 at the top: what is gathered crosses between that level's groups.
    pub level: u32,
    /// The piece.
    pub piece: u32,
    /// What is gathered for it.
    pub gathered: Vec<u32>,
}

impl CodeTree {
    /// The most pieces of a tree.
    pub const PIECES_LIMIT: u32 = 4096;

    /// The codes that `text` names, the top one first: `"rs 17+3 over rs 8+2"`; a single code is a tree of one level.
    pub fn parse(text: &str) -> Result<Self, CodeError> {
        let tree = Self { levels: levels(text)? };
        let pieces = tree.levels.iter().fold(1u64, |all, code| all.saturating_mul(code.pieces().into()));
        if pieces > Self::PIECES_LIMIT.into() {
            return Err(CodeError::LargeTree { name: tree.name(), pieces, limit: Self::PIECES_LIMIT });
        }
        Ok(tree)
    }

    /// The codes by level, the top one first.
    pub fn levels(&self) -> &[Code] {
        &self.levels
    }

    /// The codes as they are written.
    pub fn name(&self) -> String {
        self.levels.iter().map(Code::name).collect::<Vec<_>>().join(" over ")
    }

    /// How many pieces there are at the lowest level.
    pub fn pieces(&self) -> u32 {
        self.levels.iter().map(Code::pieces).product()
    }

    /// How many of them hold data: the others follow from these.
    pub fn data(&self) -> u32 {
        self.levels.iter().map(Code::data).product()
    }

    /// How many pieces can be lost wherever they are.
    ///
    /// The fewest that lose data are one more than each level survives: as many groups, each with as many pieces.
    pub fn fault_tolerance(&self) -> u32 {
        self.levels.iter().map(|code| code.fault_tolerance() + 1).product::<u32>() - 1
    }

    /// Whether the data can be read although the pieces `lost` are; numbers beyond the last piece do not count.
    pub fn is_survivable(&self, lost: &[u32]) -> bool {
        self.levels[0].is_survivable(Losses::of(self, lost).of_level[0][0])
    }

    /// Which groups of each level below the top are dead, by their numbers, without the pieces `lost`.
    pub fn dead_groups(&self, lost: &[u32]) -> Vec<Vec<u32>> {
        let losses = Losses::of(self, lost);
        let above = self.levels.iter().zip(&losses.of_level).take(self.levels.len() - 1);
        above
            .map(|(code, of_level)| {
                let dead = |(group, lost): (u32, &Pieces)| {
                    lost.iter().map(|piece| group * code.pieces() + piece).collect::<Vec<_>>()
                };
                (0..).zip(of_level).flat_map(dead).collect()
            })
            .collect()
    }

    /// How all pieces `lost` are made anew, each by one step; [`None`] if the data are lost.
    ///
    /// A piece whose group is alive is made within it, and nothing crosses the level above. A dead group gets of the level
    /// above the pieces that bring it back to life, the first by number, and of several dead groups within it those
    /// that need fewest. Each step gathers what the code of its level names first.
    pub fn repairs(&self, lost: &[u32]) -> Option<Vec<RepairStep>> {
        let losses = Losses::of(self, lost);
        if !self.levels[0].is_survivable(losses.of_level[0][0]) {
            return None;
        }
        let mut plan = Plan { tree: self, losses, steps: Vec::new() };
        plan.heal(0, 0);
        Some(plan.steps)
    }

    /// How many pieces of the tree a group of `level` has.
    fn group_pieces(&self, level: usize) -> u32 {
        self.levels[level..].iter().map(Code::pieces).product()
    }
}

/// What is lost, by level and group: pieces at the lowest level, and dead groups of the level below at the others.
struct Losses {
    of_level: Vec<Vec<Pieces>>,
}

impl Losses {
    fn of(tree: &CodeTree, lost: &[u32]) -> Self {
        let mut count = 1;
        let of_code = |code: &Code| {
            let groups = vec![Pieces::new(); count as usize];
            count *= code.pieces();
            groups
        };
        let mut losses = Self { of_level: tree.levels.iter().map(of_code).collect() };
        for &piece in lost.iter().filter(|&&piece| piece < count) {
            losses.set(tree, tree.levels.len() - 1, piece, true);
        }
        losses
    }

    /// Notes that `piece` of all pieces of `level` is lost or no longer so, and what becomes of the groups that it is in.
    fn set(&mut self, tree: &CodeTree, level: usize, piece: u32, is_lost: bool) {
        let code = &tree.levels[level];
        let (group, place) = (piece / code.pieces(), piece % code.pieces());
        let lost = &mut self.of_level[level][group as usize];
        let was_alive = code.is_survivable(*lost);
        if is_lost {
            lost.insert(place)
        } else {
            lost.remove(place)
        }
        let is_alive = code.is_survivable(*lost);
        if level > 0 && was_alive != is_alive {
            self.set(tree, level - 1, group, !is_alive);
        }
    }
}

/// Repairs in the order in which they can be made.
struct Plan<'tree> {
    tree: &'tree CodeTree,
    losses: Losses,
    steps: Vec<RepairStep>,
}

impl Plan<'_> {
    /// Makes all of a living group whole.
    fn heal(&mut self, level: usize, group: u32) {
        let tree = self.tree;
        let (code, lost) = (&tree.levels[level], self.losses.of_level[level][group as usize]);
        let first = group * code.pieces();
        if level + 1 == tree.levels.len() {
            for piece in lost.iter() {
                self.make(level, first, 1, lost, piece, 0);
            }
            return;
        }
        // Groups that live are made whole first: what the dead ones need of them is then there.
        for piece in Pieces::first(code.pieces()).without(lost).iter() {
            self.heal(level + 1, first + piece);
        }
        let size = tree.group_pieces(level + 1);
        for piece in lost.iter() {
            for place in self.needed(level + 1, first + piece) {
                self.make(level, first * size, size, lost, piece, place);
                self.losses.set(tree, tree.levels.len() - 1, (first + piece) * size + place, false);
            }
            self.heal(level + 1, first + piece);
        }
    }

    /// Adds the step that makes the piece at `place` of a stripe's `piece`, which has `size` pieces of the tree, as the others.
    fn make(&mut self, level: usize, first: u32, size: u32, lost: Pieces, piece: u32, place: u32) {
        let mut gathered = Vec::new();
        let is_made = self.tree.levels[level].repair(lost, piece, &[], &mut gathered);
        debug_assert!(is_made, "a living group makes each of its pieces");
        let number = |piece: u32| first + piece * size + place;
        let gathered = gathered.into_iter().map(number).collect();
        self.steps.push(RepairStep { level: level as u32, piece: number(piece), gathered });
    }

    /// The places of pieces that bring a group back to life when they are made; none if it lives.
    fn needed(&self, level: usize, group: u32) -> Vec<u32> {
        let code = &self.tree.levels[level];
        let mut lost = self.losses.of_level[level][group as usize];
        let is_lowest = level + 1 == self.tree.levels.len();
        let of_piece = |piece: u32| {
            if is_lowest {
                return vec![piece];
            }
            let first = piece * self.tree.group_pieces(level + 1);
            let below = self.needed(level + 1, group * code.pieces() + piece);
            below.into_iter().map(|place| first + place).collect()
        };
        let mut candidates: Vec<(u32, Vec<u32>)> = lost.iter().map(|piece| (piece, of_piece(piece))).collect();
        candidates.sort_by_key(|(_, places)| places.len());
        let mut needed = Vec::new();
        for (piece, places) in candidates {
            if code.is_survivable(lost) {
                break;
            }
            lost.remove(piece);
            needed.extend(places);
        }
        needed
    }
}
