//! Heartbeats: each member says at each period that it works, to monitors or to all.

use crate::silence::Silence;
use crate::turn::{Content, Timer, Turn};

/// Members that send heartbeats to watchers.
pub struct Heartbeats {
    /// Who watches, by member.
    watchers: Vec<u32>,
    /// The place of each member among the watchers.
    place: Vec<Option<usize>>,
    silence: Silence,
    /// The maps of monitors; none where each watches for itself.
    maps: Option<Maps>,
}

/// Which version of its map each monitor has, and of which each member heard last.
struct Maps {
    version: Vec<u32>,
    heard: Vec<Vec<u32>>,
}

/// Which members are monitors: so many, evenly among all.
pub fn monitors_of(monitors: u32, members: usize) -> Vec<u32> {
    (0..u64::from(monitors)).map(|number| (number * members as u64 / u64::from(monitors)) as u32).collect()
}

impl Heartbeats {
    pub fn to_all(members: usize) -> Self {
        Heartbeats::to((0..members as u32).collect(), members, None)
    }

    pub fn to_monitors(monitors: u32, members: usize) -> Self {
        let watchers = monitors_of(monitors, members);
        let maps = Maps { version: vec![0; watchers.len()], heard: vec![vec![0; members]; watchers.len()] };
        Heartbeats::to(watchers, members, Some(maps))
    }

    fn to(watchers: Vec<u32>, members: usize, maps: Option<Maps>) -> Self {
        let mut place = vec![None; members];
        watchers.iter().enumerate().for_each(|(number, &watcher)| place[watcher as usize] = Some(number));
        Heartbeats { silence: Silence::new(watchers.len(), members), watchers, place, maps }
    }

    pub fn start(&mut self, turn: &mut Turn<'_>) {
        for (number, &watcher) in self.watchers.iter().enumerate() {
            self.silence.start(number as u32, watcher, turn);
        }
    }

    pub fn beat(&mut self, member: u32, turn: &mut Turn<'_>) {
        for (number, &watcher) in self.watchers.iter().enumerate() {
            if watcher != member {
                let version = self.maps.as_ref().map_or(0, |maps| maps.heard[number][member as usize]);
                turn.send(member, watcher, Content::Heartbeat { version });
            }
        }
    }

    pub fn receive(&mut self, from: u32, member: u32, content: Content, turn: &mut Turn<'_>) {
        match (content, self.place[member as usize]) {
            (Content::Heartbeat { version }, Some(number)) => {
                let timer = Timer { member, about: from, number: number as u32 };
                self.silence.hear(timer, turn);
                if turn.knowledge.takes_for_failed(member, from) {
                    turn.knowledge.retract(member, from);
                    self.tell(number, turn);
                } else if self.maps.as_ref().is_some_and(|maps| maps.version[number] > version) {
                    self.answer(number, from, turn);
                }
            }
            // A monitor goes by what it sees itself.
            (Content::Map { version, failed }, None) => {
                let Some(number) = self.place[from as usize] else { return };
                let Some(maps) = &mut self.maps else { return };
                let heard = &mut maps.heard[number][member as usize];
                if version < *heard {
                    return;
                }
                *heard = version;
                for other in turn.knowledge.failed_for(member) {
                    if !failed.contains(&other) {
                        turn.knowledge.retract(member, other);
                    }
                }
                for other in failed {
                    turn.knowledge.learn(member, other, turn.now);
                }
            }
            _ => {}
        }
    }

    pub fn expire(&mut self, timer: Timer, turn: &mut Turn<'_>) {
        if self.silence.is_over(timer, turn) {
            turn.knowledge.declare(timer.member, timer.about, turn.now);
            self.tell(timer.number as usize, turn);
        }
    }

    /// A monitor's map has changed: it goes to all who send it heartbeats.
    fn tell(&mut self, number: usize, turn: &mut Turn<'_>) {
        let Some(maps) = &mut self.maps else { return };
        maps.version[number] += 1;
        let watcher = self.watchers[number];
        for member in 0..self.place.len() as u32 {
            if self.place[member as usize].is_none() && !turn.knowledge.takes_for_failed(watcher, member) {
                self.answer(number, member, turn);
            }
        }
    }

    /// A monitor sends its map.
    fn answer(&self, number: usize, member: u32, turn: &mut Turn<'_>) {
        let Some(maps) = &self.maps else { return };
        if self.place[member as usize].is_none() {
            let (watcher, version) = (self.watchers[number], maps.version[number]);
            let failed = turn.knowledge.failed_for(watcher);
            turn.send(watcher, member, Content::Map { version, failed });
        }
    }
}
