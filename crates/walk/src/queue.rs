//! What is still to be done, shared by threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Tasks that threads take, and to which what they do adds more. The last one added is taken first, so that few are pending at a time.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    tasks: Vec<T>,
    busy: usize,
    waiting: usize,
    is_stopped: bool,
}

impl<T> Queue<T> {
    /// A queue of one task.
    pub fn new(first: T) -> Self {
        let state = State { tasks: vec![first], busy: 0, waiting: 0, is_stopped: false };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next task; none once all are done, or the queue is stopped. Its taker must drop what it gets when the task has ended.
    pub fn take(&self) -> Option<(T, Busy<'_, T>)> {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some((task, Busy(self)));
            }
            if state.busy == 0 {
                self.changed.notify_all();
                return None;
            }
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// Add tasks, of which the last will be taken first.
    pub fn extend(&self, tasks: impl IntoIterator<Item = T>) {
        let mut state = self.lock();
        state.tasks.extend(tasks);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Tasks that are not done.
    pub fn pending(&self) -> usize {
        let state = self.lock();
        state.tasks.len() + state.busy
    }

    /// Have every taker end as soon as it asks again.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task under way, which ends when this is dropped: also where its thread unwinds, so that no other waits for it.
pub struct Busy<'a, T>(&'a Queue<T>);

impl<T> Drop for Busy<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.busy -= 1;
        if state.busy == 0 && state.tasks.is_empty() {
            self.0.changed.notify_all();
        }
    }
}
