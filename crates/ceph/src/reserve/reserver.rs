//! The slots of one OSD, as its local or its remote reserver gives them out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Who asks, in the order in which Ceph compares placement groups: pool, group, shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey(pub u64);

impl ItemKey {
    /// The key of a piece of a group.
    ///
    /// # Arguments
    /// * `pool` - the pool's place among the pools by rising number, below 2^24.
    /// * `group` - the group's number in the pool.
    /// * `shard` - the piece's position; 0 for a copy.
    #[must_use]
    pub fn new(pool: usize, group: u32, shard: u8) -> Self {
        ItemKey((pool as u64) << 40 | u64::from(group) << 8 | u64::from(shard))
    }
}

/// The number of one request, by which what a reserver says is told from what it said of an earlier one.
pub type Ticket = u64;

/// What a reserver says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The request has a slot.
    Granted(Ticket),
    /// The request had a slot, and one of higher priority has it now.
    Preempted(Ticket),
}

/// Slots given out by priority, and in the order of the requests within one (Ceph's `AsyncReserver`).
///
/// A request that waits takes the slot of the holder of the lowest priority where its own is higher; among holders of that priority
/// the one of the lowest key loses it.
#[derive(Debug, Clone)]
pub struct Reserver {
    slots: usize,
    least: i32,
    waiting: BTreeMap<i32, VecDeque<(ItemKey, Ticket)>>,
    waits_at: BTreeMap<ItemKey, i32>,
    held: BTreeMap<ItemKey, (i32, Ticket)>,
    by_priority: BTreeSet<(i32, ItemKey)>,
}

impl Reserver {
    /// A reserver of so many slots, which grants nothing below a priority.
    #[must_use]
    pub fn new(slots: u32, least: i32) -> Self {
        Reserver {
            slots: slots as usize,
            least,
            waiting: BTreeMap::new(),
            waits_at: BTreeMap::new(),
            held: BTreeMap::new(),
            by_priority: BTreeSet::new(),
        }
    }

    /// Slots in use.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Slots in all.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Requests that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waits_at.len()
    }

    /// Other slots and another least priority, from now on: holders beyond them lose theirs.
    pub fn set(&mut self, slots: u32, least: i32, said: &mut Vec<Said>) {
        (self.slots, self.least) = (slots as usize, least);
        self.give(said);
    }

    /// Asks for a slot. What comes of it is added to `said`, in order.
    pub fn request(&mut self, key: ItemKey, priority: i32, ticket: Ticket, said: &mut Vec<Said>) {
        debug_assert!(
            !self.waits_at.contains_key(&key) && !self.held.contains_key(&key),
            "one request a key at a time"
        );
        self.waits_at.insert(key, priority);
        self.waiting.entry(priority).or_default().push_back((key, ticket));
        self.give(said);
    }

    /// Another priority of a request that waits (at the end of those of that priority) or holds.
    pub fn change(&mut self, key: ItemKey, priority: i32, said: &mut Vec<Said>) {
        if let Some(ticket) = self.unqueue(key) {
            self.waits_at.insert(key, priority);
            self.waiting.entry(priority).or_default().push_back((key, ticket));
        } else if let Some((present, _)) = self.held.get_mut(&key) {
            self.by_priority.remove(&(*present, key));
            self.by_priority.insert((priority, key));
            *present = priority;
        }
        self.give(said);
    }

    /// Gives up a request or a slot.
    pub fn cancel(&mut self, key: ItemKey, said: &mut Vec<Said>) {
        if self.unqueue(key).is_none()
            && let Some((priority, _)) = self.held.remove(&key)
        {
            self.by_priority.remove(&(priority, key));
        }
        self.give(said);
    }

    fn unqueue(&mut self, key: ItemKey) -> Option<Ticket> {
        let priority = self.waits_at.remove(&key)?;
        let queue = self.waiting.get_mut(&priority)?;
        let place = queue.iter().position(|&(waiting, _)| waiting == key)?;
        let ticket = queue.remove(place).map(|(_, ticket)| ticket);
        if queue.is_empty() {
            self.waiting.remove(&priority);
        }
        ticket
    }

    fn preempt(&mut self, said: &mut Vec<Said>) {
        if let Some((_, key)) = self.by_priority.pop_first()
            && let Some((_, ticket)) = self.held.remove(&key)
        {
            said.push(Said::Preempted(ticket));
        }
    }

    fn lowest_held(&self) -> Option<i32> {
        self.by_priority.first().map(|&(priority, _)| priority)
    }

    fn give(&mut self, said: &mut Vec<Said>) {
        while self.held.len() > self.slots || self.lowest_held().is_some_and(|lowest| lowest < self.least) {
            self.preempt(said);
        }
        while let Some((&priority, _)) = self.waiting.last_key_value() {
            if priority < self.least {
                return;
            }
            if self.held.len() >= self.slots && self.lowest_held().is_some_and(|lowest| priority > lowest) {
                self.preempt(said);
            }
            if self.held.len() >= self.slots {
                return;
            }
            let Some(mut queue) = self.waiting.last_entry() else { return };
            let Some((key, ticket)) = queue.get_mut().pop_front() else { return };
            if queue.get().is_empty() {
                queue.remove();
            }
            self.waits_at.remove(&key);
            self.held.insert(key, (priority, ticket));
            self.by_priority.insert((priority, key));
            said.push(Said::Granted(ticket));
        }
    }
}
