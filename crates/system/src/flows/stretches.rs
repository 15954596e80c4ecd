//! The time of flows in stretches between their turns: what moved in each, and what bound it.

use std::collections::BTreeMap;

use resilver_units::{SimDuration, SimTime};

/// From so many stretches on neighbours are told as one, and later ones are as long at least.
const STRETCHES_MAX: usize = 1024;

/// Requests with their data and the seconds that they took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub requests: f64,
    pub bytes: f64,
    pub seconds: f64,
}

impl Sum {
    pub fn add(&mut self, requests: f64, size: f64, delay: f64) {
        self.requests += requests;
        self.bytes += requests * size;
        self.seconds += requests * delay;
    }

    pub fn and(self, other: Sum) -> Sum {
        let (requests, bytes) = (self.requests + other.requests, self.bytes + other.bytes);
        Sum { requests, bytes, seconds: self.seconds + other.seconds }
    }
}

/// Flows of a traffic that one part binds.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub law: usize,
    pub binding: u32,
    /// How many there are now, and the most at a time.
    now: u64,
    pub most: u64,
    /// The least and the largest rate.
    pub least: f64,
    pub largest: f64,
    /// What they moved, and what of it in the time of statistics.
    pub bytes: f64,
    pub counted: f64,
    /// How many parts of the layer are full that binds them.
    pub full: u64,
    /// What they were asked for and have not moved in the end; `None` of those that are always asked for more.
    pub backlog: Option<f64>,
}

impl Group {
    /// The same with those of the stretch after it.
    fn then(&mut self, next: &Group) {
        self.most = self.most.max(next.most);
        self.least = self.least.min(next.least);
        self.largest = self.largest.max(next.largest);
        self.bytes += next.bytes;
        self.counted += next.counted;
        self.full = self.full.max(next.full);
        self.backlog = next.backlog;
    }
}

/// A stretch of time.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub from: SimTime,
    pub to: SimTime,
    /// Between which faults it is.
    pub phase: usize,
    pub groups: Vec<Group>,
    /// What clients read and wrote in it, bursts apart.
    pub served: [Sum; 2],
}

impl Stretch {
    fn new(from: SimTime, phase: usize) -> Self {
        Stretch { from, to: from, phase, groups: Vec::new(), served: [Sum::default(); 2] }
    }

    /// The same with the one after it.
    fn then(&mut self, next: Stretch) {
        self.to = next.to;
        self.served = [0, 1].map(|kind| self.served[kind].and(next.served[kind]));
        self.groups.iter_mut().for_each(|group| group.backlog = group.backlog.map(|_| 0.0));
        for group in next.groups {
            match self.groups.iter_mut().find(|own| (own.law, own.binding) == (group.law, group.binding)) {
                Some(own) => own.then(&group),
                None => self.groups.push(group),
            }
        }
    }
}

/// All stretches up to now, of which the last is under way.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    closed: Vec<Stretch>,
    current: Stretch,
    group_of: BTreeMap<(usize, u32), usize>,
    /// By requester, its group in the present stretch.
    places: Vec<Option<u32>>,
    /// Whether groups of the present stretch are yet to be found.
    pub is_new: bool,
    /// The shortest that one may be, and the whole time.
    shortest: SimDuration,
    whole: SimDuration,
}

impl Stretches {
    pub fn new(requesters: usize, whole: SimDuration) -> Self {
        Stretches {
            closed: Vec::new(),
            current: Stretch::new(SimTime::ZERO, 0),
            group_of: BTreeMap::new(),
            places: vec![None; requesters],
            is_new: true,
            shortest: SimDuration::ZERO,
            whole,
        }
    }

    /// Whether the present one may end now.
    pub fn may_close(&self, now: SimTime) -> bool {
        now > self.current.from && now.since(self.current.from) >= self.shortest
    }

    /// A requester's flow has this rate from now on, and is bound by this.
    pub fn enter(&mut self, requester: u32, (law, binding): (usize, u32), rate: f64) {
        self.leave(requester);
        let groups = &mut self.current.groups;
        let place = *self.group_of.entry((law, binding)).or_insert_with(|| {
            let (least, largest, bytes, counted) = (f64::INFINITY, 0.0, 0.0, 0.0);
            groups.push(Group {
                law,
                binding,
                now: 0,
                most: 0,
                least,
                largest,
                bytes,
                counted,
                full: 0,
                backlog: None,
            });
            groups.len() - 1
        });
        self.places[requester as usize] = Some(place as u32);
        let group = &mut groups[place];
        group.now += 1;
        group.most = group.most.max(group.now);
        (group.least, group.largest) = (group.least.min(rate), group.largest.max(rate));
    }

    /// A requester's flow ends, or is bound by something else from now on.
    pub fn leave(&mut self, requester: u32) {
        if let Some(place) = self.places[requester as usize].take() {
            self.current.groups[place as usize].now -= 1;
        }
    }

    /// A requester's flow has moved so much, and so much of it in the time of statistics.
    pub fn add(&mut self, requester: u32, bytes: f64, counted: f64) {
        if let Some(place) = self.places[requester as usize] {
            let group = &mut self.current.groups[place as usize];
            group.bytes += bytes;
            group.counted += counted;
        }
    }

    /// A client has so many requests done of a kind, which took so long.
    pub fn serve(&mut self, kind: usize, (requests, size, delay): (f64, f64, f64)) {
        self.current.served[kind].add(requests, size, delay);
    }

    /// Ends the present one, after which another begins; `left` is what each requester was asked for and has not moved, and `full` how many parts
    /// are full in the layer of one.
    pub fn close(
        &mut self,
        now: SimTime,
        phase: usize,
        left: impl Fn(usize) -> Option<f64>,
        full: impl Fn(u32) -> u64,
    ) {
        for (requester, place) in self.places.iter_mut().enumerate() {
            if let (Some(place), Some(left)) = (place.take(), left(requester)) {
                *self.current.groups[place as usize].backlog.get_or_insert(0.0) += left;
            }
        }
        self.group_of.clear();
        let mut ended = std::mem::replace(&mut self.current, Stretch::new(now, phase));
        ended.to = now;
        ended.groups.iter_mut().for_each(|group| group.full = full(group.binding));
        if ended.to > ended.from {
            self.closed.push(ended);
        }
        self.is_new = true;
        if self.closed.len() > STRETCHES_MAX {
            self.merge();
        }
    }

    /// Makes one of two neighbours each between the same faults.
    fn merge(&mut self) {
        let before = self.closed.len();
        let mut merged: Vec<Stretch> = Vec::with_capacity(before / 2 + 1);
        let mut is_whole = true;
        for stretch in self.closed.drain(..) {
            match merged.last_mut() {
                Some(last) if !is_whole && last.phase == stretch.phase => {
                    last.then(stretch);
                    is_whole = true;
                }
                _ => {
                    merged.push(stretch);
                    is_whole = false;
                }
            }
        }
        self.closed = merged;
        let least = self.whole.picoseconds() / STRETCHES_MAX as u64;
        self.shortest = SimDuration::from_picoseconds(least.max(self.shortest.picoseconds().saturating_mul(2)));
    }

    /// All of them.
    pub fn all(&self) -> &[Stretch] {
        &self.closed
    }
}
