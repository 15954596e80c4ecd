//! Changes of what there is: new OSDs, rules, pools' sizes and groups, another CRUSH map.

use super::{OsdMap, Touched, check};
use crate::error::CephError;
use crate::input::Change;

/// The group that a group was split from, or is merged into.
///
/// # Arguments
/// * `group` - the group's number in the pool, not below `bins`.
/// * `bins` - the groups of the pool without it, above zero.
///
/// # Examples
/// ```
/// use resilver_ceph::map::parent_of;
/// // 8 groups become 12: 8 to 11 come from 0 to 3.
/// assert_eq!([8, 9, 10, 11].map(|group| parent_of(group, 8)), [0, 1, 2, 3]);
/// // 12 groups become 13: the bits of 12 are 1100, and 100 is 4.
/// assert_eq!(parent_of(12, 12), 4);
/// // 8 groups become 32: 24 comes from 0 as well, by way of groups that did not exist before.
/// assert_eq!(parent_of(24, 8), 0);
/// ```
#[must_use]
pub fn parent_of(group: u32, bins: u32) -> u32 {
    let mut parent = group;
    // Ceph's groups are split by the bits of a hash: the highest bit goes until there is such a group.
    while parent >= bins {
        parent &= !(1 << (31 - parent.leading_zeros()));
    }
    parent
}

impl OsdMap {
    pub(super) fn apply_structure(&mut self, change: &Change) -> Result<Touched, CephError> {
        let touched = match change {
            Change::SetRule { pool, rule } => {
                let place = self.known_pool("set-rule", *pool)?;
                let mut pool = self.pools[place].pool.clone();
                pool.rule = *rule;
                pool.rule_in(&self.crush).map_err(CephError::crush("set-rule"))?;
                self.pools[place].pool.rule = *rule;
                Touched::Pools(vec![place])
            }
            Change::PgNum { pool, pg_num } => {
                let place = self.known_pool("pg-num", *pool)?;
                check::check_pg_num("pg-num", *pg_num)?;
                self.pools[place].pg_num_target = *pg_num;
                Touched::Nothing
            }
            Change::PoolSize { pool, size, min_size } => {
                let place = self.known_pool("pool-size", *pool)?;
                check::check_sizes(&self.pools[place], *size, *min_size)?;
                self.pools[place].pool.size = *size;
                self.pools[place].min_size = *min_size;
                Touched::Pools(vec![place])
            }
            // What a group is asked for by force is the groups' matter, and the map stays.
            Change::Force { pool, groups } => {
                let place = self.known_pool("force", *pool)?;
                let pg_num = self.pools[place].pool.pg_num;
                if let Some(group) = groups.iter().find(|&&group| group >= pg_num) {
                    let rule = format!("the pool has {pg_num} groups, numbered from 0");
                    return Err(CephError::invalid("force: group", group, rule, "name groups of the pool"));
                }
                Touched::Nothing
            }
            _ => Touched::Nothing,
        };
        self.epoch += 1;
        Ok(touched)
    }

    /// Gives a pool more groups, each where its parent is.
    pub(super) fn split(&mut self, place: usize, pg_num: u32) -> Touched {
        let pool = &mut self.pools[place].pool;
        let before = pool.pg_num;
        pool.pg_num = pg_num;
        Touched::Groups((before..pg_num).map(|group| (place, group)).collect())
    }

    /// Takes the last group away, with what names it.
    pub(super) fn merge(&mut self, place: usize) -> Touched {
        let pool = &mut self.pools[place].pool;
        let last = pool.pg_num - 1;
        pool.pg_num = last;
        pool.pgp_num = pool.pgp_num.min(last);
        pool.exceptions.upmap.remove(&last);
        pool.exceptions.upmap_items.remove(&last);
        pool.exceptions.upmap_primaries.remove(&last);
        Touched::Groups(vec![(place, parent_of(last, last))])
    }

    /// Places the groups of a pool as so many.
    pub(super) fn set_pgp_num(&mut self, place: usize, pgp_num: u32) -> Touched {
        let pool = &mut self.pools[place].pool;
        let before: Vec<u32> = (0..pool.pg_num).map(|group| pool.placement_seed(group)).collect();
        pool.pgp_num = pgp_num;
        let moved = |&group: &u32| pool.placement_seed(group) != before[group as usize];
        Touched::Groups((0..pool.pg_num).filter(moved).map(|group| (place, group)).collect())
    }
}
