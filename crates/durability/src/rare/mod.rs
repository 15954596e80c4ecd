//! Estimates of rare losses from any [`Model`]: plain, by importance sampling, by splitting.
//!
//! **Plain** runs a mission as it comes and looks whether data was lost.
//!
//! The other two run the same plain mission and, beside it, *futures* of what may go wrong. The mission is *calm* while damage is
//! below a step that is chosen (or while nothing at all is under way), and an *excursion* leads from there to calm again or to loss.
//! So data is lost in a calm moment's change, or in just one first excursion:
//!
//! P(loss) = E[sum over excursions i of 1{nothing lost before i} 1{data is lost in i}],
//!
//! and each 1{data is lost in i} may be replaced by an estimate from another future of the same past that is right on average.
//! Where excursions begin is chosen freely as well: a kind of failure of rate r(t) begins them, in calm time, with the intensity
//! r(t), so futures that are begun at times of another intensity v, each with the weight r(t)/v, count the same on average
//! (Campbell's formula). Futures begin evenly over the mission, with a share for every kind: where a mission sees no failure in a
//! million years this forces the first one into it, and where it sees thousands a few of them are looked at. The sum of a mission
//! is one draw, independent of other missions', so the variance is that of the draws. Nothing here needs a mission to begin anew
//! after an excursion, or rates to be constant.
//!
//! A future is estimated by *importance sampling* (`push`): critical failures are made more likely, and the likelihood ratio is
//! its weight; or by *splitting* (`splitting`). Sources: Goyal, Shahabuddin, Heidelberger, Nicola and Glynn, "A unified framework
//! for simulating Markovian models of highly dependable systems" (IEEE Trans. Computers 41, 1992), which forces and biases;
//! Shahabuddin, "Importance sampling for the simulation of highly reliable Markovian systems" (Management Science 40, 1994), which
//! balances; Garvels, "The splitting method in rare event simulation" (2000).

mod chain;
mod excursions;
mod push;
mod splitting;
mod steps;
mod tally;

use rayon::prelude::*;
use resilver_kernel::{Purpose, Stream};

pub use chain::{Chain, ChainInput, FailureRate, RepairRate};

use crate::{BatchSums, DurabilityError, Method, Model};
use steps::Steps;
use tally::Tally;

/// Draws of missions as they come, and of the futures beside them.
const MISSIONS: Purpose = Purpose::named("mission");
const FUTURES: Purpose = Purpose::named("future");

/// At most so many tasks a batch: enough that two cores end together, and few enough that their sums take no room.
const TASKS: u64 = 256;

/// Told how many trajectories have ended since it was last told; answers whether to go on. Asked every few thousand events.
pub type KeepGoing<'a> = dyn Fn(u64) -> bool + Sync + 'a;

/// Runs a batch of trajectories, each a whole mission of `mission` seconds, on all threads.
///
/// The sums depend on the model, the method, `seed`, the number of the batch and how many trajectories it has: not on threads.
/// None where `keep_going` said no.
pub fn run_batch<M: Model>(
    model: &M,
    method: Method,
    mission: f64,
    seed: u64,
    batch: u64,
    trajectories: u64,
    keep_going: &KeepGoing,
) -> Result<Option<BatchSums>, DurabilityError> {
    check(method, mission, batch, trajectories)?;
    let each = trajectories.div_ceil(TASKS).max(1);
    let tasks = trajectories.div_ceil(each);
    let sums: Option<Vec<BatchSums>> = (0..tasks)
        .into_par_iter()
        .map(|task| {
            let mut walker = Walker::new(model.clone(), method, mission, keep_going);
            for index in task * each..((task + 1) * each).min(trajectories) {
                let entity = (batch << 32) | index;
                walker.trajectory(Stream::new(seed, entity, MISSIONS), Stream::new(seed, entity, FUTURES))?;
            }
            Some(walker.tally.into_sums())
        })
        .collect();
    Ok(sums.map(|tasks| {
        let mut whole = BatchSums::default();
        tasks.iter().for_each(|task| whole.add(task));
        whole
    }))
}

fn check(method: Method, mission: f64, batch: u64, trajectories: u64) -> Result<(), DurabilityError> {
    if !(mission > 0.0 && mission.is_finite()) {
        let remedy = "say how long data has to last";
        return Err(DurabilityError::invalid("mission_seconds", mission, "a mission takes some time", remedy));
    }
    match method {
        Method::Importance { push, .. } if !(push > 0.0 && push < 1.0) => {
            let rule = "a probability between 0 and 1, without either";
            return Err(DurabilityError::invalid("method.push", push, rule, "0.5 is good for most"));
        }
        Method::Splitting { copies: 0, .. } => {
            let rule = "a trajectory goes on in one copy or more";
            return Err(DurabilityError::invalid("method.copies", 0, rule, "say about 1 / (the chance of a step)"));
        }
        _ => {}
    }
    for (field, value) in [("batch", batch), ("trajectories", trajectories)] {
        if value >> 32 != 0 {
            return Err(DurabilityError::invalid(field, value, "is below 2^32", "make more batches of fewer"));
        }
    }
    if trajectories == 0 {
        return Err(DurabilityError::invalid("trajectories", 0, "one at least", "ask for more"));
    }
    Ok(())
}

/// One that walks missions, one after the other, and keeps what they came to.
struct Walker<'a, M> {
    /// The mission as it comes.
    main: M,
    /// A future beside it.
    side: M,
    steps: Steps,
    futures: Steps,
    method: Method,
    /// From which step of damage on futures stand for the mission.
    from: u32,
    mission: f64,
    keep_going: &'a KeepGoing<'a>,
    tally: Tally,
}

impl<'a, M: Model> Walker<'a, M> {
    fn new(model: M, method: Method, mission: f64, keep_going: &'a KeepGoing<'a>) -> Self {
        Walker {
            side: model.clone(),
            steps: Steps::new(&model),
            futures: Steps::new(&model),
            main: model,
            method,
            from: match method {
                Method::Plain => 0,
                Method::Importance { from, .. } | Method::Splitting { from, .. } => from,
            },
            mission,
            keep_going,
            tally: Tally::new(mission),
        }
    }

    /// One mission; None where it was stopped.
    fn trajectory(&mut self, mut draws: Stream, mut futures: Stream) -> Option<()> {
        self.main.reset(&mut draws);
        match self.method {
            Method::Plain => self.plain(&mut draws)?,
            _ => self.with_futures(&mut draws, &mut futures)?,
        }
        self.tally.end_trajectory();
        (self.keep_going)(1).then_some(())
    }

    /// The future in `side`, of a weight, until calm; `alive` is how likely nothing was lost before.
    fn future(&mut self, weight: f64, alive: f64, draws: &mut Stream) -> Option<()> {
        match self.method {
            Method::Plain => Some(()),
            Method::Importance { push, .. } => self.importance(push, weight, alive, draws),
            Method::Splitting { copies, .. } => self.splitting(copies, weight, alive, draws),
        }
    }

    /// Asks now and then whether to go on; None where not.
    fn go_on(&self) -> Option<()> {
        (!self.tally.events().is_multiple_of(4096) || (self.keep_going)(0)).then_some(())
    }
}
