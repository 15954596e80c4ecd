//! dmClock's tags, as Ceph's OSD uses them: Gulati, Merchant and Varman, "mClock" (OSDI 2010), with one client a class, tags made when an
//! item comes to the front of its class, and limits that make it wait (`AtLimit::Wait`).

use std::collections::VecDeque;

use super::super::OpClass;
use super::super::law::Rates;
use super::Next;

/// A class that asked for nothing so long begins again beside the one that is behind most (`idle_age` of the library).
const IDLE_SECONDS: f64 = 600.0;

#[derive(Debug, Clone, Copy)]
struct Waiting {
    token: u32,
    cost: f64,
    arrived: f64,
}

/// Times from which an item may be served: by reservation, by weight (in virtual time), by limit.
#[derive(Debug, Clone, Copy, Default)]
struct Tag {
    reservation: f64,
    weight: f64,
    limit: f64,
}

#[derive(Debug)]
struct Class {
    rates: Rates,
    waiting: VecDeque<Waiting>,
    /// The tag of the first that waits; else of the one served last.
    tag: Tag,
    /// What is added to the weight tag when classes are compared.
    shift: f64,
    /// When it asked last; none where it never did.
    asked: Option<f64>,
}

/// The tags of the classes of one shard.
#[derive(Debug)]
pub(super) struct Tags {
    classes: [Class; 3],
}

impl Class {
    /// The tag of the next item, from that of the one before and the time at which it came.
    fn advance(&mut self, next: Waiting) {
        let after =
            |tag: f64, rate: f64| if rate > 0.0 { next.arrived.max(tag + next.cost / rate) } else { f64::INFINITY };
        let tag = self.tag;
        self.tag = Tag {
            // Without a reservation there is no time from which one is due; the tag itself must stay finite.
            reservation: if self.rates.reservation > 0.0 {
                after(tag.reservation, self.rates.reservation)
            } else {
                0.0
            },
            weight: if self.rates.weight > 0.0 { after(tag.weight, self.rates.weight) } else { 0.0 },
            limit: if self.rates.limit.is_finite() { after(tag.limit, self.rates.limit) } else { 0.0 },
        };
    }

    /// When its reservation lets its first item go.
    fn reserved_at(&self) -> Option<f64> {
        (!self.waiting.is_empty() && self.rates.reservation > 0.0).then_some(self.tag.reservation)
    }

    /// Takes out its first item, and gives the next its tag.
    fn take(&mut self) -> Waiting {
        let taken = self.waiting.pop_front().expect("a class that is served has an item");
        if let Some(&next) = self.waiting.front() {
            self.advance(next);
        }
        taken
    }
}

impl Tags {
    pub fn new(rates: [Rates; 3]) -> Self {
        let class = |rates| Class { rates, waiting: VecDeque::new(), tag: Tag::default(), shift: 0.0, asked: None };
        Tags { classes: rates.map(class) }
    }

    /// Gives the classes other rates from the next tag on.
    pub fn set(&mut self, rates: [Rates; 3]) {
        for (class, rates) in self.classes.iter_mut().zip(rates) {
            class.rates = rates;
        }
    }

    /// Takes out all that waits.
    pub fn drain(&mut self) -> Vec<(OpClass, u32, f64)> {
        let mut all = Vec::new();
        for (class, kind) in self.classes.iter_mut().zip([OpClass::Client, OpClass::Recovery, OpClass::BestEffort]) {
            all.extend(class.waiting.drain(..).map(|item| (kind, item.token, item.cost)));
        }
        all
    }

    pub fn push(&mut self, now: f64, class: OpClass, token: u32, cost: f64) {
        let index = class as usize;
        let rested = self.classes[index].waiting.is_empty()
            && self.classes[index].asked.is_none_or(|asked| now - asked >= IDLE_SECONDS);
        if rested {
            // A class that was idle competes from where the one furthest behind stands: it neither owes nor has saved up.
            let others = self.classes.iter().enumerate().filter(|(other, class)| {
                *other != index
                    && class.asked.is_some_and(|asked| !class.waiting.is_empty() || now - asked < IDLE_SECONDS)
            });
            let behind = others.map(|(_, class)| class.tag.weight + class.shift).fold(f64::INFINITY, f64::min);
            let class = &mut self.classes[index];
            class.tag.weight = now;
            class.shift = if behind.is_finite() { behind - now } else { 0.0 };
        }
        let class = &mut self.classes[index];
        class.asked = Some(now);
        let item = Waiting { token, cost, arrived: now };
        if class.waiting.is_empty() {
            class.advance(item);
        }
        class.waiting.push_back(item);
    }

    pub fn pop(&mut self, now: f64) -> Next {
        // What is due by a reservation comes first, the longest due first.
        let reserved = self.classes.iter().enumerate().filter_map(|(index, class)| Some((class.reserved_at()?, index)));
        let reserved = reserved.min_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((due, index)) = reserved
            && due <= now
        {
            return Next::Item(self.classes[index].take().token);
        }
        // Then by weight, of those that their limit lets go.
        let ready =
            self.classes.iter().enumerate().filter(|(_, class)| !class.waiting.is_empty() && class.tag.limit <= now);
        let ready = ready.map(|(index, class)| (class.tag.weight + class.shift, index));
        if let Some((_, index)) = ready.min_by(|one, other| one.0.total_cmp(&other.0)) {
            let class = &mut self.classes[index];
            let taken = class.take();
            // What went by weight has not used the reservation.
            if class.rates.reservation > 0.0 {
                class.tag.reservation -= taken.cost / class.rates.reservation;
            }
            return Next::Item(taken.token);
        }
        let waiting = self.classes.iter().filter(|class| !class.waiting.is_empty());
        let limit = waiting.map(|class| class.tag.limit).fold(f64::INFINITY, f64::min);
        let first = reserved.map_or(limit, |(due, _)| limit.min(due));
        if first.is_finite() { Next::At(first) } else { Next::Empty }
    }
}
