//! Devices that were lost, and how far each is made whole again.
//!
//! Nothing is kept of the groups of a device that is lost alone: each group's place in its repair is a hash, so a group is back if
//! the repair has passed that place. Only what is made whole before its place, waits, or has to be known when it comes back is listed.

use crate::input::Returns;

/// No device is lost here.
pub(super) const NONE: u32 = u32::MAX;

/// Where the repair of a lost device stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not yet known, or nothing to repair to.
    Waiting,
    /// Under way, or waiting for its turn.
    Repairing,
    /// Done but for groups that cannot be read.
    Holding,
}

/// A group that is made whole before its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// How few further losses lose its data: the fewest first.
    margin: u32,
    place: f64,
    pub group: u32,
    /// The share of the device's work that it is, and what is left of that.
    whole: f64,
    left: f64,
}

/// A lost device.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    pub device: u32,
    /// The cause, and which of all losses it was.
    pub cause: u32,
    pub number: u64,
    /// Makes its groups' places.
    salt: u64,
    pub phase: Phase,
    /// When its repair can begin.
    pub ready: f64,
    /// A number in (0, 1) that is drawn once and says whether its repair is a fast or a slow one.
    pub drawn: f64,
    /// How long its whole repair takes at the present speed: without end where it stands still.
    pub takes: f64,
    /// Until when the following is known.
    since: f64,
    /// The share of the work that is left.
    pub left: f64,
    /// The place that its repair has passed.
    passed: f64,
    /// Groups made whole first, the next at the end.
    front: Vec<Job>,
    /// Groups to be known of when they are passed, the next at the end.
    watched: Vec<(f64, u32)>,
    /// Groups that are back before their places, ascending.
    back: Vec<u32>,
    /// Groups that were passed and could not be read.
    pub held: Vec<u32>,
    /// Bytes that the repairs of listed groups have read or will, so that those of all others are known.
    pub listed_reads: f64,
    /// When something happens to it next.
    pub next: f64,
}

/// What happens next to a lost device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A group is made whole.
    Group(u32),
    /// All is made whole.
    End,
}

impl Lost {
    pub fn new(device: u32, cause: u32, number: u64, (salt, drawn): (u64, f64), ready: f64) -> Self {
        Self {
            device,
            cause,
            number,
            salt,
            phase: Phase::Waiting,
            ready,
            drawn,
            takes: f64::INFINITY,
            since: 0.0,
            left: 1.0,
            passed: 0.0,
            front: Vec::new(),
            watched: Vec::new(),
            back: Vec::new(),
            held: Vec::new(),
            listed_reads: 0.0,
            next: f64::INFINITY,
        }
    }

    /// A group's place in the repair, in (0, 1): two rounds of the mixing of Steele and Vigna's SplitMix64.
    fn place(&self, group: u32) -> f64 {
        let mut word = self.salt ^ u64::from(group).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for _ in 0..2 {
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^= word >> 31;
        }
        ((word >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
    }

    /// Whether a group of the device lacks its piece, as of when it was last settled.
    pub fn lacks(&self, group: u32, returns: Returns) -> bool {
        if !self.held.is_empty() && self.held.contains(&group) {
            return true;
        }
        let is_passed = match returns {
            Returns::Devices => self.phase == Phase::Holding,
            Returns::Groups => self.place(group) <= self.passed,
        };
        !is_passed && self.back.binary_search(&group).is_err()
    }

    /// Until when it is known how far it is.
    pub fn settled(&self) -> f64 {
        self.since
    }

    /// Goes on at its present speed until now.
    pub fn settle(&mut self, now: f64) {
        if self.phase == Phase::Repairing && self.takes.is_finite() && self.takes > 0.0 {
            let done = ((now - self.since) / self.takes).min(self.left);
            match self.front.last_mut() {
                Some(job) => job.left = (job.left - done).max(0.0),
                None if self.left > 0.0 => {
                    self.passed = (self.passed + done * (1.0 - self.passed) / self.left).min(1.0);
                }
                None => {}
            }
            self.left -= done;
        }
        self.since = now;
    }

    /// Says anew when something happens next; it is settled.
    pub fn foresee(&mut self) {
        self.next = self.next_step();
    }

    fn next_step(&self) -> f64 {
        if self.phase != Phase::Repairing || !self.takes.is_finite() {
            return f64::INFINITY;
        }
        let share = match (self.front.last(), self.watched.last()) {
            (Some(job), _) => job.left,
            (None, Some(&(place, _))) => (place - self.passed).max(0.0) * self.left / (1.0 - self.passed),
            (None, None) => self.left,
        };
        self.since + share * self.takes
    }

    /// What is due now; the group is passed or done.
    pub fn take_step(&mut self) -> Step {
        if let Some(job) = self.front.pop() {
            // What rounding left of it is left of the whole.
            self.left = (self.left - job.left).max(0.0);
            self.add_back(job.group);
            return Step::Group(job.group);
        }
        match self.watched.pop() {
            Some((place, group)) => {
                self.passed = place;
                Step::Group(group)
            }
            None => {
                (self.left, self.passed) = (0.0, 1.0);
                Step::End
            }
        }
    }

    /// A group is back, whatever its place.
    pub fn add_back(&mut self, group: u32) {
        if let Err(place) = self.back.binary_search(&group) {
            self.back.insert(place, group);
        }
    }

    /// A group that was passed cannot be read.
    pub fn hold(&mut self, group: u32) {
        self.held.push(group);
    }

    /// A group is to be made whole first, by its margin; `share` of the work is its own.
    pub fn put_first(&mut self, group: u32, margin: u32, share: f64) {
        // What was rounded away of the whole is no part of a group any more.
        let share = share.min(self.left);
        let mut job = Job { margin, place: self.place(group), group, whole: share, left: share };
        if let Some(at) = self.front.iter().position(|job| job.group == group) {
            job = Job { margin, ..self.front.remove(at) };
        }
        self.unwatch(group);
        let is_later = |other: &Job| (other.margin, other.place) > (job.margin, job.place);
        let at = self.front.partition_point(is_later);
        self.front.insert(at, job);
    }

    /// A group is to be known of when it is passed.
    pub fn watch(&mut self, group: u32) {
        if self.front.iter().any(|job| job.group == group) || self.held.contains(&group) {
            return;
        }
        let place = self.place(group);
        let at = self.watched.partition_point(|&(other, _)| other > place);
        if self.watched.get(at) != Some(&(place, group)) {
            self.watched.insert(at, (place, group));
        }
    }

    /// Nothing of a group needs to be known any more; what was done of it first is to be done again.
    pub fn forget(&mut self, group: u32) {
        if let Some(at) = self.front.iter().position(|job| job.group == group) {
            let job = self.front.remove(at);
            self.left = (self.left + job.whole - job.left).min(1.0);
        }
        self.unwatch(group);
    }

    fn unwatch(&mut self, group: u32) {
        self.watched.retain(|&(_, other)| other != group);
    }

    /// A group is empty: nothing of it is to be repaired.
    pub fn empty(&mut self, group: u32) {
        self.forget(group);
        self.held.retain(|&other| other != group);
        self.add_back(group);
    }

    /// About how long from now until a group of it is back, were its repair to take this time.
    pub fn time_to(&self, group: u32, takes: f64, returns: Returns) -> f64 {
        if returns == Returns::Devices {
            return self.left * takes;
        }
        match self.front.iter().position(|job| job.group == group) {
            Some(at) => self.front[at..].iter().map(|job| job.left).sum::<f64>() * takes,
            None => {
                let first = self.front.iter().map(|job| job.left).sum::<f64>();
                let share = ((self.place(group) - self.passed) / (1.0 - self.passed).max(1e-9)).clamp(0.0, 1.0);
                (first + share * (self.left - first).max(0.0)) * takes
            }
        }
    }
}
