//! What a Ceph cluster does with its groups, through the crate's front door.

mod agents;
mod common;
mod heal;
mod map;
mod oracle;
mod stretch;
