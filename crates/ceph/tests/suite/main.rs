//! What a Ceph cluster does with its groups, through the crate's front door.

mod common;
mod heal;
mod map;
mod oracle;
