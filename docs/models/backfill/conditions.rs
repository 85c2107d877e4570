//! The conditions of the backfill's protocol. For each condition, the model runs once without it.

pub(super) const CONDITIONS: [&str; 22] = [
    "an older program leaves a sighting before it writes",
    "an older program reads the schema again after its sighting",
    "a program checks its lease when it sends a request",
    "the store refuses requests with the date of another time",
    "the backfill waits for requests from before its first run",
    "older programs are refused before the last sighting is read",
    "a run that finds older programs refused reads the last sighting, too",
    "a run ends only the refusal that it has seen",
    "the pass follows the fence",
    "newer programs maintain the index before it is ready",
    "an entry is written under the version of its entity",
    "a grant is recorded before its bearer writes",
    "the schema is read again after a grant is recorded",
    "the store refuses a signature after its expiry",
    "the later expiry of two grants remains",
    "a run records only positions of its own pass",
    "a run completes only its own pass",
    "a release builds only the index that it declares",
    "an entry is marked before it is deleted",
    "the entity is read again after its entry is marked",
    "a pass writes a marked entry again",
    "an entry is deleted under its version",
];

pub(super) const SIGHTING: usize = 0;
pub(super) const READS_AGAIN: usize = 1;
pub(super) const LEASE_AT_SEND: usize = 2;
pub(super) const STORE_REFUSES: usize = 3;
pub(super) const FIRST_RUN: usize = 4;
pub(super) const REFUSED_FIRST: usize = 5;
pub(super) const CHECKS_AGAIN: usize = 6;
pub(super) const TOKEN: usize = 7;
pub(super) const PASS_LAST: usize = 8;
pub(super) const MAINTAINED: usize = 9;
pub(super) const VERSIONED: usize = 10;
pub(super) const GRANT_RECORDED: usize = 11;
pub(super) const GRANT_READS_AGAIN: usize = 12;
pub(super) const EXPIRES: usize = 13;
pub(super) const LATER_EXPIRY: usize = 14;
pub(super) const OWN_POSITION: usize = 15;
pub(super) const OWN_COMPLETION: usize = 16;
pub(super) const DECLARED: usize = 17;
pub(super) const MARKED: usize = 18;
pub(super) const JUDGED_AGAIN: usize = 19;
pub(super) const RESTORED: usize = 20;
pub(super) const ENTRY_VERSION: usize = 21;
/// The condition that each refusal of older programs has a unique number.
///
/// Without this condition, or without one of the following, random runs rarely fail. A test therefore contains the seed of a run that fails.
pub(super) const UNIQUE: usize = 22;
/// The condition for recording a first run of a backfill. The schema that the run has read must still be stored.
pub(super) const SEEN_FIRST: usize = 23;
/// The condition for beginning or continuing a pass. The schema that the run has read must still be stored.
pub(super) const SEEN_POSITION: usize = 24;
/// The condition that a run identifies a schema by its generation. The schema itself is not sufficient, because an earlier one can be stored again.
pub(super) const GENERATION: usize = 25;
