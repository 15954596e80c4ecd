//! Maps read from JSON, text and bytes, and written as these.

pub(crate) mod binary;
pub(crate) mod json;
pub(crate) mod json_trees;
pub(crate) mod lexer;
pub(crate) mod text;
pub(crate) mod text_rule;
pub(crate) mod write;
pub(crate) mod write_binary;
pub(crate) mod write_json;
