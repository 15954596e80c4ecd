//! Rules and choose_args of maps in text.

use crate::formats::lexer::{Token, Tokens};
use crate::formats::text::Reader;
use crate::map::class::add_shadows;
use crate::map::draft::{Draft, DraftArguments, DraftRule};
use crate::map::error::MapError;
use crate::map::place::{Fault, Place};
use crate::map::rule::{Choose, Rule, SIZES, Step};

/// A rule whose names are not resolved yet: shadows exist only once every bucket is read.
pub(crate) struct TextRule<'t> {
    rule: DraftRule,
    /// Each take step's position among the steps, its bucket and its class.
    takes: Vec<(usize, Token<'t>, Option<Token<'t>>)>,
}

impl<'t> Reader<'t> {
    pub(crate) fn rule(&mut self) -> Result<(), MapError> {
        const LINES: &str = "'id', 'ruleset', 'type', 'min_size', 'max_size', 'step' or '}'";
        let place = Place::Offset(self.tokens.offset());
        let name = if self.tokens.at("{") { None } else { Some(self.tokens.name("a rule's name")?) };
        self.tokens.expect("{")?;
        let (mut id, mut pool_kind, mut min_size, mut max_size) = (None, 1, SIZES.0, SIZES.1);
        let (mut steps, mut step_places, mut takes) = (Vec::new(), Vec::new(), Vec::new());
        while !self.tokens.accept("}") {
            let line = self.tokens.name(LINES)?;
            match line.word {
                "id" | "ruleset" => id = Some(self.tokens.number("a rule's id")?),
                "type" if self.tokens.accept("replicated") => pool_kind = 1,
                "type" if self.tokens.accept("erasure") => pool_kind = 3,
                "type" if self.tokens.accept("msr_firstn") => pool_kind = 4,
                "type" if self.tokens.accept("msr_indep") => pool_kind = 5,
                "type" => pool_kind = self.tokens.number("'replicated', 'erasure' or a number")?,
                "min_size" => min_size = self.tokens.number("a number of copies")?,
                "max_size" => max_size = self.tokens.number("a number of copies")?,
                "step" => {
                    step_places.push(Place::Offset(self.tokens.offset()));
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
        let id = id.unwrap_or_else(|| {
            while self.rule_ids.contains(&self.free_rule) {
                self.free_rule += 1;
            }
            self.free_rule
        });
        self.rule_ids.insert(id);
        let name = name.map_or_else(String::new, |name| name.word.to_owned());
        let rule = Rule { id, name, ruleset: id, pool_kind, min_size, max_size, steps };
        self.rules.push(TextRule { rule: DraftRule { rule, place, step_places }, takes });
        Ok(())
    }

    /// A step other than take.
    fn step(&mut self) -> Result<Step, MapError> {
        const STEPS: &str = "'take', 'choose', 'chooseleaf', 'choosemsr', 'emit' or a 'set_...' step";
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
            "choosemsr" => {
                let count = self.tokens.number("how many items to choose")?;
                self.tokens.expect("type")?;
                let name = self.tokens.name("a type's name")?;
                let unknown = || self.tokens.error_of(name, "the name of a declared type");
                Ok(Step::ChooseMsr { count, type_id: self.type_id(name.word).ok_or_else(unknown)? })
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

    pub(crate) fn choose_args(&mut self) -> Result<(), MapError> {
        let key = self.choose_args_key()?;
        let mut list = Vec::new();
        self.tokens.expect("{")?;
        while self.tokens.accept("{") {
            self.tokens.expect("bucket_id")?;
            let place = Place::Offset(self.tokens.offset());
            let bucket = self.tokens.number("a bucket's id")?;
            let mut arguments = DraftArguments { bucket, weights: Vec::new(), ids: None, place };
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

    /// The key of a set of choose_args. `crushtool` writes -1, all pools, as the unsigned number of its 64 bits.
    fn choose_args_key(&mut self) -> Result<i64, MapError> {
        if let Some(key) = self.tokens.peek().and_then(|token| token.word.parse::<u64>().ok()) {
            self.tokens.skip();
            return Ok(key as i64);
        }
        self.tokens.number("a pool's id, or -1 for all pools")
    }

    /// Builds the shadows of device classes, then resolves what the rules take.
    pub(crate) fn resolve(mut self) -> Result<(Tokens<'t>, Draft), MapError> {
        // The compiler builds shadows when it meets the first rule; without one, only those with an id are certain.
        if !self.rules.is_empty() || !self.draft.classes.shadows.is_empty() {
            let slots = {
                self.draft.buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.id));
                self.draft.check_names().and_then(|()| self.draft.check_buckets())
            };
            let checked = slots.and_then(|slots| self.draft.check_acyclic(&slots));
            checked.map_err(|Fault { place, error }| match place {
                Place::Offset(offset) => self.tokens.locate(offset, error),
                _ => error,
            })?;
            add_shadows(&mut self.draft);
        }
        for TextRule { mut rule, takes } in self.rules {
            for (step, name, class) in takes {
                let unknown = || self.tokens.error_of(name, "the name of a bucket or device of the map");
                let &(mut item, _) = self.names.get(name.word).ok_or_else(unknown)?;
                if let Some(class) = class {
                    let none = || self.tokens.error_of(class, "a class that a device of the map has");
                    item = self.draft.classes.shadow(item, class.word).ok_or_else(none)?;
                }
                rule.rule.steps[step] = Step::Take(item);
            }
            self.draft.rules.push(rule);
        }
        Ok((self.tokens, self.draft))
    }
}
