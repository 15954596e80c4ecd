//! Maps from a few numbers: a flat cluster, or one of racks and rows.

use crate::map::CrushMap;
use crate::map::bucket::BucketKind;
use crate::map::draft::{BUCKET_LIMIT, DEVICE_LIMIT, Draft};
use crate::map::error::MapError;
use crate::map::rule::{Choose, Rule, Step};
use crate::map::tunables::Tunables;
use crate::map::vring::{POINTS, POINTS_LIMIT};

/// The type that separates the copies in a map built from a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Copies are on different servers.
    Server,
    /// Copies are in different racks.
    Rack,
    /// Copies are in different rows.
    Row,
}

/// Type ids of the maps built here.
const RACK: i32 = 1;
const ROW: i32 = 2;
const ROOT: i32 = 3;
/// The kind of pool that an erasure rule serves.
const ERASURE_POOLS: u8 = 3;
/// What Ceph sets in the rules that it makes for erasure-coded pools, since indep has no other way out of a collision.
const LEAF_TRIES: i32 = 5;
const TRIES: i32 = 100;
/// A weight of 1.
pub(crate) const ONE: u32 = 0x1_0000;

impl Level {
    /// The level of this name.
    ///
    /// # Arguments
    /// * `name` - `server`, `rack` or `row`.
    ///
    /// # Returns
    /// The level, or `None` for any other name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "server" => Some(Self::Server),
            "rack" => Some(Self::Rack),
            "row" => Some(Self::Row),
            _ => None,
        }
    }

    fn type_id(self) -> i32 {
        match self {
            Self::Server => 0,
            Self::Rack => RACK,
            Self::Row => ROW,
        }
    }
}

impl CrushMap {
    /// One root bucket of equal servers, and a rule that spreads copies over servers.
    ///
    /// Devices are named `server.0` on, the root `default` (id -1), the rule `replicated` (id 0). Each server weighs 1, or
    /// less where that many would exceed what a bucket may weigh.
    ///
    /// # Arguments
    /// * `servers` - number of servers, below 2^24.
    /// * `kind` - how the root chooses.
    /// * `tunables` - the map's tunables.
    ///
    /// # Returns
    /// The map.
    ///
    /// # Panics
    /// If `servers` is 2^24 or more.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Tunables};
    /// let map = CrushMap::flat(64, BucketKind::Straw, Tunables::HAMMER);
    /// assert_eq!(map.device_name(63), "server.63");
    /// ```
    #[must_use]
    pub fn flat(servers: u32, kind: BucketKind, tunables: Tunables) -> Self {
        let mut draft = with_servers(servers, tunables, Level::Server);
        let items = (0..servers as i32).map(|server| (server, server_weight(servers, kind))).collect();
        add_root(&mut draft, kind, items);
        draft.finish().map_err(MapError::from).expect("a flat map of fewer than 2^24 servers is valid")
    }

    /// Servers spread evenly over racks, and racks over rows, with a rule that spreads copies over one of these.
    ///
    /// Servers `server.0` on fill `rack.0` first; racks fill `row.0` first. The root is `default`, id -1.
    ///
    /// # Arguments
    /// * `servers` - number of servers, a multiple of `racks`.
    /// * `racks` - number of racks, a multiple of `rows`.
    /// * `rows` - number of rows, if there are any.
    /// * `kind` - how every bucket chooses.
    /// * `tunables` - the map's tunables.
    /// * `failure_domain` - what separates the copies.
    ///
    /// # Returns
    /// The map.
    ///
    /// # Errors
    /// Servers or racks do not divide evenly, a number is zero or too large, or the failure domain is a row without rows.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Level, Tunables};
    /// let map =
    ///     CrushMap::hierarchical(64, 4, Some(2), BucketKind::Straw, Tunables::HAMMER, Level::Rack).unwrap();
    /// assert_eq!(map.domains_of(map.rule_by_id(0).unwrap()), ("rack".to_owned(), 4));
    /// ```
    pub fn hierarchical(
        servers: u32,
        racks: u32,
        rows: Option<u32>,
        kind: BucketKind,
        tunables: Tunables,
        failure_domain: Level,
    ) -> Result<Self, MapError> {
        if servers >= DEVICE_LIMIT as u32 {
            let rule = format!("a map holds fewer than {DEVICE_LIMIT} servers");
            return Err(MapError::invalid("servers", servers, rule, "lower it"));
        }
        let groups = racks.saturating_add(rows.unwrap_or(0));
        if groups >= BUCKET_LIMIT as u32 {
            let rule = format!("a map holds fewer than {BUCKET_LIMIT} racks and rows");
            return Err(MapError::invalid("racks", racks, rule, "lower it"));
        }
        even("servers", servers, "racks", racks)?;
        if let Some(rows) = rows {
            even("racks", racks, "rows", rows)?;
        } else if failure_domain == Level::Row {
            let rule = "a failure domain of rows needs rows";
            return Err(MapError::invalid("failure_domain", "row", rule, "say how many rows, or choose rack"));
        }
        let mut draft = with_servers(servers, tunables, failure_domain);
        let server_items = (0..servers as i32).map(|server| (server, server_weight(servers, kind))).collect();
        let mut groups = grouped(&mut draft, kind, ("rack", RACK), racks, server_items);
        if let Some(rows) = rows {
            groups = grouped(&mut draft, kind, ("row", ROW), rows, groups);
        }
        add_root(&mut draft, kind, groups);
        Ok(draft.finish()?)
    }

    /// The same map with its rules made for erasure codes: a piece keeps its position.
    ///
    /// Every rule that chooses firstn chooses indep, with the retries that Ceph gives the rules of its erasure-coded pools: 100
    /// for a position, 5 below a failure domain.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Scratch, Tunables};
    /// let map = CrushMap::flat(64, BucketKind::Straw2, Tunables::JEWEL).for_codes();
    /// let (mut scratch, mut before, mut after) = (Scratch::new(), Vec::new(), Vec::new());
    /// let rule = map.rule_by_id(0).unwrap();
    /// map.place(rule, 42, 11, &[], &mut scratch, &mut before);
    /// let mut reweight = vec![0x10000; 64];
    /// reweight[before[4] as usize] = 0;
    /// map.place(rule, 42, 11, &reweight, &mut scratch, &mut after);
    /// assert!((0..11).all(|position| (before[position] == after[position]) == (position != 4)));
    /// ```
    #[must_use]
    pub fn for_codes(&self) -> Self {
        let mut parts = self.parts().clone();
        for rule in &mut parts.rules {
            rule.name = "erasure".to_owned();
            rule.pool_kind = ERASURE_POOLS;
            for step in &mut rule.steps {
                if let Step::Choose(choose) = step {
                    choose.firstn = false;
                }
            }
            rule.steps.splice(0..0, [Step::SetChooseleafTries(LEAF_TRIES), Step::SetChooseTries(TRIES)]);
        }
        Self::assemble(parts)
    }
}

/// Weight of one server, such that all together stay below what a bucket of this kind may weigh.
fn server_weight(servers: u32, kind: BucketKind) -> u32 {
    let weight = ONE.min(u32::MAX / servers.max(1)).max(1);
    match kind {
        // A quarter of a map's points for each of its levels (servers, racks, rows), so that all of them have room.
        BucketKind::Vring => weight.min((POINTS_LIMIT / 4 / POINTS * ONE / servers.max(1)).max(1)),
        _ => weight,
    }
}

/// Whether `parts` divides `whole`, both above zero.
pub(crate) fn even(whole_name: &str, whole: u32, parts_name: &str, parts: u32) -> Result<(), MapError> {
    if parts == 0 {
        let rule = format!("there is at least one of {parts_name}");
        return Err(MapError::invalid(parts_name, parts, rule, format!("leave {parts_name} out or give 1 or more")));
    }
    if whole == 0 || !whole.is_multiple_of(parts) {
        let rule = format!("{parts_name} = {parts} must hold equally many {whole_name}, at least one each");
        let remedy = format!("make {whole_name} a multiple of {parts}");
        return Err(MapError::invalid(whole_name, whole, rule, remedy));
    }
    Ok(())
}

/// The devices, types and rule of a map of servers.
fn with_servers(servers: u32, tunables: Tunables, failure_domain: Level) -> Draft {
    let mut draft = Draft::new();
    draft.tunables = tunables;
    for id in 0..servers as i32 {
        draft.add_device(id, format!("server.{id}"));
    }
    for (id, name) in [(0, "server"), (RACK, "rack"), (ROW, "row"), (ROOT, "root")] {
        draft.add_type(id, name);
    }
    let type_id = failure_domain.type_id();
    let choose = Choose { firstn: true, leaf: type_id != 0, count: 0, type_id };
    draft.add_rule(Rule {
        id: 0,
        name: "replicated".to_owned(),
        ruleset: 0,
        pool_kind: 1,
        min_size: 1,
        max_size: 100,
        steps: vec![Step::Take(-1), Step::Choose(choose), Step::Emit],
    });
    draft
}

fn add_root(draft: &mut Draft, kind: BucketKind, items: Vec<(i32, u32)>) {
    draft.add_bucket(-1, "default".to_owned(), ROOT, kind, items);
}

/// Adds `count` buckets that share `items` evenly; returns them as items for the level above.
pub(crate) fn grouped(
    draft: &mut Draft,
    kind: BucketKind,
    (type_name, type_id): (&str, i32),
    count: u32,
    items: Vec<(i32, u32)>,
) -> Vec<(i32, u32)> {
    let share = items.len() / count as usize;
    let mut groups = Vec::new();
    for (index, items) in items.chunks(share).enumerate() {
        // The root is -1 and comes last.
        let id = -2 - draft.buckets.len() as i32;
        groups.push((id, items.iter().map(|item| item.1).sum()));
        let name = format!("{type_name}.{index}");
        draft.add_bucket(id, name, type_id, kind, items.to_vec());
    }
    groups
}
