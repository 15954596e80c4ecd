//! Maps read from JSON, text and bytes, and written as these.

pub(super) mod binary;
pub(super) mod draft;
pub(super) mod json;
pub(super) mod json_trees;
pub(super) mod lexer;
pub(super) mod text;
pub(super) mod text_rule;
pub(super) mod write;
pub(super) mod write_binary;
pub(super) mod write_json;
