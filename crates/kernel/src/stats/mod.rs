//! Statistics that are gathered as a run goes and keep no history.

mod moments;
mod quantile;
mod time_mean;
mod timeline;

pub use moments::Moments;
pub use quantile::LogHistogram;
pub use time_mean::TimeMean;
pub use timeline::{Interval, Timeline};
