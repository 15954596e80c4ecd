//! What happens to flows at a time, and the rates after it.

use std::cmp::Reverse;

use resilver_units::{Bytes, SimDuration, SimTime};

use super::super::asking::Series;
use super::{Active, Course, Event, Steady, told};
use crate::SystemError;
use crate::clients::measures::JobBurst;

/// Below which share of what it asks for a flow falls behind: what sums of many flows lose by rounding.
const BEHIND: f64 = 1.0 - 1e-9;

impl Course {
    /// Whatever happens now, and the rates after it.
    pub(super) fn happen(&mut self, steady: &Steady) -> Result<(), SystemError> {
        let mut now = Vec::new();
        while let Some(&Reverse((at, event))) = self.events.peek()
            && at == self.now
        {
            self.events.pop();
            let is_stale = |number: u32, version| self.states[number as usize].version != version;
            if !matches!(event, Event::Done(number, version) if is_stale(number, version)) {
                now.push(event);
            }
        }
        if now.is_empty() {
            return Ok(());
        }
        self.happened += now.len() as u64;
        if self.stretches.may_close(self.now) && now.iter().any(|event| self.is_turn(*event, now.len())) {
            self.close(self.phase);
        }
        for event in now {
            match event {
                Event::Volume(series) => self.ask_for_volume(steady, series)?,
                Event::Done(number, _) => self.done(steady, number)?,
                Event::Stop(number) => self.stop(number)?,
            }
        }
        self.settle()
    }

    /// Whether another stretch begins with an event, one of so many at a time: not where one of several clients is done with a burst.
    fn is_turn(&self, event: Event, at_once: usize) -> bool {
        let Event::Done(number, _) = event else { return true };
        let series = self.states[number as usize].series;
        let front = series.and_then(|series| self.volumes[series as usize].active.front());
        front.is_none_or(|front| front.clients <= at_once)
    }

    /// A volume of a series is asked for, and the next one is on its way.
    fn ask_for_volume(&mut self, steady: &Steady, number: u32) -> Result<(), SystemError> {
        let series = &steady.series[number as usize];
        let asked = series.planned(self.volumes[number as usize].asked);
        self.volumes[number as usize].asked += 1;
        // An application goes on when its volume is done.
        if series.job.is_none() {
            self.volume_at(self.now.picoseconds().saturating_add(series.every.picoseconds()), number);
        }
        self.begin_volume(steady, number, asked)
    }

    /// A volume of a series is to come at a time, unless that is behind the end.
    fn volume_at(&mut self, picoseconds: u64, number: u32) {
        let at = SimTime::from_picoseconds(picoseconds);
        if at < self.end {
            self.at(at, Event::Volume(number));
        }
    }

    /// A volume that was asked for begins: each client has its share of it, behind what it has yet to move.
    fn begin_volume(&mut self, steady: &Steady, number: u32, asked: SimTime) -> Result<(), SystemError> {
        let volumes = &mut self.volumes[number as usize];
        let (clients, bound) = (volumes.clients.len(), vec![0.0; self.layers + 1]);
        let share = volumes.share;
        volumes.active.push_back(Active { asked, began: self.now, clients, bound });
        for place in 0..clients {
            let client = self.volumes[number as usize].clients[place];
            let state = &mut self.states[client as usize];
            if state.number.is_some() {
                state.waiting += 1;
            } else {
                state.left = share;
                self.begin_flow(steady, client)?;
            }
        }
        Ok(())
    }

    /// A requester has moved its volume, or what it was behind with.
    fn done(&mut self, steady: &Steady, number: u32) -> Result<(), SystemError> {
        self.tell(number);
        let state = &mut self.states[number as usize];
        // Times are whole picoseconds: what is left is less than moves in one.
        let rest = std::mem::take(&mut state.left);
        let Some(series) = state.series else {
            state.is_behind = false;
            let (running, is_stopped) = (state.number, state.is_stopped);
            if is_stopped {
                self.end_flow(number);
            } else if let Some(running) = running {
                self.running.set_cap(running, self.cap(number)).map_err(told)?;
            }
            return Ok(());
        };
        let place = self.phase * self.rated.len() + number as usize;
        let counted = if self.now > self.since { rest } else { 0.0 };
        self.moved[place].bytes += counted;
        self.stretches.add(number, rest, counted);
        let volumes = &mut self.volumes[series as usize];
        let active = (state.done - volumes.done) as usize;
        state.done += 1;
        volumes.active[active].clients -= 1;
        if state.waiting > 0 {
            state.waiting -= 1;
            state.left = volumes.share;
            self.foresee(number)?;
        } else {
            self.end_flow(number);
        }
        self.end_volumes(steady, series)
    }

    /// Ends the volumes of a series that no client has anything left of.
    fn end_volumes(&mut self, steady: &Steady, number: u32) -> Result<(), SystemError> {
        let volumes = &mut self.volumes[number as usize];
        if volumes.active.front().is_none_or(|front| front.clients > 0) {
            return Ok(());
        }
        let Some(ended) = volumes.active.pop_front() else { return Ok(()) };
        volumes.done += 1;
        if self.now >= self.since {
            volumes.counted += 1;
            volumes.seconds += self.now.since(ended.began).seconds();
        }
        let series = &steady.series[number as usize];
        self.tell_of_burst(series, number, &ended, (Some(self.now), series.volume));
        if let Some((_, length)) = series.job {
            // It computes for what its period has left beside a burst.
            let computes = series.every.picoseconds().saturating_sub(length.picoseconds());
            let next = self.now.picoseconds().saturating_add(computes);
            self.volume_at(next.max(ended.began.picoseconds().saturating_add(series.every.picoseconds())), number);
        }
        Ok(())
    }

    /// Tells of a burst of a job, which has moved so many bytes.
    fn tell_of_burst(&mut self, series: &Series, number: u32, of: &Active, (ended, bytes): (Option<SimTime>, f64)) {
        let Some((job, length)) = series.job else { return };
        let most = (0..=self.layers).max_by(|&one, &other| of.bound[one].total_cmp(&of.bound[other]));
        let layer = most.filter(|&layer| of.bound[layer] > 0.0).map(|layer| self.parts.word_of(layer));
        let rows = &mut self.volumes[number as usize].rows;
        rows.push(JobBurst {
            job,
            burst: rows.len() as u32,
            asked: of.asked,
            began: of.began,
            ended,
            length,
            bytes: Bytes::new(bytes.round() as u64),
            layer,
        });
    }

    /// Tells of the bursts of jobs that have not ended.
    pub(in crate::flows) fn tell_of_rest(&mut self, steady: &Steady) {
        for (number, series) in (0u32..).zip(&steady.series) {
            let volumes = &self.volumes[number as usize];
            let left = volumes.clients.iter().map(|&client| self.states[client as usize].left).sum::<f64>();
            if let Some(active) = self.volumes[number as usize].active.pop_front() {
                self.tell_of_burst(series, number, &active, (None, series.volume - left));
            }
        }
    }

    /// A requester asks for nothing more, but for what it is behind with.
    fn stop(&mut self, number: u32) -> Result<(), SystemError> {
        self.tell(number);
        let state = &mut self.states[number as usize];
        state.is_stopped = true;
        if state.left > 0.0 {
            return self.foresee(number).map(|_| ());
        }
        self.end_flow(number);
        Ok(())
    }

    /// Makes rates fair again, and foresees what they lead to.
    pub(super) fn settle(&mut self) -> Result<(), SystemError> {
        let mut is_again = true;
        while is_again {
            is_again = false;
            let mut changed = std::mem::take(&mut self.changed);
            changed.clear();
            changed.extend_from_slice(self.running.settle().map_err(told)?);
            for &running in &changed {
                let number = self.owner[running as usize];
                let (rate, binding) = (self.running.rate(running), self.running.binding(running));
                let state = self.states[number as usize];
                if state.number != Some(running) || (state.rate, state.binding) == (rate, binding) {
                    continue;
                }
                self.tell(number);
                let state = &mut self.states[number as usize];
                (state.rate, state.binding) = (rate, binding);
                self.digest.fold_pair(rate.to_bits(), self.now.picoseconds());
                if !self.stretches.is_new {
                    self.stretches.enter(number, (self.rated[number as usize].law, binding), rate);
                }
                is_again |= self.foresee(number)?;
            }
            self.changed = changed;
        }
        if std::mem::take(&mut self.stretches.is_new) {
            for number in 0..self.states.len() as u32 {
                let state = self.states[number as usize];
                if state.number.is_some() {
                    self.stretches.enter(number, (self.rated[number as usize].law, state.binding), state.rate);
                }
            }
        }
        Ok(())
    }

    /// Foresees when a requester is done at its rate; returns whether it asks for another rate now, as it has fallen behind.
    fn foresee(&mut self, number: u32) -> Result<bool, SystemError> {
        let asks = self.rated[number as usize].asks;
        let state = &mut self.states[number as usize];
        state.version += 1;
        if state.left.is_infinite() {
            return Ok(false);
        }
        let asked = if state.series.is_some() || state.is_stopped { 0.0 } else { asks };
        let (rate, left, version) = (state.rate, state.left, state.version);
        if state.series.is_none() && !state.is_behind && rate < asked * BEHIND {
            state.is_behind = true;
            if let Some(running) = state.number {
                self.running.set_cap(running, self.cap(number)).map_err(told)?;
            }
            return Ok(true);
        }
        let is_emptied = state.series.is_some() || state.is_behind;
        if is_emptied && rate > asked {
            let picoseconds = (left / (rate - asked) * 1e12).ceil();
            if picoseconds < self.end.since(self.now).picoseconds() as f64 {
                let after = SimDuration::from_picoseconds(picoseconds as u64);
                self.at(self.now + after, Event::Done(number, version));
            }
        }
        Ok(false)
    }

    /// Requests that clients wait for in the end, bursts apart: what they have under way, or what came and is not done.
    pub(in crate::flows) fn outstanding(&self, steady: &Steady) -> f64 {
        let last = steady.phases.len().saturating_sub(1);
        let of_one = |(number, state): (usize, &super::State)| {
            let (trial, rated) = (steady.trial(last, number), &self.rated[number]);
            let under_way = state.rate / rated.size;
            match state.series {
                Some(_) => 0.0,
                None if state.left.is_infinite() => self.taken(number as u32, (under_way, 1.0)),
                None => state.left / rated.size + under_way * trial.alone(),
            }
        };
        self.states.iter().enumerate().map(of_one).sum()
    }

    /// What requesters have been asked for and have not moved, bursts apart.
    pub(in crate::flows) fn backlog(&self) -> Option<f64> {
        let counts = |state: &&super::State| state.series.is_none() && state.left.is_finite();
        let mut behind = self.states.iter().filter(counts).peekable();
        behind.peek()?;
        Some(behind.map(|state| state.left).sum())
    }
}
