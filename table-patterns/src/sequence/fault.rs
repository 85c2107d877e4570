//! Sequence errors: invalid names, stored rows and numbers.

use table_core::Fault;

/// An error from allocating or setting the numbers of a sequence.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput)]
pub(super) enum SequenceFault {
    #[error("the name of a sequence must not be empty")]
    NoName,
    #[error("the row of a sequence must have `{property}`: Int64 above 0, found {found}")]
    #[fault(Corrupted)]
    Row { property: &'static str, found: String },
    #[error("cannot take {count} numbers from {next}; take at least one, and none above {last}", last = i64::MAX - 1)]
    Count { count: u64, next: i64 },
    #[error("the next number cannot be {0}; set one from 1 to {last}", last = i64::MAX)]
    Next(u64),
    #[error(
        "the sequence belongs to `{owner}`, not to `{entity}`; give each entity type its own sequence name, or take over the sequence with \
         `GaplessSequence::set`"
    )]
    #[fault(SchemaMismatch, "PAT-INTER-3")]
    OtherOwner { owner: String, entity: &'static str },
    #[error("the sequence has reached {number}, which exceeds {target}")]
    TooLarge { number: u64, target: &'static str },
}
