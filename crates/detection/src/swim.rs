//! SWIM: each member probes another at each period, and what it finds spreads on probes and their answers.

use std::collections::BTreeMap;

use resilver_units::SimDuration;

use crate::turn::{Content, Standing, Timer, Turn, Update, draw_others};

/// How often a piece of news rides on a member's messages, times the natural logarithm of the number of members and one.
const REPEATS: f64 = 3.0;
/// Marks timers of suspicion; those below are of probes.
const SUSPECTED: u32 = 1 << 31;

/// Members that probe each other.
pub struct Swim {
    fanout: u32,
    suspicion: SimDuration,
    repeats: u32,
    members: Vec<Member>,
}

#[derive(Clone, Default)]
struct Member {
    incarnation: u32,
    /// The latest news of others, where there were any.
    latest: BTreeMap<u32, (u32, Standing)>,
    /// News that ride on its messages, each so often.
    news: Vec<(Update, u32)>,
    /// Probes so far, the present one's target, and whether that answered.
    number: u32,
    target: Option<u32>,
    is_answered: bool,
}

impl Swim {
    pub fn new(fanout: u32, suspicion: SimDuration, members: usize) -> Self {
        let repeats = (REPEATS * resilver_kernel::ln(members as f64 + 1.0)).ceil() as u32;
        Swim { fanout, suspicion, repeats, members: vec![Member::default(); members] }
    }

    /// A period ends, and with it the last probe; the next begins.
    pub fn probe(&mut self, member: u32, turn: &mut Turn<'_>) {
        let own = &mut self.members[member as usize];
        if let Some(target) = own.target.take().filter(|_| !own.is_answered) {
            self.miss(member, target, turn);
        }
        // Who takes all others for failed may be wrong.
        let (members, anybody) = (self.members.len(), turn.others(member, None, 1));
        let targets =
            if anybody.is_empty() { draw_others(turn.draws, members, member, 1, 0, |_| true) } else { anybody };
        let Some(&target) = targets.first() else { return };
        let own = &mut self.members[member as usize];
        own.number = (own.number + 1) % SUSPECTED;
        (own.target, own.is_answered) = (Some(target), false);
        let number = own.number;
        let news = self.news(member);
        turn.send(member, target, Content::Probe { asker: member, number, news });
        turn.wait(turn.config.timeout, Timer { member, about: target, number });
    }

    /// A probe was not answered, neither by others' help.
    fn miss(&mut self, member: u32, target: u32, turn: &mut Turn<'_>) {
        let latest = self.members[member as usize].latest.get(&target);
        let (incarnation, standing) = latest.copied().unwrap_or((0, Standing::Works));
        if standing == Standing::Works {
            let next = if self.suspicion == SimDuration::ZERO { Standing::Failed } else { Standing::Suspected };
            self.hear(member, Update { member: target, incarnation, standing: next }, true, turn);
        }
    }

    pub fn receive(&mut self, from: u32, member: u32, content: Content, turn: &mut Turn<'_>) {
        match content {
            Content::Probe { asker, number, news } => {
                self.hear_all(member, news, turn);
                let mut news = self.news(member);
                // Who is taken for failed and is not must hear of it to object, long after that was news.
                if let Some(&(incarnation, standing)) = self.members[member as usize].latest.get(&from)
                    && standing != Standing::Works
                    && !news.iter().any(|update| update.member == from)
                {
                    news.push(Update { member: from, incarnation, standing });
                }
                turn.send(member, from, Content::Answer { asker, number, news });
            }
            Content::Answer { asker, number, news } => {
                self.hear_all(member, news, turn);
                if asker == member {
                    let own = &mut self.members[member as usize];
                    own.is_answered |= own.number == number;
                } else {
                    let news = self.news(member);
                    turn.send(member, asker, Content::Answer { asker, number, news });
                }
            }
            Content::Ask { member: target, number, news } => {
                self.hear_all(member, news, turn);
                let news = self.news(member);
                turn.send(member, target, Content::Probe { asker: from, number, news });
            }
            _ => {}
        }
    }

    pub fn expire(&mut self, timer: Timer, turn: &mut Turn<'_>) {
        let Timer { member, about, number } = timer;
        if number & SUSPECTED != 0 {
            let suspected = (number ^ SUSPECTED, Standing::Suspected);
            if self.members[member as usize].latest.get(&about) == Some(&suspected) {
                let update = Update { member: about, incarnation: suspected.0, standing: Standing::Failed };
                self.hear(member, update, true, turn);
            }
            return;
        }
        let own = &self.members[member as usize];
        if own.number == number && !own.is_answered {
            for other in turn.others(member, Some(about), self.fanout) {
                let news = self.news(member);
                turn.send(member, other, Content::Ask { member: about, number, news });
            }
        }
    }

    fn hear_all(&mut self, member: u32, news: Vec<Update>, turn: &mut Turn<'_>) {
        for update in news {
            self.hear(member, update, false, turn);
        }
    }

    /// A member hears news, or finds them itself: what is newer of the same member goes on.
    fn hear(&mut self, member: u32, update: Update, is_own: bool, turn: &mut Turn<'_>) {
        let Update { member: about, incarnation, standing } = update;
        if about == member {
            let own = &mut self.members[member as usize];
            if standing != Standing::Works && incarnation >= own.incarnation {
                own.incarnation = incarnation + 1;
                let update = Update { member, incarnation: own.incarnation, standing: Standing::Works };
                self.spread(member, update);
            }
            return;
        }
        let latest = self.members[member as usize].latest.entry(about).or_insert((0, Standing::Works));
        if (incarnation, standing) <= *latest {
            return;
        }
        *latest = (incarnation, standing);
        match standing {
            Standing::Works => turn.knowledge.retract(member, about),
            Standing::Suspected => {
                turn.knowledge.retract(member, about);
                turn.wait(self.suspicion, Timer { member, about, number: SUSPECTED | incarnation });
            }
            // Of several who wait out one suspicion, the first is who finds the failure.
            Standing::Failed if is_own && !turn.knowledge.is_believed(about) => {
                turn.knowledge.declare(member, about, turn.now);
            }
            Standing::Failed => {
                turn.knowledge.learn(member, about, turn.now);
            }
        }
        self.spread(member, update);
    }

    /// News ride on a member's next messages, in place of what it had of the same member.
    fn spread(&mut self, member: u32, update: Update) {
        let news = &mut self.members[member as usize].news;
        news.retain(|(other, _)| other.member != update.member);
        news.push((update, self.repeats));
    }

    /// The news for a member's next message.
    fn news(&mut self, member: u32) -> Vec<Update> {
        let news = &mut self.members[member as usize].news;
        let riding = news.iter().map(|&(update, _)| update).collect();
        news.iter_mut().for_each(|(_, left)| *left -= 1);
        news.retain(|&(_, left)| left > 0);
        riding
    }
}
