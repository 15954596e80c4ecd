//! The plain queue: a binary heap of (time, sequence number). Slow and evidently right.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::EventQueue;

/// A queue that numbers its entries and keeps them in a binary heap.
pub struct PlainQueue<E> {
    heap: BinaryHeap<Reverse<Numbered<E>>>,
    pushed: u64,
}

/// An entry with the number of its push, by which equal times are told apart.
struct Numbered<E> {
    time: u64,
    sequence: u64,
    event: E,
}

impl<E> Ord for Numbered<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.sequence).cmp(&(other.time, other.sequence))
    }
}

impl<E> PartialOrd for Numbered<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Numbered<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Numbered<E> {}

impl<E: Copy> EventQueue<E> for PlainQueue<E> {
    fn with_capacity(pending: usize) -> Self {
        PlainQueue { heap: BinaryHeap::with_capacity(pending), pushed: 0 }
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    fn earliest(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.0.time)
    }

    fn push(&mut self, time: u64, event: E) {
        self.heap.push(Reverse(Numbered { time, sequence: self.pushed, event }));
        self.pushed += 1;
    }

    fn pop(&mut self, until: u64) -> Option<(u64, E)> {
        if self.heap.peek()?.0.time > until {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.time, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_come_out_in_the_order_of_pushing() {
        let mut queue = PlainQueue::with_capacity(0);
        for (time, event) in [(7, 'a'), (3, 'b'), (7, 'c'), (3, 'd')] {
            queue.push(time, event);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(u64::MAX)).collect();
        assert_eq!(order, [(3, 'b'), (3, 'd'), (7, 'a'), (7, 'c')]);
    }

    #[test]
    fn nothing_due_later_than_asked_comes_out() {
        let mut queue = PlainQueue::with_capacity(0);
        queue.push(5, ());
        assert_eq!(queue.pop(4), None);
        assert_eq!(queue.pop(5), Some((5, ())));
    }
}
