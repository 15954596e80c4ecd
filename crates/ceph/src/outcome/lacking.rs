//! Groups that lacked pieces, and when.

use resilver_units::SimTime;

use super::{Column, Table, maybe, texts};
use crate::healing::{Healing, Spell};

fn numbers_text(osds: &[u32]) -> String {
    osds.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// A row a spell of a group; none of those that ended as they began.
pub(super) fn lacking(healing: &Healing) -> Table {
    let spells: Vec<&Spell> = healing.spells().iter().filter(|spell| spell.until != Some(spell.from)).collect();
    let group = |spell: &&Spell| &healing.groups[spell.group as usize];
    let pool = |spell: &&Spell| healing.map.pools()[group(spell).pool].pool.id;
    let id = |spell: &&Spell| format!("{}.{:x}", pool(spell), group(spell).number);
    Table::new(
        "lacking",
        vec![
            ("pgid", texts(spells.iter().map(id))),
            ("pool", Column::Counts(spells.iter().map(pool).collect())),
            ("from_seconds", maybe(spells.iter().map(|spell| Some(spell.from.seconds())))),
            ("until_seconds", maybe(spells.iter().map(|spell| spell.until.map(SimTime::seconds)))),
            ("survives", Column::Counts(spells.iter().map(|spell| spell.survives).collect())),
            ("osds", texts(spells.iter().map(|spell| numbers_text(&spell.holders)))),
        ],
    )
}
