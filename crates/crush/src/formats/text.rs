//! CRUSH maps in the text form that `crushtool --decompile` writes and `crushtool --compile` reads.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::lexer::{Token, Tokens};
use crate::formats::text_rule::TextRule;
use crate::map::CrushMap;
use crate::map::bucket::BucketKind;
use crate::map::draft::{Draft, DraftBucket, DraftDevice, DraftType};
use crate::map::error::MapError;
use crate::map::place::{Fault, Place};

/// An item line of a bucket.
struct TextItem<'t> {
    name: Token<'t>,
    weight: Option<u32>,
    position: Option<usize>,
}

/// A bucket's items in order, and where each stands.
type Positioned = (Vec<(i32, u32)>, Vec<Place>);

/// A map being read.
pub(crate) struct Reader<'t> {
    pub(crate) tokens: Tokens<'t>,
    pub(crate) draft: Draft,
    pub(crate) rules: Vec<TextRule<'t>>,
    /// Ids of the rules so far; every id below `free_rule` is among them.
    pub(crate) rule_ids: BTreeSet<u32>,
    pub(crate) free_rule: u32,
    /// Id and default weight of everything named so far.
    pub(crate) names: BTreeMap<&'t str, (i32, u32)>,
    types: BTreeMap<&'t str, i32>,
    /// Ids that the text gives anywhere, which buckets without an id must avoid; every id above `free_bucket` is among them.
    reserved: BTreeSet<i32>,
    free_bucket: i32,
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
    /// use resilver_crush::CrushMap;
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
        let reserved = tokens.ids();
        let (rules, rule_ids, names, types) = Default::default();
        let (free_rule, free_bucket, draft) = (0, -1, Draft::new());
        let mut reader = Reader { tokens, draft, rules, rule_ids, free_rule, names, types, reserved, free_bucket };
        while reader.tokens.peek().is_some() {
            reader.statement()?;
        }
        let (tokens, draft) = reader.resolve()?;
        draft.finish().map_err(|Fault { place, error }| match place {
            Place::Offset(offset) => tokens.locate(offset, error),
            _ => error,
        })
    }
}

impl<'t> Reader<'t> {
    fn statement(&mut self) -> Result<(), MapError> {
        const STATEMENTS: &str = "'tunable', 'device', 'type', 'rule', 'choose_args' or the name of a declared type";
        let keyword = self.tokens.name(STATEMENTS)?;
        match keyword.word {
            "tunable" => self.tunable(),
            "device" => self.device(),
            "type" => {
                let place = Place::Offset(self.tokens.offset());
                let id = self.tokens.number("a type's id")?;
                let name = self.tokens.name("a type's name")?.word;
                self.types.entry(name).or_insert(id);
                self.draft.types.push(DraftType { id, name: name.to_owned(), place });
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

    pub(crate) fn type_id(&self, name: &str) -> Option<i32> {
        // Rules call type 0 `device` where the map has no name for it.
        self.types.get(name).copied().or_else(|| (name == "device").then_some(0))
    }

    fn tunable(&mut self) -> Result<(), MapError> {
        let name = self.tokens.name("a tunable's name")?;
        let unknown = || self.tokens.error_of(name, "the name of a tunable");
        let target = self.draft.tunables.field_mut(name.word).ok_or_else(unknown)?;
        self.draft.tunable_places.push((name.word.to_owned(), Place::Offset(name.offset)));
        *target = self.tokens.number("a whole number")?;
        Ok(())
    }

    fn device(&mut self) -> Result<(), MapError> {
        let place = Place::Offset(self.tokens.offset());
        let id = self.tokens.number("a device's id")?;
        let name = self.tokens.name("a device's name")?;
        if self.tokens.accept("class") {
            let class = self.draft.classes.number(self.tokens.name("a class")?.word);
            self.draft.classes.of_item.insert(id, class);
        }
        self.names.insert(name.word, (id, 0x1_0000));
        self.draft.devices.push(DraftDevice { id, name: name.word.to_owned(), place });
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
                        shadows.push((self.draft.classes.number(self.tokens.name("a class")?.word), number));
                    } else {
                        id = Some(number);
                    }
                }
                "alg" => {
                    let alg = self.tokens.name("a bucket's alg")?;
                    let unknown = || self.tokens.error_of(alg, "uniform, list, tree, straw, straw2 or vring");
                    kind = Some(BucketKind::from_name(alg.word).ok_or_else(unknown)?);
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
        let id = id.unwrap_or_else(|| self.free_bucket_id());
        self.reserved.insert(id);
        if !shadows.is_empty() {
            self.draft.classes.shadows.entry(id).or_default().extend(shadows);
        }
        let (items, item_places) = self.positioned(items)?;
        let total = items.iter().fold(0u32, |sum, item| sum.saturating_add(item.1));
        self.names.insert(name.word, (id, total));
        let (place, name) = (Place::Offset(name.offset), name.word.to_owned());
        self.draft.buckets.push(DraftBucket { id, name, type_id, kind, items, stored: None, place, item_places });
        Ok(())
    }

    /// The first id from -1 down that the text gives to nothing.
    fn free_bucket_id(&mut self) -> i32 {
        while self.reserved.contains(&self.free_bucket) {
            self.free_bucket -= 1;
        }
        self.free_bucket
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
    fn positioned(&self, items: Vec<TextItem<'t>>) -> Result<Positioned, MapError> {
        let mut places: Vec<Option<((i32, u32), Place)>> = vec![None; items.len()];
        for item in items.iter().filter(|item| item.position.is_some()) {
            let resolved = self.resolved(item)?;
            match item.position.and_then(|position| places.get_mut(position)).filter(|place| place.is_none()) {
                Some(place) => *place = Some(resolved),
                None => {
                    let expected = "an item whose 'pos' is free and below the number of items";
                    return Err(self.tokens.error_of(item.name, expected));
                }
            }
        }
        let mut unplaced = items.iter().filter(|item| item.position.is_none());
        for place in places.iter_mut().filter(|place| place.is_none()) {
            if let Some(item) = unplaced.next() {
                *place = Some(self.resolved(item)?);
            }
        }
        Ok(places.into_iter().flatten().unzip())
    }

    /// An item's id and weight, and where it stands.
    fn resolved(&self, item: &TextItem<'t>) -> Result<((i32, u32), Place), MapError> {
        let unknown = || self.tokens.error_of(item.name, "the name of a device or bucket declared above");
        let &(id, weight) = self.names.get(item.name.word).ok_or_else(unknown)?;
        Ok(((id, item.weight.unwrap_or(weight)), Place::Offset(item.name.offset)))
    }
}
