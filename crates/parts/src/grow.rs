//! From declared levels to the table of parts.

use std::collections::{BTreeMap, VecDeque};

use crate::declaration::{Declaration, Made};
use crate::error::PartsError;
use crate::table::{Level, PartId, Parts, Row};

/// Most parts of a cluster: a million hosts with sixty disks each, above which a count is a slip.
const PARTS_MAX: u64 = 1 << 26;

impl TryFrom<Vec<Declaration>> for Parts {
    type Error = PartsError;

    fn try_from(declarations: Vec<Declaration>) -> Result<Self, PartsError> {
        Parts::new(&declarations)
    }
}

impl Parts {
    /// The parts that these levels declare.
    ///
    /// # Errors
    /// A level is not declared or in itself, a number cannot be, or it cannot be told which parts are the devices.
    pub fn new(declarations: &[Declaration]) -> Result<Self, PartsError> {
        let mut levels: Vec<Level> = Vec::new();
        for declaration in declarations {
            if levels.iter().all(|level| level.name != declaration.level) {
                levels.push(Level { name: declaration.level.clone(), parts: Vec::new() });
            }
        }
        check_names(declarations, &levels)?;
        let device_level = device_level(declarations, &levels)?;
        check_numbers(declarations, &levels[device_level].name)?;
        let mut parts = Parts { declarations: declarations.to_vec(), levels, rows: Vec::new(), device_level };
        check_carriers(declarations)?;
        default_ports(&mut parts);
        plant(&mut parts, None);
        for index in 0..declarations.len() {
            make(&mut parts, index)?;
        }
        carry(&mut parts);
        pair(&mut parts)?;
        Ok(parts)
    }
}

/// Checks that levels named in declarations exist, and that each level is declared once but for that of the devices.
fn check_names(declarations: &[Declaration], levels: &[Level]) -> Result<(), PartsError> {
    for (index, declaration) in declarations.iter().enumerate() {
        let level = &declaration.level;
        let made = declaration.of.as_ref();
        let named = [
            ("in", &declaration.within),
            ("carries", &declaration.carries),
            ("of", &made.map(|made| made.level.clone())),
            ("across", &made.and_then(|made| made.across.clone())),
        ];
        for (key, name) in named {
            let Some(name) = name else { continue };
            if levels.iter().all(|level| level.name != *name) {
                let levels = levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>().join(", ");
                return Err(PartsError::NoSuchLevel { level: level.clone(), key, name: name.clone(), levels });
            }
        }
        let holds = |other: &Declaration| other.within.as_ref() == Some(level);
        let is_inner = made.is_some() || declarations.iter().any(holds);
        let differs = |other: &Declaration| {
            other.level == *level
                && (is_inner || other.within != declaration.within || other.ports != declaration.ports)
        };
        if declarations[..index].iter().any(differs) {
            return Err(PartsError::DeclaredTwice { level: level.clone() });
        }
        let mut above = declaration;
        for _ in 0..declarations.len() {
            let Some(container) = &above.within else { break };
            above = declarations.iter().find(|other| other.level == *container).expect("the level is declared");
            if above.level == *level {
                return Err(PartsError::Circle { level: level.clone() });
            }
        }
    }
    Ok(())
}

/// Checks that no level carries what carries it, and so on up.
fn check_carriers(declarations: &[Declaration]) -> Result<(), PartsError> {
    for declaration in declarations {
        let mut carried = declaration.carries.as_ref();
        for _ in 0..declarations.len() {
            let Some(level) = carried else { break };
            if *level == declaration.level {
                return Err(PartsError::CarriesItself { level: level.clone() });
            }
            carried = declarations.iter().find(|one| one.level == *level).and_then(|one| one.carries.as_ref());
        }
    }
    Ok(())
}

/// The level that holds nothing, carries nothing and is made of nothing.
fn device_level(declarations: &[Declaration], levels: &[Level]) -> Result<usize, PartsError> {
    let is_of_devices = |level: &Level| {
        let own = declarations.iter().filter(|one| one.level == level.name);
        let holds = declarations.iter().any(|one| one.within.as_ref() == Some(&level.name));
        !holds && own.clone().all(|one| one.of.is_none() && one.carries.is_none())
    };
    let found: Vec<usize> = (0..levels.len()).filter(|&level| is_of_devices(&levels[level])).collect();
    match found[..] {
        [level] => Ok(level),
        _ => {
            let names: Vec<&str> = found.iter().map(|&level| levels[level].name.as_str()).collect();
            let levels = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Err(PartsError::Devices { levels })
        }
    }
}

/// Checks counts and sizes, and that there are not too many parts.
fn check_numbers(declarations: &[Declaration], devices: &str) -> Result<(), PartsError> {
    let count_of = |level: &str| -> u64 {
        // Parts of a level are those of its container times the sum of its declarations' counts.
        let (mut total, mut level) = (1u64, Some(level));
        while let Some(name) = level {
            let own = declarations.iter().filter(|one| one.level == name);
            total = total.saturating_mul(own.clone().map(|one| u64::from(one.count)).sum());
            level = own.clone().find_map(|one| one.within.as_deref());
        }
        total
    };
    for declaration in declarations {
        let number = |key, value, rule| Err(PartsError::Number { level: declaration.level.clone(), key, value, rule });
        if let Some(made) = &declaration.of {
            if made.size == 0 {
                return number("size", 0, "a part is made of one member or more");
            }
        } else if declaration.count == 0 {
            return number("count", 0, "there is one or more in each container");
        } else if count_of(&declaration.level) > PARTS_MAX {
            let rule = "a cluster has fewer than 2^26 parts of a level";
            return number("count", u64::from(declaration.count), rule);
        }
        if declaration.class.is_some() && declaration.level != devices {
            return number("class", 1, "only devices have a class");
        }
    }
    Ok(())
}

/// Gives the ports to the containers of the devices, or to the devices, where no level says that it has them.
fn default_ports(parts: &mut Parts) {
    if parts.declarations.iter().any(|one| one.ports > 0) {
        return;
    }
    let devices = parts.levels[parts.device_level].name.clone();
    let device = parts.declarations.iter().find(|one| one.level == devices).expect("devices are declared");
    let owner = device.within.clone().unwrap_or(devices);
    parts.declarations.iter_mut().filter(|one| one.level == owner).for_each(|one| one.ports = 1);
}

/// Adds the parts that are in one part, and all below, in the order of the tree.
fn plant(parts: &mut Parts, parent: Option<PartId>) {
    let above = parent.map(|parent| parts.level(parent).to_owned());
    for index in 0..parts.declarations.len() {
        let declaration = &parts.declarations[index];
        if declaration.within != above || declaration.of.is_some() {
            continue;
        }
        for _ in 0..parts.declarations[index].count {
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
fn make(parts: &mut Parts, declaration: usize) -> Result<(), PartsError> {
    let Declaration { level, within, of: Some(made), .. } = parts.declarations[declaration].clone() else {
        return Ok(());
    };
    // A set that nothing carries, and that takes no time, is on no way.
    let is_carried = parts.declarations.iter().any(|one| one.carries.as_ref() == Some(&level));
    let is_passed = is_carried || parts.declarations[declaration].service.is_some();
    let scopes = match &within {
        Some(within) => parts.of_level(within).iter().copied().map(Some).collect(),
        None => vec![None],
    };
    for scope in scopes {
        let members = dealt(parts, &made, scope);
        if members.is_empty() || !members.len().is_multiple_of(made.size as usize) {
            let rule = "it must divide what there is to be made of";
            return Err(PartsError::Number { level, key: "size", value: u64::from(made.size), rule });
        }
        for members in members.chunks(made.size as usize) {
            let set = add(parts, declaration, scope);
            if is_passed {
                members.iter().for_each(|member| parts.rows[member.index()].carrier = Some(set));
            }
            parts.rows[set.index()].members = members.to_vec();
        }
    }
    Ok(())
}

/// The members of all sets of a container, one set behind another.
///
/// One is taken from each part that they are dealt across in turn, so that neighbours are as far apart as can be.
fn dealt(parts: &Parts, made: &Made, scope: Option<PartId>) -> Vec<PartId> {
    let is_in = |part: PartId, container: Option<PartId>| {
        let mut above = Some(part);
        while above.is_some() && above != container {
            above = parts.parent(above.expect("it is some"));
        }
        above == container
    };
    let all: Vec<PartId> = parts.of_level(&made.level).iter().copied().filter(|&part| is_in(part, scope)).collect();
    let spares = made.spares as usize;
    let Some(across) = &made.across else { return all[..all.len().saturating_sub(spares)].to_vec() };
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
    let Some(made) = parts.declarations.iter().filter(|one| one.level == level).find_map(|one| one.of.as_ref()) else {
        return carried;
    };
    let mut is_member = vec![false; parts.rows.len()];
    carried.iter().flat_map(|set| &parts.rows[set.index()].members).for_each(|one| is_member[one.index()] = true);
    carried.extend(parts.of_level(&made.level).iter().filter(|part| !is_member[part.index()]));
    carried
}

/// Lets neighbours in a container take over for each other.
fn pair(parts: &mut Parts) -> Result<(), PartsError> {
    for declaration in &parts.declarations {
        let (level, count) = (&declaration.level, declaration.count);
        if !declaration.has_partner {
            continue;
        }
        if !count.is_multiple_of(2) {
            let rule = "parts take over for each other in pairs, so their number in a container is even";
            return Err(PartsError::Number { level: level.clone(), key: "count", value: u64::from(count), rule });
        }
        let own = parts.levels.iter().find(|one| one.name == *level).map_or(&[][..], |one| &one.parts);
        for pair in own.chunks_exact(2) {
            parts.rows[pair[0].index()].partner = Some(pair[1]);
            parts.rows[pair[1].index()].partner = Some(pair[0]);
        }
    }
    Ok(())
}
