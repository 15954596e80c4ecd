//! The queue of one shard of an OSD: what comes before all classes, then mClock's tags or weighted priorities.

mod mclock;
mod wpq;

use std::collections::VecDeque;

use resilver_kernel::Stream;

use super::OpClass;
use super::law::{self, Rates};
use crate::settings::{OpQueue, OsdSettings};

/// What a queue answers to whoever would serve its next item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// This one.
    Item(u32),
    /// None before this time: limits hold all back.
    At(f64),
    /// There is none.
    Empty,
}

/// The queue of one shard. Times are seconds; costs are in the unit of the OSD's cost model.
#[derive(Debug)]
pub struct ShardQueue {
    /// What waits before all classes, in order of arrival.
    immediate: VecDeque<u32>,
    order: Order,
}

#[derive(Debug)]
enum Order {
    Mclock(Box<mclock::Tags>),
    Wpq(wpq::Weights),
}

impl ShardQueue {
    /// An empty queue of an OSD of these settings.
    pub fn new(settings: &OsdSettings) -> Self {
        let order = match settings.queue {
            OpQueue::Mclock(_) => Order::Mclock(Box::new(mclock::Tags::new(all_rates(settings)))),
            OpQueue::Wpq { osd_client_op_priority, osd_recovery_op_priority, .. } => {
                Order::Wpq(wpq::Weights::new(osd_client_op_priority, osd_recovery_op_priority))
            }
        };
        ShardQueue { immediate: VecDeque::new(), order }
    }

    /// Gives it other settings; what waits goes on waiting. One that becomes another kind of queue begins anew with what waits.
    pub fn set(&mut self, now: f64, settings: &OsdSettings) {
        let mut fresh = ShardQueue::new(settings);
        match (&mut self.order, &settings.queue) {
            (Order::Mclock(tags), OpQueue::Mclock(_)) => tags.set(all_rates(settings)),
            (order, _) => {
                let waiting = match order {
                    Order::Mclock(tags) => tags.drain(),
                    Order::Wpq(weights) => weights.drain(),
                };
                for (class, token, cost) in waiting {
                    fresh.push(now, class, token, cost);
                }
                self.order = fresh.order;
            }
        }
    }

    /// Takes in an item that comes before all classes.
    pub fn push_immediate(&mut self, token: u32) {
        self.immediate.push_back(token);
    }

    /// Takes in an item of a class.
    pub fn push(&mut self, now: f64, class: OpClass, token: u32, cost: f64) {
        match &mut self.order {
            Order::Mclock(tags) => tags.push(now, class, token, cost),
            Order::Wpq(weights) => weights.push(class, token, cost),
        }
    }

    /// Takes out the item to serve now.
    pub fn pop(&mut self, now: f64, draws: &mut Stream) -> Next {
        if let Some(token) = self.immediate.pop_front() {
            return Next::Item(token);
        }
        match &mut self.order {
            Order::Mclock(tags) => tags.pop(now),
            Order::Wpq(weights) => weights.pop(draws),
        }
    }
}

/// The rates of the three classes; no caller asks under WPQ.
fn all_rates(settings: &OsdSettings) -> [Rates; 3] {
    let none = Rates { reservation: 0.0, weight: 1.0, limit: f64::INFINITY };
    [OpClass::Client, OpClass::Recovery, OpClass::BestEffort].map(|class| law::rates(settings, class).unwrap_or(none))
}

#[cfg(test)]
mod tests;
