//! From declared levels to the table of parts.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use resilver_units::Refusal;

use crate::declaration::{Declaration, level_names, number};
use crate::shape::Shape;
use crate::table::{Level, PartId, Parts, Row};

impl TryFrom<Vec<Declaration>> for Parts {
    type Error = Box<Refusal>;

    fn try_from(declarations: Vec<Declaration>) -> Result<Self, Box<Refusal>> {
        Parts::new(&declarations)
    }
}

impl Parts {
    /// The parts that these levels declare.
    ///
    /// # Errors
    /// The first thing that is wrong with them.
    pub fn new(declarations: &[Declaration]) -> Result<Self, Box<Refusal>> {
        let shape = Shape::of(declarations).map_err(|mut problems| Box::new(problems.swap_remove(0)))?;
        let names = level_names(declarations);
        let device_level = names.iter().position(|name| *name == shape.devices().0).unwrap_or(0);
        let levels = names.into_iter().map(|name| Level { name, parts: Vec::new() }).collect();
        let mut parts = Parts { declarations: declarations.to_vec(), levels, rows: Vec::new(), device_level };
        let owners = parts.declarations.iter_mut().filter(|one| one.level == shape.port_level);
        owners.for_each(|owner| owner.ports = NonZeroU32::new(shape.ports as u32));
        plant(&mut parts, None);
        for index in 0..declarations.len() {
            make(&mut parts, index);
        }
        carry(&mut parts);
        pair(&mut parts);
        Ok(parts)
    }
}

/// Adds the parts that are in one part, and all below, in the order of the tree.
fn plant(parts: &mut Parts, parent: Option<PartId>) {
    let above = parent.map(|parent| parts.level(parent).to_owned());
    for index in 0..parts.declarations.len() {
        let declaration = &parts.declarations[index];
        if declaration.within != above || declaration.of.is_some() {
            continue;
        }
        for _ in 0..parts.declarations[index].each() {
            let part = add(parts, index, parent);
            let first = device_count(parts);
            plant(parts, Some(part));
            let end = device_count(parts);
            let row = &mut parts.rows[part.index()];
            row.devices = if row.level == parts.device_level { first - 1..first } else { first..end };
        }
    }
}

fn device_count(parts: &Parts) -> u32 {
    parts.levels[parts.device_level].parts.len() as u32
}

/// Adds one part with nothing in it.
fn add(parts: &mut Parts, declaration: usize, parent: Option<PartId>) -> PartId {
    let id = PartId(parts.rows.len() as u32);
    let name = &parts.declarations[declaration].level;
    let level = parts.levels.iter().position(|level| level.name == *name).expect("the level is declared");
    let number = parts.levels[level].parts.len() as u32;
    parts.levels[level].parts.push(id);
    let (carrier, partner, devices, members) = (parent, None, 0..0, Vec::new());
    parts.rows.push(Row { level, number, declaration, parent, carrier, partner, devices, members, health: 1.0 });
    id
}

/// Adds the parts of a level that is made of another: within each container, or of all there are.
fn make(parts: &mut Parts, index: usize) {
    let declaration = parts.declarations[index].clone();
    if declaration.of.is_none() {
        return;
    }
    // A set that nothing carries, and that takes no time, is on no way.
    let is_carried = parts.declarations.iter().any(|one| one.carries.as_ref() == Some(&declaration.level));
    let is_passed = is_carried || declaration.service.is_some();
    let scopes = match &declaration.within {
        Some(within) => parts.of_level(within).iter().copied().map(Some).collect(),
        None => vec![None],
    };
    for scope in scopes {
        for members in dealt(parts, &declaration, scope).chunks(number(declaration.size) as usize) {
            let set = add(parts, index, scope);
            if is_passed {
                members.iter().for_each(|member| parts.rows[member.index()].carrier = Some(set));
            }
            parts.rows[set.index()].members = members.to_vec();
        }
    }
}

/// The members of all sets of a container, one set behind another.
///
/// One is taken from each part that they are dealt across in turn, so that neighbours are as far apart as can be.
fn dealt(parts: &Parts, set: &Declaration, scope: Option<PartId>) -> Vec<PartId> {
    let is_in = |part: PartId, container: Option<PartId>| {
        let mut above = Some(part);
        while above.is_some() && above != container {
            above = parts.parent(above.expect("it is some"));
        }
        above == container
    };
    let all: Vec<PartId> = parts.devices().iter().copied().filter(|&part| is_in(part, scope)).collect();
    let spares = number(set.spares) as usize;
    let Some(across) = &set.across else { return all[..all.len().saturating_sub(spares)].to_vec() };
    let containers = parts.of_level(across).iter();
    let in_one = |&container: &PartId| all.iter().copied().filter(|&part| is_in(part, Some(container))).collect();
    let mut hands: Vec<VecDeque<PartId>> = containers.map(in_one).collect();
    hands.iter_mut().for_each(|hand| hand.truncate(hand.len().saturating_sub(spares)));
    let mut dealt = Vec::with_capacity(all.len());
    while hands.iter().any(|hand| !hand.is_empty()) {
        dealt.extend(hands.iter_mut().filter_map(VecDeque::pop_front));
    }
    dealt
}

/// Lets bytes pass the parts that are said to carry them: those of one container dealt over its carriers in turn.
fn carry(parts: &mut Parts) {
    for index in 0..parts.declarations.len() {
        let Some(carried) = parts.declarations[index].carries.clone() else { continue };
        let mut carriers: BTreeMap<Option<PartId>, Vec<PartId>> = BTreeMap::new();
        for &carrier in parts.of_level(&parts.declarations[index].level) {
            carriers.entry(parts.parent(carrier)).or_default().push(carrier);
        }
        let mut dealt = vec![0usize; parts.rows.len()];
        for part in carried_parts(parts, &carried) {
            let mut scope = parts.parent(part);
            while let Some(above) = scope.filter(|_| !carriers.contains_key(&scope)) {
                scope = parts.parent(above);
            }
            let Some(of_scope) = carriers.get(&scope) else { continue };
            let turn = &mut dealt[of_scope[0].index()];
            parts.rows[part.index()].carrier = Some(of_scope[*turn % of_scope.len()]);
            *turn += 1;
        }
    }
}

/// The parts of a level that is carried, and behind them the devices that stand by for those that are made of others.
fn carried_parts(parts: &Parts, level: &str) -> Vec<PartId> {
    let mut carried = parts.of_level(level).to_vec();
    if !parts.declarations.iter().any(|one| one.level == level && one.of.is_some()) {
        return carried;
    }
    let mut is_member = vec![false; parts.rows.len()];
    carried.iter().flat_map(|set| &parts.rows[set.index()].members).for_each(|one| is_member[one.index()] = true);
    carried.extend(parts.devices().iter().filter(|part| !is_member[part.index()]));
    carried
}

/// Lets neighbours in a container take over for each other.
fn pair(parts: &mut Parts) {
    for declaration in parts.declarations.iter().filter(|one| one.partner == Some(true)) {
        let own = parts.levels.iter().find(|one| one.name == declaration.level).map_or(&[][..], |one| &one.parts);
        for pair in own.chunks_exact(2) {
            parts.rows[pair[0].index()].partner = Some(pair[1]);
            parts.rows[pair[1].index()].partner = Some(pair[0]);
        }
    }
}
