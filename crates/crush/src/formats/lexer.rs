//! Words and brackets of a CRUSH map in text, each with its place.

use std::collections::BTreeSet;
use std::str::FromStr;

use winnow::ascii::{multispace1, till_line_ending};
use winnow::combinator::{alt, preceded, repeat, terminated};
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{one_of, take_while};
use winnow::{Parser, Result};

use crate::map::error::MapError;

/// A word or a bracket, and where it starts in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) word: &'t str,
    pub(crate) offset: usize,
}

type Input<'t> = LocatingSlice<&'t str>;

fn blank(input: &mut Input<'_>) -> Result<()> {
    let comment = ('#', till_line_ending).void();
    repeat(0.., alt((multispace1.void(), comment))).parse_next(input)
}

fn token<'t>(input: &mut Input<'t>) -> Result<Token<'t>> {
    let bracket = one_of(['{', '}', '[', ']']).take();
    let word = take_while(1.., |c: char| !c.is_whitespace() && !c.is_control() && !"{}[]#".contains(c));
    let (word, span) = alt((bracket, word)).with_span().parse_next(input)?;
    Ok(Token { word, offset: span.start })
}

fn tokens<'t>(input: &mut Input<'t>) -> Result<Vec<Token<'t>>> {
    preceded(blank, repeat(0.., terminated(token, blank))).parse_next(input)
}

/// The tokens of a map, read one after the other.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    next: usize,
}

impl<'t> Tokens<'t> {
    /// Splits a text into tokens.
    ///
    /// # Errors
    /// A character that no map contains.
    pub(crate) fn new(text: &'t str) -> Result<Self, MapError> {
        let mut input = LocatingSlice::new(text);
        let list = tokens(&mut input).unwrap_or_default();
        let read = Self { text, tokens: list, next: 0 };
        let offset = input.current_token_start();
        match text[offset..].chars().next() {
            None => Ok(read),
            Some(odd) => Err(read.error_at(offset, format!("{odd:?}"), "a name, a number or a bracket")),
        }
    }

    /// The next token, without taking it.
    pub(crate) fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.next).copied()
    }

    /// Whether the next token is this word.
    pub(crate) fn at(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.word == word)
    }

    /// Takes the next token if it is this word.
    pub(crate) fn accept(&mut self, word: &str) -> bool {
        let found = self.at(word);
        self.next += usize::from(found);
        found
    }

    /// Takes the next token, which must be this word.
    pub(crate) fn expect(&mut self, word: &str) -> Result<(), MapError> {
        if self.accept(word) { Ok(()) } else { Err(self.error(&format!("'{word}'"))) }
    }

    /// Takes the next token, which must not be a bracket.
    pub(crate) fn name(&mut self, expected: &str) -> Result<Token<'t>, MapError> {
        match self.peek() {
            Some(token) if !matches!(token.word, "{" | "}" | "[" | "]") => {
                self.next += 1;
                Ok(token)
            }
            _ => Err(self.error(expected)),
        }
    }

    /// Takes the next token as a whole number.
    pub(crate) fn number<N: FromStr>(&mut self, expected: &str) -> Result<N, MapError> {
        let number = self.peek().and_then(|token| token.word.parse().ok());
        let number = number.ok_or_else(|| self.error(expected))?;
        self.next += 1;
        Ok(number)
    }

    /// Takes the next token as a weight, 16.16 fixed point.
    pub(crate) fn weight(&mut self) -> Result<u32, MapError> {
        let weight = self.peek().and_then(|token| weight_of(token.word));
        let weight = weight.ok_or_else(|| self.error("a weight from 0 to below 65536"))?;
        self.next += 1;
        Ok(weight)
    }

    /// Where the next token starts, or where the text ends.
    pub(crate) fn offset(&self) -> usize {
        self.peek().map_or(self.text.len(), |token| token.offset)
    }

    /// Passes over the next token.
    pub(crate) fn skip(&mut self) {
        self.next += 1;
    }

    /// Every number that follows the word `id` anywhere in the text.
    pub(crate) fn ids(&self) -> BTreeSet<i32> {
        let pairs = self.tokens.windows(2).filter(|pair| pair[0].word == "id");
        pairs.filter_map(|pair| pair[1].word.parse().ok()).collect()
    }

    /// An error with the line and column of an offset in front.
    pub(crate) fn locate(&self, offset: usize, error: MapError) -> MapError {
        let (line, column) = self.position(offset);
        error.located(format!("line {line}, column {column}"))
    }

    /// The error of finding the next token where `expected` should stand.
    pub(crate) fn error(&self, expected: &str) -> MapError {
        match self.peek() {
            Some(token) => self.error_of(token, expected),
            None => self.error_at(self.text.len(), "the end of the text".to_owned(), expected),
        }
    }

    /// The error of finding `token` where `expected` should stand.
    pub(crate) fn error_of(&self, token: Token<'_>, expected: &str) -> MapError {
        self.error_at(token.offset, format!("'{}'", token.word), expected)
    }

    fn error_at(&self, offset: usize, found: String, expected: &str) -> MapError {
        let (line, column) = self.position(offset);
        MapError::Syntax { line, column, found, expected: expected.to_owned() }
    }

    /// The line and column of an offset, from 1.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..offset];
        let line = before.matches('\n').count() + 1;
        (line, before.chars().rev().take_while(|&c| c != '\n').count() + 1)
    }
}

/// A weight in text as 16.16 fixed point, or `None` if it is no number from 0 to below 65536.
///
/// `crushtool` reads by way of single precision and truncates, so the three digits it writes mean what it takes them for.
/// A decimal that is exactly a fixed-point number means that number, also where single precision would miss it.
pub(crate) fn weight_of(word: &str) -> Option<u32> {
    let exact = word.parse::<f64>().ok()?;
    if !(0.0..65536.0).contains(&exact) {
        return None;
    }
    let scaled = exact * 65536.0;
    if scaled.fract() == 0.0 {
        return Some(scaled as u32);
    }
    let weight = word.parse::<f32>().ok().filter(|weight| (0.0..65536.0).contains(weight))?;
    Some((weight * 65536.0) as u32)
}
