//! LogGP parameters by message size, as netgauge measures them.
//!
//! Sources: Alexandrov et al., "LogGP: Incorporating Long Messages into the LogP Model" (1995); Hoefler et al.,
//! "Netgauge" (2007); and Carns et al. (2016), section III-A, which looks the parameters up by message size and leaves
//! the overhead o out.

use resilver_units::{Bytes, SimDuration, SizeLadder};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// The parameters that serve messages of a range of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogGpRow {
    /// Message size that was measured.
    pub size: Bytes,
    /// Latency L.
    pub latency: SimDuration,
    /// Gap g between messages in picoseconds; fits to measurements can come out below zero.
    #[serde(rename = "gap", deserialize_with = "picoseconds")]
    pub gap_picoseconds: i64,
    /// Gap per byte G in picoseconds.
    #[serde(rename = "gap_per_byte", deserialize_with = "picoseconds")]
    pub gap_per_byte_picoseconds: u64,
}

/// Whole picoseconds of a number of seconds.
fn picoseconds<'de, D: Deserializer<'de>, T: TryFrom<i64>>(json: D) -> Result<T, D::Error> {
    let seconds = f64::deserialize(json)?;
    let wrong = || serde::de::Error::custom(format!("{seconds} s is not a time of a table"));
    T::try_from((seconds * 1e12).round() as i64).map_err(|_| wrong())
}

/// A table that cannot serve messages.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LogGpTableError {
    /// No row at all.
    #[error("cluster.fabric.table has no usable row: it needs at least one size with numbers for L, g and G")]
    NoRow,
    /// Sizes must not fall.
    #[error("cluster.fabric.table size {size} B follows {previous} B: sizes must not fall from row to row")]
    Falling {
        /// The size of the row before, in bytes.
        previous: u64,
        /// The size that falls, in bytes.
        size: u64,
    },
    /// A message would keep an interface busy for less than no time.
    #[error(
        "cluster.fabric.table row of {size} B has g = {gap_picoseconds} ps, which makes a message of {smallest} B occupy \
         its interface for less than no time: g + (s - 1) G must not be negative; remove or repair the row"
    )]
    NegativeOccupancy {
        /// The row's size in bytes.
        size: u64,
        /// The row's g in picoseconds.
        gap_picoseconds: i64,
        /// The smallest message that the row serves, in bytes.
        smallest: u64,
    },
}

/// LogGP parameters by message size.
///
/// A message is served by the first row whose size is strictly larger than its own, and by the last row when none is.
/// Of several rows of one size, the first therefore serves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<LogGpRow>")]
pub struct LogGpTable {
    rows: Vec<LogGpRow>,
    /// The sizes of `rows` but the last, which serves whatever the others do not.
    ladder: SizeLadder,
}

/// What one message costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageCost {
    /// From the first byte's departure to its arrival: L.
    pub latency: SimDuration,
    /// From the first byte to the last: (s - 1) G.
    pub transfer: SimDuration,
    /// How long each interface is busy: g + (s - 1) G.
    pub occupancy: SimDuration,
}

impl TryFrom<Vec<LogGpRow>> for LogGpTable {
    type Error = LogGpTableError;

    fn try_from(rows: Vec<LogGpRow>) -> Result<Self, LogGpTableError> {
        LogGpTable::new(rows)
    }
}

impl LogGpTable {
    /// A table of `rows`, in order of size.
    ///
    /// # Errors
    /// When there is no row, sizes fall, or a row makes some message occupy an interface for a negative time.
    pub fn new(rows: Vec<LogGpRow>) -> Result<Self, LogGpTableError> {
        if rows.is_empty() {
            return Err(LogGpTableError::NoRow);
        }
        for pair in rows.windows(2) {
            if pair[1].size < pair[0].size {
                return Err(LogGpTableError::Falling { previous: pair[0].size.get(), size: pair[1].size.get() });
            }
        }
        for (index, row) in rows.iter().enumerate() {
            let shadowed = index > 0 && rows[index - 1].size == row.size && index + 1 < rows.len();
            // The smallest message a row serves has the size of the row before it.
            let smallest = if index == 0 { 0 } else { rows[index - 1].size.get() };
            let transfer = i128::from(row.gap_per_byte_picoseconds) * i128::from(smallest.saturating_sub(1));
            if !shadowed && transfer + i128::from(row.gap_picoseconds) < 0 {
                return Err(LogGpTableError::NegativeOccupancy {
                    size: row.size.get(),
                    gap_picoseconds: row.gap_picoseconds,
                    smallest,
                });
            }
        }
        let ladder = SizeLadder::new(rows[..rows.len() - 1].iter().map(|row| row.size));
        Ok(LogGpTable { rows, ladder })
    }

    /// What a message of `bytes` costs.
    #[inline]
    pub(crate) fn cost(&self, bytes: Bytes) -> MessageCost {
        let row = self.rows[self.ladder.not_above(bytes)];
        let transfer = bytes.get().saturating_sub(1).saturating_mul(row.gap_per_byte_picoseconds);
        MessageCost {
            latency: row.latency,
            transfer: SimDuration::from_picoseconds(transfer),
            occupancy: SimDuration::from_picoseconds(transfer.saturating_add_signed(row.gap_picoseconds)),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Rows of the catalog's qdr-infiniband, with its duplicated size and its negative g.
    pub(crate) fn qdr() -> LogGpTable {
        let row = |size, gap_picoseconds, gap_per_byte_picoseconds| LogGpRow {
            size: Bytes::new(size),
            latency: SimDuration::from_picoseconds(6_782_182),
            gap_picoseconds,
            gap_per_byte_picoseconds,
        };
        LogGpTable::new(vec![
            row(64, 1_086_758, 1398),
            row(128, 1_094_414, 852),
            row(4096, 1_070_237, 324),
            row(8192, 1_014_836, 446),
            row(16384, 510_600, 1046),
            row(131_072, 1_856_250, 609),
            row(262_144, 1_014_836, 446),
            row(262_144, 12_367_868, 497),
            row(4_194_304, 12_487_616, 497),
            row(8_388_608, 13_069_435, 497),
            row(16_777_216, -9_934_403, 513),
            row(33_554_432, -17_247_905, 516),
            row(67_108_864, -17_796_392, 516),
        ])
        .unwrap()
    }

    fn gap_per_byte(bytes: u64) -> u64 {
        // (s - 1) G over s - 1.
        qdr().cost(Bytes::new(bytes)).transfer.picoseconds() / (bytes - 1)
    }

    #[test]
    fn the_first_row_strictly_larger_serves() {
        // The paper's crossover lies between 4 and 8 KiB and its dip between 4 and 8 MiB.
        assert_eq!(gap_per_byte(4096), 446);
        assert_eq!(gap_per_byte(8192), 1046);
        assert_eq!(gap_per_byte(4 << 20), 497);
        assert_eq!(gap_per_byte(8 << 20), 513);
    }

    #[test]
    fn every_size_is_served_by_the_row_that_a_search_finds() {
        let table = qdr();
        let near = |size: u64| [size - 1, size, size + 1, size + size / 3];
        for bytes in (0..40).map(|bits| 1 << bits).flat_map(near).map(Bytes::new) {
            let last = table.rows.len() - 1;
            let row = table.rows[table.rows.iter().position(|row| row.size > bytes).unwrap_or(last)];
            let transfer = bytes.get().saturating_sub(1) * row.gap_per_byte_picoseconds;
            let cost = table.cost(bytes);
            assert_eq!(cost.transfer.picoseconds(), transfer, "{bytes}");
            let gap = i128::from(cost.occupancy.picoseconds()) - i128::from(transfer);
            // A message that is smaller than its row allows may not come out below no time at all.
            assert_eq!(gap, i128::from(row.gap_picoseconds).max(-i128::from(transfer)), "{bytes}");
        }
    }

    #[test]
    fn of_two_rows_of_one_size_the_first_serves_smaller_messages() {
        assert_eq!(gap_per_byte(200_000), 446);
        // At the size itself both rows are passed.
        assert_eq!(gap_per_byte(262_144), 497);
    }

    #[test]
    fn the_last_row_serves_all_that_is_larger() {
        assert_eq!(gap_per_byte(1 << 30), 516);
    }

    #[test]
    fn a_negative_gap_shortens_the_occupancy_but_not_below_zero() {
        let cost = qdr().cost(Bytes::mebibytes(16));
        // 17.247905 us less than (2^24 - 1) x 516 ps.
        assert_eq!(cost.transfer.picoseconds() - cost.occupancy.picoseconds(), 17_247_905);
        let mut rows = qdr().rows;
        rows.truncate(1);
        rows[0].gap_picoseconds = -5;
        assert!(matches!(LogGpTable::new(rows), Err(LogGpTableError::NegativeOccupancy { smallest: 0, .. })));
    }

    #[test]
    fn sizes_must_not_fall() {
        let mut rows = qdr().rows;
        rows.swap(2, 3);
        assert!(matches!(LogGpTable::new(rows), Err(LogGpTableError::Falling { .. })));
        assert_eq!(LogGpTable::new(vec![]), Err(LogGpTableError::NoRow));
    }

    #[test]
    fn an_empty_message_still_takes_the_latency_and_the_gap() {
        let cost = qdr().cost(Bytes::ZERO);
        assert_eq!(cost.transfer, SimDuration::ZERO);
        assert_eq!(cost.occupancy.picoseconds(), 1_086_758);
    }
}
