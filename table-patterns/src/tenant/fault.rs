//! Tenant errors: incomplete registrations, and lines that cannot be imported.

use table_core::Fault;
use table_core::name::TableName;
use table_core::schema::Evolution;

/// The reason why a registration, an export or an import is refused.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum TenantFault {
    #[error(
        "the selection covers part of a partition; select a whole partition, or all partitions with a prefix of levels"
    )]
    #[fault(InvalidInput)]
    NotWhole,
    #[error(
        "`{0}` shares the table and has rows elsewhere; register its handle with `Tenant::with_entities`, too"
    )]
    #[fault(InvalidInput)]
    Unregistered(&'static str),
    #[cfg(feature = "blobs")]
    #[error(
        "the table of `{0}` is not registered; call `Tenant::with_entities` or `Tenant::with_periods` for the type before `Tenant::with_blobs`"
    )]
    #[fault(InvalidInput)]
    UnregisteredBlobs(&'static str),
    #[error(
        "the row names the blob `{0}`, whose store is not registered; register it with `Tenant::with_blobs`"
    )]
    #[fault(InvalidInput)]
    UnknownBlob(String),
    #[error("the target is not empty; erase it first, or continue an earlier import with `Import::resume`")]
    #[fault(EntityAlreadyExists)]
    NotEmpty,
    #[cfg(feature = "blobs")]
    #[error(
        "the blob store of the target has blobs of the tenant in `{0}`, or will get them there: an erasure of the tenant in another table store would delete them; \
         give the target another container, or another folder by `object_store::prefix::PrefixStore`"
    )]
    #[fault(EntityAlreadyExists)]
    SharedBlobs(String),
    #[error("line {line} is not a line of an export")]
    #[fault(InvalidInput)]
    Line { line: u64, source: serde_json::Error },
    #[error("line {line} is not expected here; an export begins with its header and ends with its last line")]
    #[fault(InvalidInput)]
    Order { line: u64 },
    #[cfg(feature = "blobs")]
    #[error(
        "the part at byte {from} of the blob `{name}` does not follow the parts before it; push the export again from the first part of the blob"
    )]
    #[fault(InvalidInput)]
    Part { name: String, from: u64 },
    #[error("the export has format {found}, but this program supports {known}; update the program")]
    #[fault(FormatTooNew)]
    Format { found: u32, known: u32 },
    #[error(
        "the export contains {found} tables and ranges of partitions, but the tenant registers {own}; register the same ones in the same order"
    )]
    #[fault(InvalidInput)]
    Places { found: usize, own: usize },
    #[error(
        "entry {place} of the export is table `{found}`, but the tenant registers another table there; register the same tables in the same order"
    )]
    #[fault(InvalidInput)]
    OtherTable { place: usize, found: TableName },
    #[error(
        "place {place} of the export has other partitions than the tenant; select them in the same way, by partition or by prefix"
    )]
    #[fault(InvalidInput)]
    OtherPartitions { place: usize },
    #[error("the row is outside the partitions of the export")]
    #[fault(InvalidInput)]
    Outside,
    #[cfg(feature = "blobs")]
    #[error("the blob `{0}` is outside the partitions of the export")]
    #[fault(InvalidInput)]
    BlobOutside(String),
    #[error(
        "the exported rows of `{entity}` have another schema, and this program could not read them: {change}; import them with a release that declares the \
         exported schema, then change the schema"
    )]
    #[fault(SchemaMismatch)]
    OtherSchema {
        entity: &'static str,
        change: String,
        #[source]
        evolution: Evolution,
    },
    #[error(
        "another imported entity has the same value in unique index `{index}`; change one of them, and call `finish` again"
    )]
    #[fault(UniqueViolation, "PAT-INTRA-5")]
    Duplicate { index: &'static str },
    #[error(
        "the partition has recorded steps, which name it; run a worker until they are done, then export the partition again"
    )]
    #[fault(InvalidInput)]
    Pending,
    #[error(
        "the row records a step with a seal, but no registered handle has an outbox; register a type of the table with `EntityStore::entities_with_outbox`, or run a worker until the steps are done"
    )]
    #[fault(InvalidInput, "PAT-EC-4")]
    NoOutbox,
    #[error(
        "the RowKey or a row of `{0}` contains the partition; import it under the name from which it was exported"
    )]
    #[fault(InvalidInput)]
    Bound(String),
    #[error(
        "the row belongs to no registered type, and its RowKey or one of its strings contains the PartitionKey; register its type, or import it under the name \
         from which it was exported"
    )]
    #[fault(InvalidInput)]
    BoundRow,
    #[error("the export is incomplete; its last line is missing")]
    #[fault(InvalidInput)]
    Incomplete,
    #[error(
        "the export has {exported} rows, but only {pushed} were pushed; push all of its lines, or continue an earlier import with `Import::resume`"
    )]
    #[fault(InvalidInput)]
    MissingRows { pushed: u64, exported: u64 },
    #[error(
        "the export has {exported} blobs, but only {pushed} were pushed; push all of its lines, or continue an earlier import with `Import::resume`"
    )]
    #[fault(InvalidInput)]
    MissingBlobs { pushed: u64, exported: u64 },
    #[error(
        "the last part of the blob `{name}` is missing; push the export again from the first part of the blob"
    )]
    #[fault(InvalidInput)]
    LastPart { name: String },
    #[error(
        "the store can neither represent some rows of the tenant nor return their keys, so they may lack derived rows; correct or delete them with another program, and \
         call `finish` again"
    )]
    #[fault(EntityMismatch)]
    Omitted,
    #[error("the position belongs to another tenant; start the export from the beginning")]
    #[fault(InvalidInput)]
    Position,
    #[error(
        "a newer program keeps rows of `{entity}` in other partitions or tables, which this program does not know: {part}; run the newer program"
    )]
    #[fault(SchemaMismatch)]
    Newer { entity: &'static str, part: String },
    #[error(
        "{0} rows are left after three passes; stop the writers of the tenant, correct rows that the store cannot represent with another program, and erase it again"
    )]
    #[fault(UpdateConditionNotSatisfied)]
    Left(u64),
}
