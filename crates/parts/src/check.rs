//! What is wrong with declared levels. Later rules ask what earlier ones made sure of, so it is found step by step.

use std::collections::{BTreeMap, BTreeSet};

use resilver_units::Refusal;

use crate::declaration::{Declaration, level_names, number};
use crate::shape::Shape;

/// Most devices of a cluster, and most parts of a level that carries others.
const PARTS_MAX: u64 = 1_000_000;
/// Most buckets of a CRUSH map, its root among them: it numbers them in 20 bits.
const BUCKETS_MAX: u64 = (1 << 20) - 1;

impl Shape {
    /// What follows from these levels.
    ///
    /// # Errors
    /// All that is wrong with them, as far as what is wrong lets it be found out.
    pub fn of(declarations: &[Declaration]) -> Result<Self, Vec<Refusal>> {
        let mut check = Check { declarations, problems: Vec::new() };
        let mut shape = Shape::tree(declarations, check.device_level()?);
        check.relations(&shape)?;
        shape.add_sides(declarations);
        check.sizes(&shape)?;
        shape.add_kinds(declarations);
        Ok(shape)
    }
}

struct Check<'a> {
    declarations: &'a [Declaration],
    problems: Vec<Refusal>,
}

impl<'a> Check<'a> {
    fn parts(&self) -> impl Iterator<Item = (usize, &'a Declaration)> + Clone + use<'a> {
        self.declarations.iter().enumerate()
    }

    /// Adds a problem; into what it gives go the names that there are, where a name is none of them.
    fn refuse(
        &mut self,
        index: usize,
        key: &str,
        rule: impl Into<String>,
        remedy: impl Into<String>,
    ) -> &mut Vec<String> {
        let (key, rule, remedy) = (format!("parts.{index}.{key}"), rule.into(), remedy.into());
        self.problems.push(Refusal { key, rule, remedy, ..Refusal::default() });
        &mut self.problems.last_mut().expect("a problem is there").known
    }

    fn step(&mut self) -> Result<(), Vec<Refusal>> {
        if self.problems.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.problems)) }
    }

    /// The level of the devices, where the levels are a tree.
    fn device_level(&mut self) -> Result<String, Vec<Refusal>> {
        self.parts().for_each(|(index, part)| self.counts(index, part));
        self.step()?;
        self.containers();
        self.step()?;
        let device = self.lowest();
        self.step()?;
        self.devices(&device);
        self.ports();
        self.step()?;
        Ok(device)
    }

    /// A level that does not say how many parts it has, or says it twice.
    fn counts(&mut self, index: usize, part: &Declaration) {
        let (size, count) = (part.size.is_some(), part.count.is_some());
        let of_sets = [("size", size), ("across", part.across.is_some()), ("spares", part.spares.is_some())];
        let (carries, ports) = (part.carries.is_some(), part.ports.is_some());
        let of_others = [("count", count), ("carries", carries), ("partner", part.partner.is_some()), ("ports", ports)];
        let (stray, rule) = match &part.of {
            None => (&of_sets[..], "this is said of a level made of another, by \"of\"".to_owned()),
            Some(of) => {
                (&of_others[..], format!("a level made of \"{of}\" is as many as its size makes, and carries none"))
            }
        };
        if part.of.is_none() && !count {
            self.refuse(index, "count", "a level says how many there are in each container", "such as count = 2");
        } else if part.of.is_some() && !size {
            self.refuse(index, "size", "a level made of another says of how many", "such as size = 10");
        }
        for (key, _) in stray.iter().filter(|(_, is_given)| *is_given) {
            self.refuse(index, key, rule.as_str(), "remove it");
        }
    }

    /// Containers that there are not, and circles.
    fn containers(&mut self) {
        let names = level_names(self.declarations);
        let above: BTreeMap<&str, &str> =
            self.parts().filter_map(|(_, part)| Some((part.level.as_str(), part.within.as_deref()?))).collect();
        for (index, part) in self.parts() {
            let Some(within) = &part.within else { continue };
            if !names.contains(within) {
                self.refuse(index, "in", "there is no such level", "levels").extend(names.clone());
            } else if names.iter().try_fold(within.as_str(), |level, _| above.get(level).copied()).is_some() {
                self.refuse(index, "in", "the level is in itself", "let it be in another, or leave it out");
            }
        }
    }

    /// The level that holds nothing, carries nothing and is made of nothing.
    fn lowest(&mut self) -> String {
        let is_above = |name: &String| self.parts().any(|(_, part)| part.within.as_ref() == Some(name));
        let is_side = |name: &String| self.parts().any(|(_, part)| part.level == *name && part.is_side());
        let names = level_names(self.declarations).into_iter();
        let lowest: Vec<String> = names.filter(|name| !is_above(name) && !is_side(name)).collect();
        if let [first, second, ..] = &lowest[..] {
            let index = self.parts().position(|(_, part)| part.level == *second);
            let listed = lowest.join(", ");
            let rule = format!("one level holds no other and is the devices', and here {listed} hold none");
            let remedy = format!("let it contain \"{first}\", or declare one level once for each class");
            self.refuse(index.unwrap_or(0), "level", rule, remedy);
        } else if lowest.is_empty() {
            let rule = "one level holds no other, carries none and is the devices', and here none does";
            self.refuse(0, "level", rule, "declare it");
        }
        lowest.into_iter().next().unwrap_or_default()
    }

    /// Levels declared twice, and what is said of others than devices.
    fn devices(&mut self, device: &str) {
        let mut classes = BTreeSet::new();
        for (index, part) in self.parts() {
            let (at, first) = self.parts().find(|(_, other)| other.level == part.level).unwrap_or((index, part));
            if part.level != device && at != index {
                self.refuse(index, "level", "only the level of the devices is declared more than once", "merge them");
            }
            let class = part.class.as_deref();
            let of_devices = class.map(|_| "class").into_iter().chain(part.for_devices.iter().map(String::as_str));
            for key in of_devices.filter(|_| part.level != device) {
                let rule = format!("this is said of devices, and the devices here are \"{device}\"");
                self.refuse(index, key, rule, "say it there");
            }
            if part.level != device {
                continue;
            }
            if first.within != part.within {
                let container = first.within.as_deref().unwrap_or("none");
                let rule = format!("devices are in one level, and the first of these are in \"{container}\"");
                self.refuse(index, "in", rule, "let all be in one");
            }
            let rule = "devices that are declared apart have classes of their own";
            if at != index && class.is_none_or(|class| classes.contains(class)) {
                self.refuse(index, "class", rule, "such as class = \"ssd\"");
            }
            if at != index && first.class.is_none() {
                self.refuse(at, "class", rule, "such as class = \"hdd\"");
            }
            classes.extend(class);
        }
    }

    fn ports(&mut self) {
        let Some((_, first)) = self.parts().find(|(_, part)| part.ports.is_some()) else { return };
        let is_own = |part: &Declaration| part.level == first.level;
        for (index, part) in self.parts() {
            if !is_own(part) && part.ports.is_some() {
                let rule = format!("one level has the network ports, and \"{}\" has them already", first.level);
                self.refuse(index, "ports", rule, "remove one of them");
            } else if is_own(part) && part.ports != first.ports {
                self.refuse(index, "ports", "all parts of a level have as many ports", "say the same of each");
            }
        }
    }

    /// What is wrong with levels that carry others or are made of others, with services and with ports.
    fn relations(&mut self, shape: &Shape) -> Result<(), Vec<Refusal>> {
        for (index, part) in self.parts() {
            let name = part.within.as_deref().unwrap_or_default();
            if part.within.is_some() && shape.depth(part.within.as_ref()).is_none() {
                let rule = format!("\"{name}\" contains no devices");
                self.refuse(index, "in", rule, "levels that do").extend(containers(shape, 0));
            } else if part.of.is_some() {
                self.set(index, part, shape);
            } else if let Some(carried) = &part.carries {
                self.carrier(index, part, carried, shape);
            } else if part.partner.is_some() {
                let rule = "what is in a part fails with it; only parts that carry others have partners";
                self.refuse(index, "partner", rule, "remove it");
            }
            if part.service.is_some() && part.level == shape.devices().0 {
                self.refuse(index, "service", "these are the devices, whose times are their device's", "use device");
            }
            let is_same = |(_, other): &(usize, &Declaration)| part.carries.is_some() && other.carries == part.carries;
            if self.parts().filter(is_same).count() > 1 {
                let carried = part.carries.as_deref().unwrap_or_default();
                let rule = format!("more than one level carries \"{carried}\", and a byte passes one");
                self.refuse(index, "carries", rule, "let one carry it");
            }
        }
        self.step()?;
        self.ways(shape);
        self.step()
    }

    fn set(&mut self, index: usize, part: &Declaration, shape: &Shape) {
        let (device, _) = shape.devices();
        let inside = containers(shape, shape.depth(part.within.as_ref()).map_or(0, |depth| depth + 1));
        let ((_, hands, each), size) = (shape.dealt_over(part), number(part.size));
        let dealt = hands * each.saturating_sub(number(part.spares));
        if part.of.as_ref() != Some(device) {
            let rule = format!("sets are made of devices, and the devices here are \"{device}\"");
            self.refuse(index, "of", rule, format!("use of = \"{device}\""));
        } else if part.across.as_ref().is_some_and(|across| !inside.contains(across)) {
            let place = part.within.as_ref().map(|within| format!(" and is in \"{within}\"")).unwrap_or_default();
            let rule = format!("members are dealt over a level that contains devices{place}");
            self.refuse(index, "across", rule, "levels that do").extend(inside);
        } else if dealt == 0 {
            let rule = format!("they are dealt over parts of {each} devices each");
            self.refuse(index, "spares", rule, "let fewer stand by");
        } else if !dealt.is_multiple_of(size) {
            let rule = format!("sets have equally many, and {dealt} {device} do not divide by {size}");
            self.refuse(index, "size", rule, format!("use a divisor of {dealt}"));
        } else if part.within.is_none() && part.service.is_some() {
            let rule = "a set that takes time is in what has the network ports, or below it";
            self.refuse(index, "service", rule, "add in = ...");
        }
    }

    fn carrier(&mut self, index: usize, part: &Declaration, carried: &String, shape: &Shape) {
        let sides = self.parts().map(|(_, other)| other).filter(|other| other.is_side() && other.level != part.level);
        let tree = shape.levels.iter().map(|(name, _)| name);
        let known: Vec<String> = tree.chain(sides.clone().map(|side| &side.level)).cloned().collect();
        let side = sides.clone().find(|side| side.level == *carried);
        let inner = shape.depth(side.map_or(Some(carried), |side| side.within.as_ref()));
        let outer = shape.depth(part.within.as_ref()).map(|depth| depth + usize::from(side.is_none()));
        if let Some(circle) = self.circle(part) {
            let rule = format!("a level carries what does not carry it, and here {circle}");
            self.refuse(index, "carries", rule, format!("let one of them carry \"{}\"", shape.devices().0));
        } else if !known.contains(carried) {
            let rule = "what is carried are devices, what contains them or is made of them, or carries these";
            self.refuse(index, "carries", rule, "levels").extend(known);
        } else if outer.is_none() {
            let top = format!("such as in = \"{}\"", shape.levels[0].0);
            let remedy = if shape.levels.len() > 1 { top.as_str() } else { "declare a level of it" };
            self.refuse(index, "in", "a part that carries others is in what contains these", remedy);
        } else if inner < outer {
            let within = part.within.as_deref().unwrap_or_default();
            let rule = format!("\"{carried}\" is not in \"{within}\", which contains what carries it");
            self.refuse(index, "carries", rule, format!("let it be in \"{within}\""));
        } else if part.partner == Some(true) && !part.each().is_multiple_of(2) {
            let rule = "parts take over for each other in pairs, so their number in a container is even";
            self.refuse(index, "count", rule, "use an even number");
        }
    }

    /// How a level carries itself, by way of others.
    fn circle(&self, part: &Declaration) -> Option<String> {
        let mut way = vec![&part.level];
        for _ in self.declarations {
            let mut last = self.parts().filter(|(_, other)| other.level == *way[way.len() - 1]);
            way.push(last.find_map(|(_, other)| other.carries.as_ref())?);
            if way[way.len() - 1] == &part.level {
                return Some(way.iter().map(|level| format!("\"{level}\"")).collect::<Vec<_>>().join(" carries "));
            }
        }
        None
    }

    /// Ports and services that lie where no request passes both.
    fn ways(&mut self, shape: &Shape) {
        let level = &shape.port_level;
        let ports = shape.depth(Some(level));
        let rule = format!("the network ports are those of \"{level}\", below it, and nothing passes it");
        let is_above = |level: Option<&String>| shape.depth(level).is_some_and(|depth| Some(depth) < ports);
        for (index, part) in self.parts() {
            let is_passed = part.carries.is_some() || part.of.is_some() && part.service.is_some();
            if part.ports.is_some() && ports.is_none() {
                let rule = format!("\"{level}\" carries others and has none in it; ports are of a level that contains");
                self.refuse(index, "ports", rule, "give them to what it is in");
            } else if is_passed && is_above(part.within.as_ref()) {
                let within = part.within.as_deref().unwrap_or_default();
                self.refuse(index, "in", rule.as_str(), format!("give the ports to \"{within}\""));
            } else if part.service.is_some() && is_above(Some(&part.level)) {
                self.refuse(index, "service", rule.as_str(), "remove it");
            }
        }
    }

    /// Clusters of too many parts.
    fn sizes(&mut self, shape: &Shape) -> Result<(), Vec<Refusal>> {
        let (device, devices) = shape.devices();
        let above = shape.levels.iter().map(|(_, count)| *count).fold(1, u64::saturating_add) - devices;
        let mut limits = vec![
            (device, *devices, PARTS_MAX, format!("{device} devices, and a cluster")),
            (device, above, BUCKETS_MAX, "parts above the devices and their root, and a map".to_owned()),
        ];
        limits.extend(shape.sides.iter().filter(|side| side.carries.is_some()).map(|side| {
            let count = side.scopes.saturating_mul(side.each);
            (&side.name, count, PARTS_MAX, format!("{} parts, and a cluster", side.name))
        }));
        for (level, count, most, what) in limits.into_iter().filter(|&(_, count, most, _)| count > most) {
            let index = self.parts().position(|(_, part)| part.level == *level).unwrap_or(0);
            self.refuse(index, "count", format!("these are {count} {what} has at most {most}"), "use smaller counts");
        }
        self.step()
    }
}

/// The levels from this depth on that contain devices.
fn containers(shape: &Shape, from: usize) -> Vec<String> {
    shape.levels[..shape.levels.len() - 1].iter().skip(from).map(|(name, _)| name.clone()).collect()
}
