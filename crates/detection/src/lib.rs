//! How the members of a system find out that some of them have failed: by heartbeats to monitors or to each other, by
//! gossip or by SWIM. Every message crosses the fabric, waits there behind other traffic, and may be lost.
//!
//! Members settle, and load and false alarms are counted for a while; then some fail, and the run goes on until every other
//! member knows.

mod gossip;
mod heartbeats;
mod knowledge;
mod members;
mod silence;
mod swim;
mod turn;
mod watch;

use resilver_fabric::{Component, Fabric};
use resilver_kernel::{Digest, KernelError};
use resilver_units::{Bytes, EndpointId, Refusal, SimDuration};
use serde::Deserialize;
use thiserror::Error;

/// Most messages that a run is expected to exchange; an entry that a receiver looks at counts as a hundredth.
const MOST_MESSAGES: f64 = 1e8;

/// The longest that a run waits after a failure: 50 days in picoseconds, well within the horizon.
const MOST_PATIENCE: u64 = 50 * 86_400 * 1_000_000_000_000;

/// How failures are detected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detection {
    /// Who watches whom.
    pub protocol: Protocol,
    /// How often each member sends.
    pub period: SimDuration,
    /// Of heartbeats and gossip, the silence after which a member is taken for failed; of SWIM, the wait for an answer before
    /// others are asked to probe.
    pub timeout: SimDuration,
    /// How long load and false alarms are counted before the failure, once the members have settled.
    pub warm_up: SimDuration,
    /// What each message takes on the wire.
    pub message: Bytes,
    /// What each entry on a member takes besides.
    pub entry: Bytes,
    /// The share of messages that is lost, beside what the fabric drops.
    pub loss: f64,
    /// Other traffic, if any.
    pub background: Option<Background>,
    /// Who has to know before anything is done about a failure.
    pub known_by: KnownBy,
}

/// Who has to know before anything is done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// Anybody.
    First,
    /// All who are left.
    All,
}

/// Who watches whom.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Protocol {
    /// Each sends heartbeats to monitors, which tell all.
    Monitor {
        /// How many members are monitors, evenly among all by number.
        monitors: u32,
    },
    /// Each sends heartbeats to each.
    AllToAll {},
    /// Each sends what it knows of all heartbeats to some, drawn anew each time (van Renesse, Minsky and Hayden, 1998).
    Gossip {
        /// To how many.
        fanout: u32,
    },
    /// Each probes one, drawn anew each period, itself and then through others; news ride on probes and their answers (Das,
    /// Gupta and Motivala, 2002).
    Swim {
        /// How many others are asked to probe one that does not answer.
        fanout: u32,
        /// How long one is suspected before it is taken for failed, in which it may object.
        suspicion: SimDuration,
    },
}

/// Traffic beside the protocol: messages of one size, from each member to members drawn alike, at exponential gaps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// What each member sends a second.
    pub bytes_per_second: f64,
    /// The size of each message.
    pub message: Bytes,
}

/// Who there is, and what fails.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The endpoint of each member.
    pub endpoints: Vec<EndpointId>,
    /// Members that are gone from the beginning.
    pub absent: Vec<u32>,
    /// Parts of the network that are gone from the beginning.
    pub broken: Vec<Component>,
    /// Members that fail, all at a time.
    pub failing: Vec<u32>,
    /// Members that are gone from then on besides, whose failure nobody asks about.
    pub leaving: Vec<u32>,
    /// Parts of the network that fail with them.
    pub breaking: Vec<Component>,
}

/// When a failure became known, from the failure on.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Who failed.
    pub member: u32,
    /// Until the first other member knew, and which it was.
    pub first: Option<(SimDuration, u32)>,
    /// Until half of the others knew.
    pub half: Option<SimDuration>,
    /// Until all others knew; `None` where some never did.
    pub all: Option<SimDuration>,
    /// Until the last of those who ever knew; who took the member for failed already before is not among them.
    pub last: Option<SimDuration>,
    /// How many others knew at last.
    pub informed: u32,
}

/// What detection came to, and what it cost while all were healthy.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Each member that failed, in the order given.
    pub failures: Vec<Known>,
    /// How many others there are.
    pub others: u32,
    /// How long all were healthy.
    pub healthy: SimDuration,
    /// How often a member was taken for failed by another's own watch in that time.
    pub false_alarms: u64,
    /// What members sent in that time.
    pub messages: u64,
    /// The same on the wire.
    pub bytes: Bytes,
    /// What the busiest member sent and received of it.
    pub most_messages: u64,
    /// Events executed.
    pub events: u64,
    /// What tells one run from another.
    pub digest: Digest,
}

impl Outcome {
    /// From the failure until something is done about it: until all who failed are known to those who have to know, as far as
    /// they ever are; `None` where one of them is known to nobody.
    pub fn delay(&self, known_by: KnownBy) -> Option<SimDuration> {
        let delay = |known: &Known| match known_by {
            KnownBy::First => known.first.map(|(delay, _)| delay),
            KnownBy::All => known.last,
        };
        let delays: Option<Vec<SimDuration>> = self.failures.iter().map(delay).collect();
        delays?.into_iter().max()
    }
}

/// Why detection cannot be simulated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DetectionError {
    /// A value that it cannot have.
    #[error("detection.{0}")]
    Refused(Box<Refusal>),
    /// The event kernel gave up.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl Detection {
    /// Simulates how a failure becomes known over a fabric that nothing has used yet; `seed` and `entity` draw what is left to
    /// chance.
    ///
    /// # Errors
    /// When a value cannot be, or the run would take too long.
    pub fn detect<F: Fabric>(
        &self,
        group: &Group,
        fabric: F,
        seed: u64,
        entity: u64,
    ) -> Result<Outcome, DetectionError> {
        self.check(group.endpoints.len())?;
        watch::watch(self, group, fabric, seed, entity)
    }

    /// How long the members run before anything is counted: until silences can be too long, or suspicions over.
    fn settling(&self) -> SimDuration {
        match self.protocol {
            Protocol::Swim { suspicion, .. } => self.period + self.period + suspicion,
            _ => self.period + self.timeout,
        }
    }

    /// How long the run goes on after a failure, known or not.
    fn patience(&self) -> SimDuration {
        let periods = self.period.picoseconds().saturating_mul(1000);
        SimDuration::from_picoseconds(periods.saturating_add(self.settling().picoseconds()).min(MOST_PATIENCE))
    }

    /// How many messages a run among so many members is expected to exchange, with a hundredth for each entry.
    ///
    /// # Errors
    /// When a value cannot be, or these are too many.
    pub fn check(&self, members: usize) -> Result<f64, DetectionError> {
        let (period, timeout, zero) = (self.period, self.timeout, SimDuration::ZERO);
        let is_swim = matches!(self.protocol, Protocol::Swim { .. });
        let is_none = |other: &Background| {
            !other.bytes_per_second.is_finite() || other.bytes_per_second <= 0.0 || other.message.is_zero()
        };
        let messages = self.messages(members as f64);
        let too_many = format!(
            "{members} devices exchange some {messages:.0e} messages until a failure is known, and 1e8 are simulated at most"
        );
        let (field, value, rule, remedy) = if period == zero {
            ("period", period.to_string(), "a period is above zero", "such as 1 s")
        } else if !(0.0..1.0).contains(&self.loss) {
            ("loss", self.loss.to_string(), "a share of messages from 0 to below 1", "such as 0.01")
        } else if is_swim && (timeout >= period || timeout == zero) {
            let rule = "a probe waits for its answer within the period in which it was sent";
            ("timeout", timeout.to_string(), rule, "write less than detection.period, above zero")
        } else if !is_swim && timeout <= period {
            let rule = "each device is silent for a period between two heartbeats";
            ("timeout", timeout.to_string(), rule, "write more than detection.period")
        } else if let Some(other) = self.background.as_ref().filter(|other| is_none(other)) {
            let (value, rule) = (other.bytes_per_second.to_string(), "other traffic has a rate and a size above zero");
            ("background", value, rule, "leave it out where there is none")
        } else if let Protocol::Gossip { fanout: 0 } = self.protocol {
            ("fanout", "0".to_owned(), "gossip goes to somebody", "write 1 or more")
        } else if let Protocol::Monitor { monitors: 0 } = self.protocol {
            ("monitors", "0".to_owned(), "somebody listens to heartbeats", "write 1 or more")
        } else if messages > MOST_MESSAGES {
            let remedy = "shorten it, lengthen the period, lower background, or choose swim";
            ("warm_up", self.warm_up.to_string(), too_many.as_str(), remedy)
        } else {
            return Ok(messages);
        };
        let (key, rule, remedy) = (field.to_owned(), rule.to_owned(), remedy.to_owned());
        let refusal = Refusal { key, name: Some(value), rule, remedy, ..Refusal::default() };
        Err(DetectionError::Refused(Box::new(refusal)))
    }

    /// Messages until a failure is known of which none is lost, roughly, with a hundredth for each entry.
    fn messages(&self, members: f64) -> f64 {
        let time = self.settling() + self.warm_up + self.settling();
        let periods = time.seconds() / self.period.seconds();
        let a_period = match &self.protocol {
            Protocol::Monitor { monitors } => f64::from(*monitors).min(members),
            Protocol::AllToAll {} => members,
            Protocol::Gossip { fanout } => f64::from(*fanout).min(members) * (1.0 + members / 100.0),
            Protocol::Swim { .. } => 2.0,
        };
        let other = self.background.as_ref().map_or(0.0, |background| {
            background.bytes_per_second * self.period.seconds() / background.message.get() as f64
        });
        members * periods * (a_period + other)
    }
}
