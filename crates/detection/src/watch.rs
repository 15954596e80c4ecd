//! A run: members, their messages on the fabric, and a failure.

use resilver_fabric::{Component, Fabric, FabricEvent, Message, Notice};
use resilver_kernel::{Event, Limit, Model, Purpose, Schedule, Stream, run};
use resilver_units::{Bytes, SimDuration, SimTime};

use crate::knowledge::Knowledge;
use crate::members::Members;
use crate::turn::{Content, Timer, Turn, draw_others};
use crate::{Background, Detection, DetectionError, Group, Outcome};

/// How many periods a failure waits at most until nobody takes who fails for failed already.
const PERIODS_OF_DELAY: u32 = 20;
const DETECTION: Purpose = Purpose::named("detect");

/// What happens.
enum Happening<E> {
    Fabric(E),
    /// A member's period begins.
    Period(u32),
    Waited(Timer),
    /// A member sends other traffic.
    Background(u32),
    /// Members have settled, and what they do is counted from now on.
    Settled,
    Failure,
    End,
}

impl<E: FabricEvent> Clone for Happening<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: FabricEvent> Copy for Happening<E> {}

impl<E: FabricEvent> Event for Happening<E> {
    fn code(&self) -> u64 {
        let (kind, number) = match self {
            Happening::Fabric(event) => (0, event.number()),
            Happening::Period(member) => (1, u64::from(*member)),
            Happening::Waited(Timer { member, about, number }) => {
                (2, u64::from(*member) << 40 ^ u64::from(*about) << 20 ^ u64::from(*number))
            }
            Happening::Background(member) => (3, u64::from(*member)),
            Happening::Failure => (4, 0),
            Happening::End => (5, 0),
            Happening::Settled => (6, 0),
        };
        number << 3 | kind
    }
}

/// A message under way.
struct Letter {
    from: u32,
    to: u32,
    bytes: Bytes,
    content: Content,
}

struct Watch<'a, F: Fabric> {
    config: &'a Detection,
    group: &'a Group,
    fabric: F,
    members: Members,
    knowledge: Knowledge,
    draws: Stream,
    /// Messages under way by their tokens, and tokens that are free.
    letters: Vec<Option<Letter>>,
    free: Vec<usize>,
    /// What members want sent, and wait for; empty between events.
    post: Vec<(u32, u32, Content)>,
    timers: Vec<(SimDuration, Timer)>,
    /// What each member sent and received while that was counted, and what all sent.
    passed: Vec<u64>,
    sent: u64,
    bytes: Bytes,
    /// When the failure is to come at the latest, and when it came.
    latest: SimTime,
    failed_at: Option<SimTime>,
    is_over: bool,
}

type Happenings<F> = Schedule<Happening<<F as Fabric>::Event>>;

/// Runs the members over the fabric until all know of the failure.
pub fn watch<F: Fabric>(
    config: &Detection,
    group: &Group,
    fabric: F,
    seed: u64,
    entity: u64,
) -> Result<Outcome, DetectionError> {
    let members = group.endpoints.len();
    let mut is_up = vec![true; members];
    group.absent.iter().for_each(|&member| is_up[member as usize] = false);
    let mut watch = Watch {
        config,
        group,
        fabric,
        members: Members::new(config, members),
        knowledge: Knowledge::new(is_up, &group.failing),
        draws: Stream::new(seed, entity, DETECTION),
        letters: Vec::new(),
        free: Vec::new(),
        post: Vec::new(),
        timers: Vec::new(),
        passed: vec![0; members],
        sent: 0,
        bytes: Bytes::ZERO,
        latest: SimTime::ZERO,
        failed_at: None,
        is_over: false,
    };
    let mut schedule = Schedule::new();
    watch.start(&mut schedule);
    run(&mut watch, &mut schedule, Limit::none())?;
    let failed_at = watch.failed_at.unwrap_or(schedule.now());
    let (failures, others) = watch.knowledge.outcome(failed_at);
    Ok(Outcome {
        failures,
        others,
        healthy: failed_at.since(SimTime::ZERO + config.settling()),
        false_alarms: watch.knowledge.false_alarms,
        messages: watch.sent,
        bytes: watch.bytes,
        most_messages: watch.passed.iter().copied().max().unwrap_or(0),
        events: schedule.executed(),
        digest: schedule.digest(),
    })
}

impl<F: Fabric> Watch<'_, F> {
    fn start(&mut self, schedule: &mut Happenings<F>) {
        let group = self.group;
        self.break_down(&group.broken, schedule);
        // All know who is gone already.
        for &absent in &group.absent {
            for observer in 0..group.endpoints.len() as u32 {
                self.knowledge.learn(observer, absent, SimTime::ZERO);
            }
        }
        for member in 0..group.endpoints.len() as u32 {
            let phase = self.draws.uniform();
            if self.knowledge.is_up[member as usize] {
                let phase = SimDuration::from_picoseconds((phase * self.config.period.picoseconds() as f64) as u64);
                schedule.after(phase, Happening::Period(member));
                if self.config.background.is_some() {
                    self.rest(member, schedule);
                }
            }
        }
        self.act(schedule, |members, turn| members.start(turn));
        let (settled, period) = (SimTime::ZERO + self.config.settling(), self.config.period);
        let failure = settled + self.config.warm_up;
        self.latest = (0..PERIODS_OF_DELAY).fold(failure, |time, _| time + period);
        schedule.at(settled, Happening::Settled);
        schedule.at(failure, Happening::Failure);
        schedule.at(self.latest + self.config.patience(), Happening::End);
    }

    /// Lets members act, and does what they want.
    fn act(&mut self, schedule: &mut Happenings<F>, of: impl FnOnce(&mut Members, &mut Turn<'_>)) {
        let mut turn = Turn {
            now: schedule.now(),
            config: self.config,
            knowledge: &mut self.knowledge,
            draws: &mut self.draws,
            post: &mut self.post,
            timers: &mut self.timers,
        };
        of(&mut self.members, &mut turn);
        for (time, timer) in self.timers.drain(..) {
            schedule.after(time, Happening::Waited(timer));
        }
        let mut post = std::mem::take(&mut self.post);
        for (from, to, content) in post.drain(..) {
            let bytes = Bytes::new(self.config.message.get() + self.config.entry.get() * content.entries());
            if self.knowledge.is_counting {
                self.sent += 1;
                self.passed[from as usize] += 1;
                self.bytes += bytes;
            }
            self.send(Letter { from, to, bytes, content }, schedule);
        }
        self.post = post;
        self.is_over = self.knowledge.is_complete();
    }

    fn send(&mut self, letter: Letter, schedule: &mut Happenings<F>) {
        let token = self.free.pop().unwrap_or_else(|| {
            self.letters.push(None);
            self.letters.len() - 1
        });
        let message = self.message(token, &letter);
        self.letters[token] = Some(letter);
        let now = schedule.now();
        self.fabric.send(now, message, |time, event| schedule.at(time, Happening::Fabric(event)));
    }

    fn message(&self, token: usize, letter: &Letter) -> Message {
        let endpoint = |member: u32| self.group.endpoints[member as usize];
        Message {
            from: endpoint(letter.from),
            to: endpoint(letter.to),
            bytes: letter.bytes,
            lane: 0,
            token: token as u64,
        }
    }

    /// A message has arrived, or is lost.
    fn end(&mut self, token: u64, has_arrived: bool, schedule: &mut Happenings<F>) {
        let Some(Letter { from, to, content, .. }) = self.letters[token as usize].take() else { return };
        self.free.push(token as usize);
        if matches!(content, Content::Background) || !has_arrived || !self.knowledge.is_up[to as usize] {
            return;
        }
        if self.config.loss > 0.0 && self.draws.uniform() < self.config.loss {
            return;
        }
        if self.knowledge.is_counting {
            self.passed[to as usize] += 1;
        }
        self.act(schedule, |members, turn| members.receive(from, to, content, turn));
    }

    /// A member rests until it sends other traffic again.
    fn rest(&mut self, member: u32, schedule: &mut Happenings<F>) {
        let Some(background) = &self.config.background else { return };
        let mean = background.message.get() as f64 / background.bytes_per_second;
        // A gap beyond the horizon is never over.
        if let Ok(gap) = SimDuration::from_seconds(self.draws.exponential(mean)) {
            schedule.after(gap, Happening::Background(member));
        }
    }

    fn send_background(&mut self, member: u32, schedule: &mut Happenings<F>) {
        let Some(Background { message: bytes, .. }) = self.config.background else { return };
        let members = self.group.endpoints.len();
        for to in draw_others(&mut self.draws, members, member, 1, 0, |_| true) {
            self.send(Letter { from: member, to, bytes, content: Content::Background }, schedule);
            self.rest(member, schedule);
        }
    }

    /// The failure comes, or later where a member is wrongly taken for failed just now.
    fn fail(&mut self, schedule: &mut Happenings<F>) {
        let group = self.group;
        let is_suspected = group.failing.iter().any(|&member| self.knowledge.is_believed(member));
        if is_suspected && schedule.now() < self.latest {
            schedule.after(self.config.period, Happening::Failure);
            return;
        }
        self.failed_at = Some(schedule.now());
        self.knowledge.is_counting = false;
        self.knowledge.fail(&group.leaving);
        self.break_down(&group.breaking, schedule);
        self.is_over = self.knowledge.is_complete();
    }

    fn break_down(&mut self, components: &[Component], schedule: &mut Happenings<F>) {
        let mut lost = Vec::new();
        for &component in components {
            let now = schedule.now();
            let queue = |time, event| schedule.at(time, Happening::Fabric(event));
            self.fabric.fail(now, component, queue, |token| lost.push(token));
        }
        lost.into_iter().for_each(|token| self.end(token, false, schedule));
    }
}

impl<F: Fabric> Model for Watch<'_, F> {
    type Event = Happening<F::Event>;

    fn execute(&mut self, event: Self::Event, schedule: &mut Happenings<F>) {
        if self.is_over {
            return;
        }
        let is_up = |member: u32| self.knowledge.is_up[member as usize];
        match event {
            Happening::Fabric(event) => {
                let (letters, group) = (&self.letters, self.group);
                let message_of = |token: u64| {
                    let letter = letters[token as usize].as_ref().expect("a message under way is kept");
                    let endpoint = |member: u32| group.endpoints[member as usize];
                    let (from, to, bytes) = (endpoint(letter.from), endpoint(letter.to), letter.bytes);
                    Message { from, to, bytes, lane: 0, token }
                };
                let now = schedule.now();
                let queue = |time, event| schedule.at(time, Happening::Fabric(event));
                match self.fabric.execute(now, event, message_of, queue) {
                    Some(Notice::Delivered(token)) => self.end(token, true, schedule),
                    Some(Notice::Lost(token)) => self.end(token, false, schedule),
                    Some(Notice::Sent(_)) | None => {}
                }
            }
            Happening::Period(member) if is_up(member) => {
                self.act(schedule, |members, turn| members.begin_period(member, turn));
                schedule.after(self.config.period, Happening::Period(member));
            }
            Happening::Waited(timer) if is_up(timer.member) => {
                self.act(schedule, |members, turn| members.expire(timer, turn));
            }
            Happening::Background(member) if is_up(member) => self.send_background(member, schedule),
            Happening::Settled => self.knowledge.is_counting = true,
            Happening::Failure => self.fail(schedule),
            Happening::End => self.is_over = true,
            Happening::Period(_) | Happening::Waited(_) | Happening::Background(_) => {}
        }
    }
}
