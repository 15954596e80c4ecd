//! The service-time table of a volume.
//!
//! Source: the disk model of Carns et al., "Impact of Data Placement on Resilience in Large-Scale Object Storage
//! Systems" (2016), section III-B, after Ruemmler and Wilkes (1994): service time = overhead + size / rate + seek, with
//! overhead and rate by direction and the seek looked up by direction and request size.

use resilver_units::{Bytes, BytesPerSecond, SimDuration, SizeLadder, TimePerByte};
use serde::Deserialize;
use thiserror::Error;

/// Whether a request reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
}

/// One row of the table: the seeks that requests of at least this size pay.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct DiskTableRow {
    /// Smallest request the row serves.
    pub request: Bytes,
    /// Seek of a read.
    pub read_seek: SimDuration,
    /// Seek of a write.
    pub write_seek: SimDuration,
}

/// What does not depend on the request's size, for one direction.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct DirectionFigures {
    /// Sequential rate.
    pub rate: BytesPerSecond,
    /// Overhead of every request.
    pub overhead: SimDuration,
}

/// A table that cannot serve requests.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiskTableError {
    /// No row at all.
    #[error("cluster.device has no row: give at least one request size with its seeks")]
    NoRow,
    /// Sizes must rise.
    #[error("cluster.device request size {request} B follows {previous} B: sizes must rise from row to row")]
    NotRising {
        /// The size of the row before, in bytes.
        previous: u64,
        /// The size that does not rise, in bytes.
        request: u64,
    },
}

/// Service times of a volume by direction, size and whether the request is sequential.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Figures")]
pub struct DiskTable {
    read: DirectionFigures,
    write: DirectionFigures,
    sequential_gap: Bytes,
    rows: Vec<DiskTableRow>,
    /// The request sizes of `rows`.
    ladder: SizeLadder,
    read_per_byte: TimePerByte,
    write_per_byte: TimePerByte,
}

/// What a table is made of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    read: DirectionFigures,
    write: DirectionFigures,
    sequential_gap: Bytes,
    rows: Vec<DiskTableRow>,
}

impl TryFrom<Figures> for DiskTable {
    type Error = DiskTableError;

    fn try_from(Figures { read, write, sequential_gap, rows }: Figures) -> Result<Self, DiskTableError> {
        DiskTable::new(read, write, sequential_gap, rows)
    }
}

impl DiskTable {
    /// A table of `rows` in rising request size.
    ///
    /// A request that begins up to `sequential_gap` past the end of the one before it is sequential.
    ///
    /// # Errors
    /// When there is no row or the sizes do not rise.
    pub fn new(
        read: DirectionFigures,
        write: DirectionFigures,
        sequential_gap: Bytes,
        rows: Vec<DiskTableRow>,
    ) -> Result<Self, DiskTableError> {
        if rows.is_empty() {
            return Err(DiskTableError::NoRow);
        }
        for pair in rows.windows(2) {
            if pair[1].request <= pair[0].request {
                let (previous, request) = (pair[0].request.get(), pair[1].request.get());
                return Err(DiskTableError::NotRising { previous, request });
            }
        }
        let ladder = SizeLadder::new(rows.iter().map(|row| row.request));
        let (read_per_byte, write_per_byte) = (read.rate.time_per_byte(), write.rate.time_per_byte());
        Ok(DiskTable { read, write, sequential_gap, rows, ladder, read_per_byte, write_per_byte })
    }

    /// How far past the end of the request before it a request may begin and still be sequential.
    #[inline]
    pub fn sequential_gap(&self) -> Bytes {
        self.sequential_gap
    }

    /// The time to serve a request of `bytes`: overhead, transfer, and the seek when it is not sequential.
    ///
    /// The seek is that of the largest row not above the request's size; below the first row, the first row's.
    #[inline]
    pub fn service_time(&self, direction: Direction, bytes: Bytes, sequential: bool) -> SimDuration {
        let transfer = match direction {
            Direction::Read => self.read.overhead + self.read_per_byte.time_for(bytes),
            Direction::Write => self.write.overhead + self.write_per_byte.time_for(bytes),
        };
        if sequential {
            return transfer;
        }
        let row = self.ladder.not_above(bytes).saturating_sub(1);
        transfer
            + match direction {
                Direction::Read => self.rows[row].read_seek,
                Direction::Write => self.rows[row].write_seek,
            }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Four rows of the volume in the catalog's jbod10-sata: 4 KiB, 16 KiB, 2 MiB and 4 MiB.
    pub(crate) fn jbod() -> DiskTable {
        let row = |request, read_us: f64, write_us: f64| DiskTableRow {
            request,
            read_seek: SimDuration::from_seconds(read_us * 1e-6).unwrap(),
            write_seek: SimDuration::from_seconds(write_us * 1e-6).unwrap(),
        };
        let figures = |mebibytes_per_second: f64, overhead_us: f64| DirectionFigures {
            rate: BytesPerSecond::new(mebibytes_per_second * 1_048_576.0).unwrap(),
            overhead: SimDuration::from_seconds(overhead_us * 1e-6).unwrap(),
        };
        let rows = vec![
            row(Bytes::kibibytes(4), 3475.6, 499.5),
            row(Bytes::kibibytes(16), 3486.2, 514.7),
            row(Bytes::mebibytes(2), 7922.0, 3179.5),
            row(Bytes::mebibytes(4), 11700.3, 6108.8),
        ];
        DiskTable::new(figures(1542.1, 23.67), figures(1511.7, 29.67), Bytes::new(512), rows).unwrap()
    }

    #[test]
    fn a_buffer_of_16_mebibytes_takes_what_the_closed_form_says() {
        // docs/models/device.md: (10.399 + 11.700) ms to read and (10.614 + 6.109) ms to write 16 MiB with a seek.
        let buffer = Bytes::mebibytes(16);
        let milliseconds = |direction, sequential| jbod().service_time(direction, buffer, sequential).seconds() * 1e3;
        assert!((milliseconds(Direction::Read, true) - 10.399).abs() < 5e-4);
        assert!((milliseconds(Direction::Read, false) - 10.399 - 11.700).abs() < 1e-3);
        assert!((milliseconds(Direction::Write, true) - 10.614).abs() < 5e-4);
        assert!((milliseconds(Direction::Write, false) - 10.614 - 6.109).abs() < 1e-3);
    }

    #[test]
    fn the_seek_is_the_row_not_above_the_request() {
        let seek = |bytes| {
            let table = jbod();
            let with = table.service_time(Direction::Read, Bytes::new(bytes), false);
            (with - table.service_time(Direction::Read, Bytes::new(bytes), true)).seconds() * 1e6
        };
        // 16 KiB less one byte still pays the 4 KiB row; a request below every row pays the first row.
        assert!((seek(16_383) - 3475.6).abs() < 1e-3);
        assert!((seek(16_384) - 3486.2).abs() < 1e-3);
        assert!((seek(1) - 3475.6).abs() < 1e-3);
    }

    #[test]
    fn every_size_takes_what_a_search_and_a_division_say() {
        // The plain path: the row by a search of all, the transfer by a division and the library's rounding.
        let table = jbod();
        let near = |size: u64| [size - 1, size, size + 1, size + size / 3];
        for bytes in (0..50).map(|bits| 1 << bits).chain([10_000, 2_100_000]).flat_map(near).map(Bytes::new) {
            let row = table.rows[table.rows.partition_point(|row| row.request <= bytes).saturating_sub(1)];
            for (direction, figures, seek) in
                [(Direction::Read, table.read, row.read_seek), (Direction::Write, table.write, row.write_seek)]
            {
                let transfer = (bytes.get() as f64 * (1e12 / figures.rate.get())).round() as u64;
                let expected = figures.overhead + SimDuration::from_picoseconds(transfer);
                assert_eq!(table.service_time(direction, bytes, true), expected, "{bytes}");
                assert_eq!(table.service_time(direction, bytes, false), expected + seek, "{bytes}");
            }
        }
    }

    #[test]
    fn sizes_must_rise() {
        let table = jbod();
        assert_eq!(DiskTable::new(table.read, table.write, Bytes::ZERO, vec![]), Err(DiskTableError::NoRow));
        let twice = vec![table.rows[0], table.rows[0]];
        assert!(matches!(
            DiskTable::new(table.read, table.write, Bytes::ZERO, twice),
            Err(DiskTableError::NotRising { .. })
        ));
    }
}
