//! Walks of trees that tests make, beside what the standard library finds in them.

mod layouts;
mod trees;
