//! The rows of a trace. Where something has no object, or is not over, there is -1, or a number that is none.

use super::rows::CLASSES;
use super::{Column, Table};
use crate::simulation::Simulation;
use crate::trace::{BUFFER_STATES, EVENT_KINDS, HELD, MESSAGE_KINDS, MessageRow, TraceRows};

/// Object, piece and buffer of what is recovery's.
type Part = Option<(u64, u32, u32)>;

/// The tables of a finished run that was traced; none of another.
pub fn trace_tables(simulation: &Simulation) -> Vec<Table> {
    let rows = simulation.report().and_then(|report| report.conclusion.trace.as_deref());
    rows.map_or_else(Vec::new, |rows| vec![messages(rows), disks(rows), buffers(rows), waits(rows), engine(rows)])
}

impl Table {
    fn add_words(&mut self, name: &str, places: impl Iterator<Item = u8>, words: &'static [&'static str]) {
        self.columns.push((name.to_owned(), Column::Words(places.map(i32::from).collect(), words)));
    }

    fn add_parts(&mut self, parts: impl Iterator<Item = Part> + Clone) {
        let count = |value: fn((u64, u32, u32)) -> u64| move |part: Part| part.map_or(-1, |part| value(part) as i64);
        for (name, value) in [
            ("object", count(|part| part.0)),
            ("piece", count(|part| u64::from(part.1))),
            ("buffer", count(|part| u64::from(part.2))),
        ] {
            self.columns.push((name.to_owned(), Column::Counts(parts.clone().map(value).collect())));
        }
    }
}

fn messages(rows: &TraceRows) -> Table {
    let (mut table, rows) = (Table::new("messages"), &rows.messages);
    table.add("handed_seconds", rows.iter().map(|row| row.handed));
    table.add("left_seconds", rows.iter().map(|row| row.left));
    table.add("ended_seconds", rows.iter().map(|row| row.ended));
    table.add_words("state", rows.iter().map(|row| row.fate as u8), &["under way", "delivered", "lost"]);
    table.add("source", rows.iter().map(|row| row.from.get()));
    table.add("destination", rows.iter().map(|row| row.to.get()));
    table.add("bytes", rows.iter().map(|row| row.bytes));
    table.add_words("class", rows.iter().map(|row| row.lane), &CLASSES);
    table.add_words("kind", rows.iter().map(|row| row.about.kind), &MESSAGE_KINDS);
    table.add_parts(rows.iter().map(|row| row.about.part));
    let device = |device: fn((u32, u32)) -> u32| {
        move |row: &MessageRow| row.about.devices.map_or(-1, |devices| device(devices) as i32)
    };
    for (name, value) in [("source_device", device(|(from, _)| from)), ("destination_device", device(|(_, to)| to))] {
        table.columns.push((name.to_owned(), Column::Numbers(rows.iter().map(value).collect())));
    }
    table
}

fn disks(rows: &TraceRows) -> Table {
    let (mut table, rows) = (Table::new("disks"), &rows.disks);
    table.add("queued_seconds", rows.iter().map(|row| row.queued));
    table.add("begun_seconds", rows.iter().map(|row| row.begun));
    table.add("ended_seconds", rows.iter().map(|row| row.ended));
    table.add_words("state", rows.iter().map(|row| row.fate as u8), &["under way", "served", "not served"]);
    table.add("device", rows.iter().map(|row| row.device));
    table.add_words("direction", rows.iter().map(|row| row.io.direction as u8), &["read", "write"]);
    table.add("bytes", rows.iter().map(|row| row.io.bytes));
    table.add_words("class", rows.iter().map(|row| row.io.lane), &CLASSES);
    // What clients read and write counts from the highest number down, and is no object that is stored.
    let object = |object: u64| if object >> 63 == 1 { -1 } else { object as i64 };
    table
        .columns
        .push(("object".to_owned(), Column::Counts(rows.iter().map(|row| object(row.io.object.get())).collect())));
    table
}

fn buffers(rows: &TraceRows) -> Table {
    let (mut table, rows) = (Table::new("buffers"), &rows.buffers);
    table.add("asked_seconds", rows.iter().map(|row| row.asked));
    table.add("gathered_seconds", rows.iter().map(|row| row.whole));
    table.add("decoded_seconds", rows.iter().map(|row| row.decoded));
    table.add("ended_seconds", rows.iter().map(|row| row.ended));
    table.add_words("state", rows.iter().map(|row| row.state), &BUFFER_STATES);
    table.add("device", rows.iter().map(|row| row.device));
    table.add("bytes", rows.iter().map(|row| row.bytes));
    table.add("gathered_bytes", rows.iter().map(|row| row.held));
    table.add_parts(rows.iter().map(|row| Some((row.object, u32::from(row.piece), row.number))));
    table
}

fn waits(rows: &TraceRows) -> Table {
    let (mut table, rows) = (Table::new("waits"), &rows.waits);
    table.add("begun_seconds", rows.iter().map(|row| row.begun));
    table.add("ended_seconds", rows.iter().map(|row| row.ended));
    table.add_words("state", rows.iter().map(|row| row.fate as u8), &["under way", "over", "given up"]);
    table.add("device", rows.iter().map(|row| row.device));
    table.add_words("waits_for", rows.iter().map(|row| row.held as u8), &HELD);
    table.add("bytes", rows.iter().map(|row| row.bytes));
    table.add_parts(rows.iter().map(|row| row.part));
    table
}

fn engine(rows: &TraceRows) -> Table {
    let (mut table, engine) = (Table::new("engine"), &rows.engine);
    table.add("start_seconds", engine.intervals().map(|(start, _)| start));
    table.add("duration_seconds", engine.intervals().map(|(start, end)| end.since(start)));
    for (kind, name) in EVENT_KINDS.iter().enumerate() {
        table.add(&format!("{name}_events"), engine.executed.iter().map(|counts| counts[kind]));
    }
    table.add("pending_events", engine.pending.iter().copied());
    table
}
