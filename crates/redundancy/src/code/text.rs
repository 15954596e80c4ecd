//! How codes are written: `rs 8+3`, `lrc 8+5 local 4`, `lrc 12+2+2`, `copies 3`, `product rs 4+2 x rs 3+1`, those of Ceph's
//! plugins, and levels joined by `over`.

use crate::{Code, CodeError};

impl TryFrom<String> for Code {
    type Error = CodeError;

    fn try_from(text: String) -> Result<Self, CodeError> {
        Code::parse(&text)
    }
}

/// The codes of the levels that `text` names, the top one first; there is at least one.
///
/// Case does not count, nor do spaces around a plus sign, so that a study file's text and a command's mean the same.
pub(crate) fn levels(text: &str) -> Result<Vec<Code>, CodeError> {
    let spaced = text.to_lowercase().replace('+', " + ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    if let Some(code) = of_plugin(&words, text) {
        return Ok(vec![code?]);
    }
    words.split(|&word| word == "over").map(|level| code(level, text)).collect()
}

/// The code of a plugin of Ceph, which is no level and no factor of another one; [`None`] where the words name none.
fn of_plugin(words: &[&str], text: &str) -> Option<Result<Code, CodeError>> {
    let number = |digits: &str| number(digits, text);
    let sizes = |data: &str, parity: &str| Ok((number(data)?, number(parity)?));
    let layer = |word: &&str| word.bytes().all(|letter| b"dc_".contains(&letter)).then(|| word.replace('d', "D"));
    Some(match *words {
        ["ceph", "lrc", data, "+", parity, "local", local] => {
            sizes(data, parity).and_then(|(data, parity)| Code::ceph_lrc(data, parity, number(local)?))
        }
        ["ceph", "lrc", ref layers @ ..] if !layers.is_empty() => {
            Code::ceph_layers(&layers.iter().map(layer).collect::<Option<Vec<_>>>()?)
        }
        ["clay", data, "+", parity] => sizes(data, parity)
            .and_then(|(data, parity)| Code::clay(data, parity, data.saturating_add(parity).saturating_sub(1))),
        ["clay", data, "+", parity, "d", helpers] => {
            sizes(data, parity).and_then(|(data, parity)| Code::clay(data, parity, number(helpers)?))
        }
        ["shec", data, "+", parity, "c", covers, ref rest @ ..] if matches!(rest, [] | ["single"]) => {
            sizes(data, parity).and_then(|(data, parity)| Code::shec(data, parity, number(covers)?, !rest.is_empty()))
        }
        _ => return None,
    })
}

fn number(digits: &str, text: &str) -> Result<u32, CodeError> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse::<u32>().ok()).flatten().ok_or_else(|| CodeError::Unreadable(text.to_owned()))
}

/// The code of one level.
fn code(words: &[&str], text: &str) -> Result<Code, CodeError> {
    let ["product", factors @ ..] = words else { return plain(words, text) };
    match factors.split(|&word| word == "x").collect::<Vec<_>>()[..] {
        [column, row] => Code::product(plain(column, text)?, plain(row, text)?),
        _ => Err(CodeError::Unreadable(text.to_owned())),
    }
}

/// A code that is not made of others.
fn plain(words: &[&str], text: &str) -> Result<Code, CodeError> {
    let unreadable = || CodeError::Unreadable(text.to_owned());
    let number = |digits: &str| number(digits, text);
    match *words {
        ["copies", copies] => Code::replication(number(copies)?),
        ["rs", data, "+", parity] => Code::reed_solomon(number(data)?, number(parity)?),
        ["lrc", data, "+", parity, "local", local] => {
            Code::locally_repairable(number(data)?, number(parity)?, number(local)?)
        }
        ["lrc", data, "+", groups, "+", globals] => {
            Code::maximally_recoverable(number(data)?, number(groups)?, number(globals)?)
        }
        _ => Err(unreadable()),
    }
}
