//! CRUSH maps in the binary form that clusters keep and `crushtool` reads and writes.
//!
//! The form grew at its end: older releases stop early, and what is absent has the value it had before it existed. A map
//! remembers how far its source went, so that writing it gives the same bytes. Numbers are little endian. A count is
//! believed only as far as the bytes that are left could hold that many entries, so memory follows the input's size.
//! Source: `CrushWrapper::encode` and `decode` of Ceph 16 and 19, and what `crushtool` 16 writes.

use std::collections::BTreeMap;

use crate::map::CrushMap;
use crate::map::bucket::{BucketKind, Stored};
use crate::map::draft::{Draft, DraftArguments, DraftBucket, DraftDevice, DraftRule, DraftType, Extent};
use crate::map::error::MapError;
use crate::map::place::{Fault, Place};
use crate::map::rule::{Rule, Step};

/// The first four bytes of a map.
pub(crate) const MAGIC: u32 = 0x0001_0000;

/// The optional parts at the end of a map, in order, each with the release that added it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Local and total tries (0.48).
    Tries = 1,
    /// `chooseleaf_descend_once` (0.55).
    DescendOnce = 2,
    /// `chooseleaf_vary_r` (0.74).
    VaryR = 3,
    /// `straw_calc_version` (0.90).
    StrawCalc = 4,
    /// `allowed_bucket_algs` (0.90).
    AllowedAlgs = 5,
    /// `chooseleaf_stable` (10).
    Stable = 6,
    /// Device classes (12).
    Classes = 7,
    /// choose_args (12).
    ChooseArgs = 8,
    /// Tunables of multi-step retries (19).
    Msr = 9,
}

/// The bytes of a map, read one after the other.
struct Bytes<'d> {
    data: &'d [u8],
    at: usize,
}

impl CrushMap {
    /// Reads a map from its binary form.
    ///
    /// # Arguments
    /// * `data` - the output of `ceph osd getcrushmap`, or of `crushtool --compile`.
    ///
    /// # Returns
    /// The map, checked.
    ///
    /// # Errors
    /// The bytes are no such map, with the byte where they cease to be one, or a value breaks a rule of CRUSH maps.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Tunables};
    /// let data = CrushMap::flat(3, BucketKind::Straw, Tunables::HAMMER).to_bytes().unwrap();
    /// assert_eq!(CrushMap::from_bytes(&data).unwrap().to_bytes().unwrap(), data);
    /// let error = CrushMap::from_bytes(&data[..60]).unwrap_err();
    /// assert_eq!(error.to_string(), "byte 60: the map ends within a bucket's weights");
    /// ```
    pub fn from_bytes(data: &[u8]) -> Result<Self, MapError> {
        read(&mut Bytes { data, at: 0 })?.finish().map_err(|Fault { place, error }| match place {
            Place::Offset(offset) => error.located(format!("byte {offset}")),
            _ => error,
        })
    }
}

fn read(bytes: &mut Bytes<'_>) -> Result<Draft, MapError> {
    let magic = bytes.u32("the first number")?;
    if magic != MAGIC {
        return Err(bytes.error_at(0, format!("a CRUSH map begins with {MAGIC:#010x}, not {magic:#010x}")));
    }
    let mut draft = Draft::new();
    let max_buckets = bytes.u32("the number of buckets")?;
    let max_rules = bytes.u32("the number of rules")?;
    let max_devices = bytes.i32("the number of devices")?;
    // Each slot, used or not, takes four bytes or more.
    bytes.expect(u64::from(max_buckets) * 4, "buckets")?;
    for _ in 0..max_buckets {
        if let Some(bucket) = bucket(bytes)? {
            draft.buckets.push(bucket);
        }
    }
    bytes.expect(u64::from(max_rules) * 4, "rules")?;
    for id in 0..max_rules {
        if bytes.u32("whether there is a rule")? != 0 {
            draft.rules.push(rule(bytes, id)?);
        }
    }
    draft.extent = Extent { max_buckets, max_rules, max_devices, parts: Some(0), ..Extent::default() };
    names(bytes, &mut draft)?;
    tunables(bytes, &mut draft)?;
    Ok(draft)
}

fn bucket(bytes: &mut Bytes<'_>) -> Result<Option<DraftBucket>, MapError> {
    let start = bytes.at;
    if bytes.u32("a bucket's alg")? == 0 {
        return Ok(None);
    }
    let place = Place::Offset(bytes.at);
    let id = bytes.i32("a bucket's id")?;
    let type_id = i32::from(bytes.u16("a bucket's type")?);
    let alg = bytes.u8("a bucket's alg")?;
    let Some(kind) = BucketKind::from_number(u32::from(alg)) else {
        let message = format!("bucket {id} has alg {alg}, which is not the number of a kind of bucket known here");
        return Err(bytes.error_at(start, message));
    };
    let hash = bytes.u8("a bucket's hash")?;
    if hash != 0 {
        let message = format!("bucket {id} has hash {hash}; the only hash of CRUSH buckets is rjenkins1 (0)");
        return Err(bytes.error_at(start, message));
    }
    let weight = bytes.u32("a bucket's weight")?;
    let size = bytes.count(4, "a bucket's items")?;
    let items: Vec<i32> = (0..size).map(|_| bytes.i32("a bucket's items")).collect::<Result<_, _>>()?;
    let (weights, numbers) = shape(bytes, kind, size)?;
    let items = items.into_iter().zip(weights).collect();
    let (name, item_places) = Default::default();
    let stored = Some(Stored { weight, numbers: Some(numbers) });
    Ok(Some(DraftBucket { id, name, type_id, kind, items, stored, place, item_places }))
}

/// The items' weights, and the numbers that the kind stores beside them.
fn shape(bytes: &mut Bytes<'_>, kind: BucketKind, size: usize) -> Result<(Vec<u32>, Vec<u32>), MapError> {
    let what = "a bucket's weights";
    match kind {
        BucketKind::Uniform => {
            let unit = bytes.u32(what)?;
            Ok((vec![unit; size], vec![unit]))
        }
        BucketKind::List | BucketKind::Straw => {
            bytes.expect(size as u64 * 8, what)?;
            let pairs = (0..size).map(|_| Ok((bytes.u32(what)?, bytes.u32(what)?)));
            Ok(pairs.collect::<Result<Vec<_>, MapError>>()?.into_iter().unzip())
        }
        BucketKind::Tree => {
            let count = bytes.tree_nodes(size)?;
            let nodes: Vec<u32> = (0..count).map(|_| bytes.u32(what)).collect::<Result<_, _>>()?;
            let weights = (0..size).map(|item| nodes.get(2 * item + 1).copied().unwrap_or(0)).collect();
            Ok((weights, nodes))
        }
        BucketKind::Straw2 | BucketKind::Vring => {
            bytes.expect(size as u64 * 4, what)?;
            let weights = (0..size).map(|_| bytes.u32(what)).collect::<Result<_, _>>()?;
            Ok((weights, Vec::new()))
        }
    }
}

fn rule(bytes: &mut Bytes<'_>, id: u32) -> Result<DraftRule, MapError> {
    let place = Place::Offset(bytes.at);
    let count = bytes.count(12, "a rule's steps")?;
    let ruleset = u32::from(bytes.u8("a rule's ruleset")?);
    let pool_kind = bytes.u8("a rule's type")?;
    let min_size = u32::from(bytes.u8("a rule's min_size")?);
    let max_size = u32::from(bytes.u8("a rule's max_size")?);
    let (mut steps, mut step_places) = (Vec::new(), Vec::new());
    for _ in 0..count {
        step_places.push(Place::Offset(bytes.at));
        let number = bytes.u32("a step")?;
        let (first, second) = (bytes.i32("a step")?, bytes.i32("a step")?);
        let unknown = || format!("rule {id} has a step of number {number}, which is not known here");
        steps.push(Step::from_number(number, first, second).ok_or_else(|| bytes.error_at(bytes.at - 12, unknown()))?);
    }
    let rule = Rule { id, name: String::new(), ruleset, pool_kind, min_size, max_size, steps };
    Ok(DraftRule { rule, place, step_places })
}

/// The names of types, of devices and buckets, and of rules.
fn names(bytes: &mut Bytes<'_>, draft: &mut Draft) -> Result<(), MapError> {
    for (id, (name, place)) in bytes.names("the types' names")? {
        draft.types.push(DraftType { id, name, place });
    }
    let mut buckets: BTreeMap<i32, &mut DraftBucket> =
        draft.buckets.iter_mut().map(|bucket| (bucket.id, bucket)).collect();
    for (id, (name, place)) in bytes.names("the items' names")? {
        if id >= 0 {
            draft.devices.push(DraftDevice { id, name, place });
        } else if let Some(bucket) = buckets.get_mut(&id) {
            bucket.name = name;
        } else {
            draft.extent.strays.insert(id, name);
        }
    }
    let mut named = bytes.names("the rules' names")?;
    for entry in &mut draft.rules {
        if let Some((name, _)) = i32::try_from(entry.rule.id).ok().and_then(|id| named.remove(&id)) {
            entry.rule.name = name;
        }
    }
    Ok(())
}

/// The tunables and what later releases put after them, as far as the map goes.
fn tunables(bytes: &mut Bytes<'_>, draft: &mut Draft) -> Result<(), MapError> {
    let what = "the tunables";
    for part in 1..=Part::Msr as u8 {
        if bytes.at == bytes.data.len() {
            return Ok(());
        }
        draft.extent.parts = Some(part);
        let tunables = &mut draft.tunables;
        match part {
            1 => {
                tunables.choose_local_tries = bytes.u32(what)?;
                tunables.choose_local_fallback_tries = bytes.u32(what)?;
                tunables.choose_total_tries = bytes.u32(what)?;
            }
            2 => tunables.chooseleaf_descend_once = bytes.u32(what)?,
            3 => tunables.chooseleaf_vary_r = u32::from(bytes.u8(what)?),
            4 => tunables.straw_calc_version = u32::from(bytes.u8(what)?),
            5 => tunables.allowed_bucket_algs = bytes.u32(what)?,
            6 => tunables.chooseleaf_stable = u32::from(bytes.u8(what)?),
            7 => {
                draft.classes.of_item = bytes.pairs("the items' classes")?;
                let names = bytes.names("the classes' names")?;
                draft.classes.names = names.into_iter().map(|(id, (name, _))| (id, name)).collect();
                for _ in 0..bytes.count(8, "the classes' shadows")? {
                    let bucket = bytes.i32("the classes' shadows")?;
                    draft.classes.shadows.insert(bucket, bytes.pairs("the classes' shadows")?);
                }
            }
            8 => {
                let start = bytes.at;
                let read = choose_args(bytes, false).or_else(|error| {
                    bytes.at = start;
                    draft.extent.has_wide_count = true;
                    let wide = choose_args(bytes, true).ok().filter(|_| bytes.at == bytes.data.len());
                    wide.ok_or(error)
                });
                draft.choose_args = read?;
            }
            _ => {
                tunables.msr_descents = bytes.u32(what)?;
                tunables.msr_collision_tries = bytes.u32(what)?;
                draft.extent.trailing = bytes.data[bytes.at..].to_vec();
            }
        }
    }
    Ok(())
}

/// The choose_args; the versions that led to Ceph 12 wrote how many there are in eight bytes (`is_wide`).
fn choose_args(bytes: &mut Bytes<'_>, is_wide: bool) -> Result<Vec<(i64, Vec<DraftArguments>)>, MapError> {
    let what = "choose_args";
    let mut all = Vec::new();
    let count = bytes.count(12, what)?;
    if is_wide && bytes.u32(what)? != 0 {
        return Err(bytes.error_at(bytes.at - 4, format!("the map ends within {what}")));
    }
    for _ in 0..count {
        let key = bytes.i64(what)?;
        let mut list = Vec::new();
        for _ in 0..bytes.count(12, what)? {
            let place = Place::Offset(bytes.at);
            let slot = bytes.u32(what)?;
            let mut weights = Vec::new();
            for _ in 0..bytes.count(4, what)? {
                let size = bytes.count(4, what)?;
                weights.push((0..size).map(|_| bytes.u32(what)).collect::<Result<Vec<_>, _>>()?);
            }
            let size = bytes.count(4, what)?;
            let ids = (0..size).map(|_| bytes.i32(what)).collect::<Result<Vec<_>, _>>()?;
            let ids = if ids.is_empty() { None } else { Some(ids) };
            list.push(DraftArguments { bucket: !(slot as i32), weights, ids, place });
        }
        all.push((key, list));
    }
    Ok(all)
}

impl<'d> Bytes<'d> {
    fn error_at(&self, offset: usize, message: String) -> MapError {
        MapError::Binary { offset, message }
    }

    /// That this many bytes are left.
    fn expect(&self, wanted: u64, what: &str) -> Result<(), MapError> {
        if wanted <= (self.data.len() - self.at) as u64 {
            return Ok(());
        }
        Err(self.error_at(self.data.len(), format!("the map ends within {what}")))
    }

    fn take<const SIZE: usize>(&mut self, what: &str) -> Result<[u8; SIZE], MapError> {
        self.expect(SIZE as u64, what)?;
        let mut taken = [0; SIZE];
        taken.copy_from_slice(&self.data[self.at..self.at + SIZE]);
        self.at += SIZE;
        Ok(taken)
    }

    fn u8(&mut self, what: &str) -> Result<u8, MapError> {
        self.take::<1>(what).map(u8::from_le_bytes)
    }

    fn u16(&mut self, what: &str) -> Result<u16, MapError> {
        self.take(what).map(u16::from_le_bytes)
    }

    fn u32(&mut self, what: &str) -> Result<u32, MapError> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn i32(&mut self, what: &str) -> Result<i32, MapError> {
        self.take(what).map(i32::from_le_bytes)
    }

    fn i64(&mut self, what: &str) -> Result<i64, MapError> {
        self.take(what).map(i64::from_le_bytes)
    }

    /// A number of entries of at least `each` bytes.
    fn count(&mut self, each: u64, what: &str) -> Result<usize, MapError> {
        let count = self.u32(what)?;
        self.expect(u64::from(count) * each, what)?;
        Ok(count as usize)
    }

    /// The number of nodes of a tree over `size` items, which is one byte: a tree holds 64 items at most.
    fn tree_nodes(&mut self, size: usize) -> Result<usize, MapError> {
        let start = self.at;
        let count = self.u8("a tree's nodes")?;
        self.expect(u64::from(count) * 4, "a tree's nodes")?;
        let fits = if size == 0 { count <= 1 } else { count.is_power_of_two() && usize::from(count) >= 2 * size };
        if fits {
            return Ok(usize::from(count));
        }
        let message =
            format!("a tree of {size} items has {count} nodes; they must be a power of two and twice as many");
        Err(self.error_at(start, message))
    }

    /// A table of numbers by number.
    fn pairs(&mut self, what: &str) -> Result<BTreeMap<i32, i32>, MapError> {
        let count = self.count(8, what)?;
        (0..count).map(|_| Ok((self.i32(what)?, self.i32(what)?))).collect()
    }

    /// A table of names by number, and where each stands. Early releases wrote numbers of 64 bits, which shows in a length
    /// of zero where the number's upper half stands: no name is empty.
    fn names(&mut self, what: &str) -> Result<BTreeMap<i32, (String, Place)>, MapError> {
        let mut names = BTreeMap::new();
        for _ in 0..self.count(8, what)? {
            let start = self.at;
            let number = self.i32(what)?;
            let mut length = self.u32(what)?;
            if length == 0 {
                length = self.u32(what)?;
            }
            self.expect(u64::from(length), what)?;
            let bytes: &'d [u8] = &self.data[self.at..self.at + length as usize];
            let Ok(name) = std::str::from_utf8(bytes) else {
                return Err(self.error_at(self.at, format!("one of {what} is not UTF-8")));
            };
            self.at += length as usize;
            names.insert(number, (name.to_owned(), Place::Offset(start)));
        }
        Ok(names)
    }
}
