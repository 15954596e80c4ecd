//! What agents change by themselves, and which sets a change may have altered.

use std::collections::BTreeSet;

/// What a monitor or the manager does by itself. Pools are places in the map's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapChange {
    /// The monitors hold these OSDs for down.
    Down(Vec<u32>),
    /// The monitors hold these OSDs, which run, for up.
    Up(Vec<u32>),
    /// The monitors mark these OSDs out.
    Out(Vec<u32>),
    /// The pairs of a group's `pg_upmap_items` are these from now on; none of them removes the entry.
    Upmap {
        /// The pool's place.
        pool: usize,
        /// The group's number in the pool.
        group: u32,
        /// (from, to).
        pairs: Vec<(i32, i32)>,
    },
    /// A group's `pg_upmap` goes, and its `pg_upmap_primaries` where `primary`.
    DropUpmap {
        /// The pool's place.
        pool: usize,
        /// The group's number in the pool.
        group: u32,
        /// Whether what goes is the named primary instead of the whole set.
        primary: bool,
    },
    /// The pool has so many more groups: group `g` from the old number up is split from
    /// [`parent_of`](crate::map::parent_of)`(g, old number)` and starts where that is.
    Split {
        /// The pool's place.
        pool: usize,
        /// Groups from now on.
        pg_num: u32,
    },
    /// The pool has one group less: its last is merged into its parent.
    Merge {
        /// The pool's place.
        pool: usize,
    },
    /// Stretch mode goes into another state.
    Stretch(StretchChange),
    /// The pool's groups are placed as so many.
    PgpNum {
        /// The pool's place.
        pool: usize,
        /// Different placements from now on.
        pgp_num: u32,
    },
}

/// What becomes of stretch mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StretchChange {
    /// A site is down, and the other, this bucket, serves alone.
    Degraded(i32),
    /// The site is back and recovers.
    Recovering,
    /// Both sites are needed again.
    Healthy,
}

/// Which groups' sets may be others after a change. All that may be are named; of those that are named, some may be as before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Touched {
    /// None.
    #[default]
    Nothing,
    /// (place of the pool, group).
    Groups(Vec<(usize, u32)>),
    /// Every group that has one of these OSDs in its up set as it was before the change.
    Holders(Vec<u32>),
    /// Every group of these pools, by rising place, that one of these OSDs may serve ([`OsdMap::may_be_served_by`](super::OsdMap)).
    ///
    /// They take less than before: CRUSH rejects them where it took them, and goes on as before wherever it took none of them.
    Takers {
        /// By place.
        pools: Vec<usize>,
        /// Those that are out now, or have a lower reweight.
        osds: BTreeSet<u32>,
        /// Further groups: (place of the pool, group).
        groups: Vec<(usize, u32)>,
    },
    /// Every group of the pools of these places, by rising place.
    Pools(Vec<usize>),
    /// Every group.
    Everything,
}

impl Touched {
    /// What two changes touch, one after the other, where holders may be looked up only before both: `Holders` with anything else is
    /// `Everything`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (Self::Groups(one), Self::Groups(two)) => Self::Groups(union(one, two)),
            (Self::Holders(one), Self::Holders(two)) => Self::Holders(union(one, two)),
            (Self::Pools(one), Self::Pools(two)) => Self::Pools(union(one, two)),
            (Self::Pools(pools), Self::Groups(groups)) | (Self::Groups(groups), Self::Pools(pools)) => {
                Self::Pools(union(pools, groups.into_iter().map(|group| group.0).collect()))
            }
            (Self::Takers { pools, osds, groups }, Self::Groups(others)) => {
                Self::Takers { pools, osds, groups: union(groups, others) }
            }
            _ => Self::Everything,
        }
    }
}

fn union<T: Ord>(one: Vec<T>, two: Vec<T>) -> Vec<T> {
    one.into_iter().chain(two).collect::<BTreeSet<T>>().into_iter().collect()
}
