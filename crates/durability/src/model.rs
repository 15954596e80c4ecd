//! What a system that fails and heals is to those who estimate how likely it loses data.

use resilver_kernel::Stream;

/// Draws of one trajectory.
pub type Draws = Stream;

/// How likely random failures of one kind are from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hazard {
    /// An upper bound of their rate (a second) until the next change; the rate itself where it is constant.
    pub rate: f64,
    /// Whether such a failure brings what lacks most closer to loss. Only these are made more likely.
    pub critical: bool,
}

/// What was lost at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// Groups that lost data.
    pub groups: u64,
    /// User bytes that they lost.
    pub bytes: f64,
    /// By what, by number of the failure in the input: shares that add up to 1. Latent errors come after all failures.
    pub causes: Vec<f64>,
}

/// A system whose parts fail at random and come back.
///
/// An estimator drives it: it draws *when* random failures come, so that it may make them more likely and weigh them; the model
/// draws all else, and what is certain to happen (a repair ends, a part returns, planned work, a failure of a trace) is in
/// `next_change`. Whatever is drawn comes from `draws` alone, so a clone with other draws is another future of the same past.
pub trait Model: Clone + Send + Sync {
    /// Begins anew, whole, at time 0.
    fn reset(&mut self, draws: &mut Draws);
    /// The time, in seconds.
    fn now(&self) -> f64;
    /// How many kinds of random failures there are. Kind k is as a rule one cause, critical or not.
    fn kinds(&self) -> usize;
    /// How likely each kind is from now until the next change or failure; `hazards` has `kinds()` entries.
    fn hazards(&self, hazards: &mut [Hazard]);
    /// The integral of the rate of a kind from now until `to`, which is at most the next change: rate x time where it is constant.
    fn expected_failures(&self, kind: usize, to: f64) -> f64;
    /// Until when the bounds of `hazards` hold at most, beside the next change: infinity where rates are constant.
    fn bounded_until(&self) -> f64;
    /// When the next thing that is certain happens; infinity if never.
    fn next_change(&self) -> f64;
    /// Moves the time on, to at most the next change: nothing happens.
    fn advance(&mut self, to: f64);
    /// Lets what is certain now happen. Returns the probability that data was lost to latent errors by it; the model goes on as if
    /// it was not, and whoever drives it weighs.
    fn change(&mut self, draws: &mut Draws) -> f64;
    /// Has a failure of a kind happen now, of a part that it draws. Where the rate now is below its bound, it may be that nothing
    /// failed (thinning): then it returns false.
    fn fail(&mut self, kind: usize, draws: &mut Draws) -> bool;
    /// How close to loss, from 0 (nothing lacks) to 1 (lost); failures raise it in at most `steps()` steps.
    fn damage(&self) -> f64;
    /// In how many steps damage rises to 1.
    fn steps(&self) -> usize;
    /// Whether all is whole and nothing is under way: a busy period is over.
    fn is_idle(&self) -> bool;
    /// How long what lacks most will stay so, if nothing fails: the time in which critical failures have to come, in seconds.
    fn window(&self) -> f64;
    /// Takes what was lost by the last failure or change, if anything; lost groups are empty and whole from then on.
    fn take_loss(&mut self) -> Option<Loss>;
    /// What a latent error of the last change would have lost.
    fn latent_loss(&self) -> Loss;
}
