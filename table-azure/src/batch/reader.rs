//! The answer to a batch, read.

pub(super) use table_wire::batch::{ResponsePart as Part, read_responses as read_parts};
#[cfg(test)]
pub(super) use table_wire::batch::{Split, split};
