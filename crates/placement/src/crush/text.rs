//! CRUSH maps in the text form that `crushtool --decompile` writes and `crushtool --compile` reads.

use std::collections::{BTreeMap, BTreeSet};

use super::bucket::BucketKind;
use super::class::{ShadowIds, add_shadows};
use super::draft::{Draft, DraftArguments, DraftBucket, DraftDevice};
use super::error::MapError;
use super::lexer::{Token, Tokens};
use super::map::CrushMap;
use super::rule::{Choose, Rule, Step};

/// A rule whose names are not resolved yet: shadows exist only once every bucket is read.
struct TextRule<'t> {
    rule: Rule,
    /// Each take step's position among the steps, its bucket and its class.
    takes: Vec<(usize, Token<'t>, Option<Token<'t>>)>,
}

/// An item line of a bucket.
struct TextItem<'t> {
    name: Token<'t>,
    weight: Option<u32>,
    position: Option<usize>,
}

/// A map being read.
struct Reader<'t> {
    tokens: Tokens<'t>,
    draft: Draft,
    rules: Vec<TextRule<'t>>,
    /// Id and default weight of everything named so far.
    names: BTreeMap<&'t str, (i32, u32)>,
    /// Ids that the text gives anywhere, which buckets without an id must avoid.
    reserved: BTreeSet<i32>,
    shadow_ids: ShadowIds,
}

impl CrushMap {
    /// Reads a map from text.
    ///
    /// # Arguments
    /// * `text` - the output of `crushtool --decompile`, or a map written by hand in that form.
    ///
    /// # Returns
    /// The map, checked.
    ///
    /// # Errors
    /// The text leaves the grammar (with line and column), or a value breaks a rule of CRUSH maps.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::crush::CrushMap;
    /// let map = CrushMap::from_text("
    ///     device 0 osd.0
    ///     type 0 osd
    ///     type 1 root
    ///     root default { id -1 alg straw2 hash 0 item osd.0 weight 1.000 }
    ///     rule data { id 0 type replicated step take default step choose firstn 0 type osd step emit }
    /// ").unwrap();
    /// assert_eq!(map.devices(), [0]);
    /// let error = CrushMap::from_text("device zero osd.0").unwrap_err();
    /// assert_eq!(error.to_string(), "line 1, column 8: found 'zero', expected a device's id");
    /// ```
    pub fn from_text(text: &str) -> Result<Self, MapError> {
        let tokens = Tokens::new(text)?;
        let (names, reserved, shadow_ids) = Default::default();
        let mut reader = Reader { tokens, draft: Draft::new(), rules: Vec::new(), names, reserved, shadow_ids };
        reader.reserve_ids(text)?;
        while reader.tokens.peek().is_some() {
            reader.statement()?;
        }
        reader.resolve()?.finish()
    }
}

impl<'t> Reader<'t> {
    /// Notes every bucket id of the text before any bucket is numbered.
    fn reserve_ids(&mut self, text: &'t str) -> Result<(), MapError> {
        let mut tokens = Tokens::new(text)?;
        while tokens.peek().is_some() {
            if tokens.accept("id") {
                if let Ok(id) = tokens.number::<i32>("") {
                    self.reserved.insert(id);
                }
            } else if tokens.name("").is_err() && !["{", "}", "[", "]"].into_iter().any(|mark| tokens.accept(mark)) {
                break;
            }
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), MapError> {
        const STATEMENTS: &str = "'tunable', 'device', 'type', 'rule', 'choose_args' or the name of a declared type";
        let keyword = self.tokens.name(STATEMENTS)?;
        match keyword.word {
            "tunable" => self.tunable(),
            "device" => self.device(),
            "type" => {
                let id = self.tokens.number("a type's id")?;
                let name = self.tokens.name("a type's name")?.word;
                self.draft.types.push((id, name.to_owned()));
                Ok(())
            }
            "rule" => self.rule(),
            "choose_args" => self.choose_args(),
            _ => match self.type_id(keyword.word) {
                Some(type_id) => self.bucket(type_id),
                None => Err(self.tokens.error_of(keyword, STATEMENTS)),
            },
        }
    }

    fn type_id(&self, name: &str) -> Option<i32> {
        self.draft.types.iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }

    fn tunable(&mut self) -> Result<(), MapError> {
        let name = self.tokens.name("a tunable's name")?;
        let unknown = self.tokens.error_of(name, "the name of a tunable");
        let target = self.draft.tunables.field_mut(name.word).ok_or(unknown)?;
        *target = self.tokens.number("a whole number")?;
        Ok(())
    }

    fn device(&mut self) -> Result<(), MapError> {
        let id = self.tokens.number("a device's id")?;
        let name = self.tokens.name("a device's name")?;
        let class = if self.tokens.accept("class") { Some(self.tokens.name("a class")?.word.to_owned()) } else { None };
        self.names.insert(name.word, (id, 0x1_0000));
        self.draft.devices.push(DraftDevice { id, name: name.word.to_owned(), class });
        Ok(())
    }

    fn bucket(&mut self, type_id: i32) -> Result<(), MapError> {
        const LINES: &str = "'id', 'alg', 'hash', 'item' or '}'";
        let name = self.tokens.name("a bucket's name")?;
        self.tokens.expect("{")?;
        let (mut id, mut kind, mut items, mut shadows) = (None, None, Vec::new(), Vec::new());
        while !self.tokens.accept("}") {
            let line = self.tokens.name(LINES)?;
            match line.word {
                "id" => {
                    let number: i32 = self.tokens.number("a bucket's id")?;
                    if self.tokens.accept("class") {
                        shadows.push((self.tokens.name("a class")?.word.to_owned(), number));
                    } else {
                        id = Some(number);
                    }
                }
                "alg" => {
                    let alg = self.tokens.name("a bucket's alg")?;
                    let expected = "uniform, list, tree, straw or straw2";
                    let unknown = self.tokens.error_of(alg, expected);
                    kind = Some(BucketKind::from_name(alg.word).ok_or(unknown)?);
                }
                "hash" => {
                    if !self.tokens.accept("rjenkins1") {
                        self.tokens.expect("0")?;
                    }
                }
                "item" => items.push(self.item()?),
                _ => return Err(self.tokens.error_of(line, LINES)),
            }
        }
        let Some(kind) = kind else { return Err(self.tokens.error_of(name, "a bucket with a line 'alg'")) };
        let id = id.unwrap_or_else(|| (1..).map(|n| -n).find(|id| !self.reserved.contains(id)).unwrap_or(i32::MIN));
        self.reserved.insert(id);
        self.shadow_ids.extend(shadows.into_iter().map(|(class, shadow)| ((id, class), shadow)));
        let items = self.positioned(items)?;
        let total = items.iter().fold(0u32, |sum, item| sum.saturating_add(item.1));
        self.names.insert(name.word, (id, total));
        self.draft.buckets.push(DraftBucket { id, name: name.word.to_owned(), type_id, kind, items });
        Ok(())
    }

    fn item(&mut self) -> Result<TextItem<'t>, MapError> {
        let name = self.tokens.name("an item's name")?;
        let mut item = TextItem { name, weight: None, position: None };
        loop {
            if self.tokens.accept("weight") {
                item.weight = Some(self.tokens.weight()?);
            } else if self.tokens.accept("pos") {
                item.position = Some(self.tokens.number("a position")?);
            } else {
                return Ok(item);
            }
        }
    }

    /// Resolves a bucket's items and puts those with a position there, the others in the places left.
    fn positioned(&self, items: Vec<TextItem<'t>>) -> Result<Vec<(i32, u32)>, MapError> {
        let mut places = vec![None; items.len()];
        for item in &items {
            let unknown = || self.tokens.error_of(item.name, "the name of a device or bucket declared above");
            let &(id, weight) = self.names.get(item.name.word).ok_or_else(unknown)?;
            let place = match item.position {
                Some(position) => places.get_mut(position).filter(|place| place.is_none()),
                None => None,
            };
            match (place, item.position) {
                (Some(place), _) => *place = Some((id, item.weight.unwrap_or(weight))),
                (None, Some(_)) => {
                    let expected = "an item whose 'pos' is free and below the number of items";
                    return Err(self.tokens.error_of(item.name, expected));
                }
                (None, None) => {}
            }
        }
        let mut free = (0..places.len()).filter(|&place| places[place].is_none()).collect::<Vec<_>>().into_iter();
        for item in items.iter().filter(|item| item.position.is_none()) {
            if let (Some(place), Some(&(id, weight))) = (free.next(), self.names.get(item.name.word)) {
                places[place] = Some((id, item.weight.unwrap_or(weight)));
            }
        }
        Ok(places.into_iter().flatten().collect())
    }

    fn rule(&mut self) -> Result<(), MapError> {
        const LINES: &str = "'id', 'ruleset', 'type', 'min_size', 'max_size', 'step' or '}'";
        let name = if self.tokens.at("{") { None } else { Some(self.tokens.name("a rule's name")?) };
        self.tokens.expect("{")?;
        let (mut id, mut pool_kind, mut min_size, mut max_size) = (None, 1, 0, u32::MAX);
        let (mut steps, mut takes) = (Vec::new(), Vec::new());
        while !self.tokens.accept("}") {
            let line = self.tokens.name(LINES)?;
            match line.word {
                "id" | "ruleset" => id = Some(self.tokens.number("a rule's id")?),
                "type" if self.tokens.accept("replicated") => pool_kind = 1,
                "type" if self.tokens.accept("erasure") => pool_kind = 3,
                "type" => pool_kind = self.tokens.number("'replicated', 'erasure' or a number")?,
                "min_size" => min_size = self.tokens.number("a number of copies")?,
                "max_size" => max_size = self.tokens.number("a number of copies")?,
                "step" => {
                    if self.tokens.accept("take") {
                        let bucket = self.tokens.name("a bucket's name")?;
                        let class = if self.tokens.accept("class") { Some(self.tokens.name("a class")?) } else { None };
                        takes.push((steps.len(), bucket, class));
                        steps.push(Step::Noop);
                    } else {
                        let step = self.step()?;
                        steps.push(step);
                    }
                }
                _ => return Err(self.tokens.error_of(line, LINES)),
            }
        }
        let taken: BTreeSet<u32> = self.rules.iter().map(|rule| rule.rule.id).collect();
        let id = id.unwrap_or_else(|| (0..).find(|id| !taken.contains(id)).unwrap_or(u32::MAX));
        let name = name.map_or_else(|| format!("rule{id}"), |name| name.word.to_owned());
        let rule = Rule { id, name, ruleset: id, pool_kind, min_size, max_size, steps };
        self.rules.push(TextRule { rule, takes });
        Ok(())
    }

    /// A step other than take.
    fn step(&mut self) -> Result<Step, MapError> {
        const STEPS: &str = "'take', 'choose', 'chooseleaf', 'emit' or a 'set_...' step";
        let op = self.tokens.name(STEPS)?;
        match op.word {
            "emit" => Ok(Step::Emit),
            "noop" => Ok(Step::Noop),
            "choose" | "chooseleaf" => {
                let firstn = self.tokens.accept("firstn");
                if !firstn && !self.tokens.accept("indep") {
                    return Err(self.tokens.error("'firstn' or 'indep'"));
                }
                let count = self.tokens.number("how many items to choose")?;
                self.tokens.expect("type")?;
                let name = self.tokens.name("a type's name")?;
                let unknown = || self.tokens.error_of(name, "the name of a declared type");
                let type_id = self.type_id(name.word).ok_or_else(unknown)?;
                Ok(Step::Choose(Choose { firstn, leaf: op.word == "chooseleaf", count, type_id }))
            }
            _ => match Step::setting(op.word, 0) {
                Some(_) => {
                    let value = self.tokens.number("a whole number")?;
                    Ok(Step::setting(op.word, value).unwrap_or(Step::Noop))
                }
                None => Err(self.tokens.error_of(op, STEPS)),
            },
        }
    }

    fn choose_args(&mut self) -> Result<(), MapError> {
        let key = self.tokens.number("a pool's id, or -1 for all pools")?;
        let mut list = Vec::new();
        self.tokens.expect("{")?;
        while self.tokens.accept("{") {
            self.tokens.expect("bucket_id")?;
            let bucket = self.tokens.number("a bucket's id")?;
            let mut arguments = DraftArguments { bucket, weights: Vec::new(), ids: None };
            if self.tokens.accept("weight_set") {
                self.tokens.expect("[")?;
                while self.tokens.accept("[") {
                    let mut set = Vec::new();
                    while !self.tokens.accept("]") {
                        set.push(self.tokens.weight()?);
                    }
                    arguments.weights.push(set);
                }
                self.tokens.expect("]")?;
            }
            if self.tokens.accept("ids") {
                self.tokens.expect("[")?;
                let mut ids = Vec::new();
                while !self.tokens.accept("]") {
                    ids.push(self.tokens.number("an id")?);
                }
                arguments.ids = Some(ids);
            }
            self.tokens.expect("}")?;
            list.push(arguments);
        }
        self.tokens.expect("}")?;
        self.draft.choose_args.push((key, list));
        Ok(())
    }

    /// Builds the shadows of device classes, then resolves what the rules take.
    fn resolve(mut self) -> Result<Draft, MapError> {
        let shadows = add_shadows(&mut self.draft, &self.shadow_ids);
        for TextRule { mut rule, takes } in self.rules {
            for (step, name, class) in takes {
                let unknown = || self.tokens.error_of(name, "the name of a bucket or device of the map");
                let &(mut item, _) = self.names.get(name.word).ok_or_else(unknown)?;
                if let Some(class) = class {
                    let none = || self.tokens.error_of(class, "a class that a device of the map has");
                    item = *shadows.get(&(item, class.word.to_owned())).ok_or_else(none)?;
                }
                rule.steps[step] = Step::Take(item);
            }
            self.draft.rules.push(rule);
        }
        Ok(self.draft)
    }
}
