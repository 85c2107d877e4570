//! Error codes: the service's codes (ERR-3) and additional codes of this library.

use std::fmt;

/// The code of an error. A code that the service also defines has the service's name (ERR-3).
///
/// ```
/// use table_core::ErrorCode;
///
/// assert_eq!(ErrorCode::TableNotFound.as_str(), "TableNotFound");
/// assert_eq!(ErrorCode::TableNotFound.status(), 404);
/// assert_eq!(ErrorCode::from_service("EntityNotFound"), Some(ErrorCode::ResourceNotFound));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A table with this name exists. Names are case-insensitive (OPT-2).
    TableAlreadyExists,
    /// The table is being deleted (OPT-4).
    TableBeingDeleted,
    /// An operation on entities failed because the table does not exist (OPT-6).
    TableNotFound,
    /// An insert failed because an entity with the same key exists (INS-1).
    EntityAlreadyExists,
    /// The entity, or the table to delete, does not exist (GET-2, OPT-3).
    ResourceNotFound,
    /// The given `ETag` is stale (UPD-3).
    UpdateConditionNotSatisfied,
    /// A key is missing or null (KEY-1).
    PropertiesNeedValue,
    /// A property value or a key is too long (TYPE-10, KEY-8).
    PropertyValueTooLarge,
    /// The entity is larger than 1 MiB (SIZE-1).
    EntityTooLarge,
    /// The entity has more than 252 custom properties (ENT-2).
    TooManyProperties,
    /// A property name is not an identifier (PROP-3).
    PropertyNameInvalid,
    /// A property name is longer than 255 code units (PROP-2).
    PropertyNameTooLong,
    /// The entity has two properties with the same name (PROP-6).
    DuplicatePropertiesSpecified,
    /// A key contains an illegal character, a date is out of range, or a table name is too short or too long (KEY-4, TYPE-6, TBL-4).
    OutOfRangeInput,
    /// The input is malformed. The cause is a body, filter, `$top`, `ETag` or continuation token, or a transaction with more than 100 operations.
    InvalidInput,
    /// A value has the wrong type.
    InvalidValueType,
    /// The table name is illegal (TBL-4).
    InvalidResourceName,
    /// A transaction writes the same entity twice (EGT-4).
    InvalidDuplicateRow,
    /// A transaction writes to more than one partition (EGT-5).
    CommandsInBatchActOnDifferentPartitions,
    /// The service does not support the query option or filter (QRY-2, FIL-4).
    NotImplemented,
    /// The request is larger than 4 MiB (REQ-7, EGT-3).
    RequestBodyTooLarge,
    /// The signature is wrong, the clocks differ too much, or the token has expired.
    AuthenticationFailed,
    /// The credential does not allow access to this table or key (SAS-8).
    AuthorizationFailure,
    /// The SAS does not permit this operation (SAS-11).
    AuthorizationPermissionMismatch,
    /// The account SAS does not allow this service (ASAS-5).
    AuthorizationServiceMismatch,
    /// The account SAS does not allow this resource type (ASAS-5).
    AuthorizationResourceTypeMismatch,
    /// The SAS does not allow this protocol (ASAS-5).
    AuthorizationProtocolMismatch,
    /// The SAS does not allow this IP address (ASAS-5).
    AuthorizationSourceIPMismatch,
    /// No response arrived in time. The outcome of a write is unknown (CON-11).
    OperationTimedOut,
    /// The backend failed internally.
    InternalError,
    /// The request was throttled. Retry with backoff (SCL-3).
    ServerBusy,
    /// The queue does not exist (QUE-3).
    QueueNotFound,
    /// A queue with this name but different metadata exists (QUE-3).
    QueueAlreadyExists,
    /// The queue is being deleted (QUE-15).
    QueueBeingDeleted,
    /// The message was deleted, or its time to live has expired (QUE-13).
    MessageNotFound,
    /// The message was received again or updated, so the pop receipt is no longer valid (QUE-13).
    PopReceiptMismatch,
    /// A duration or count in a queue operation is out of range (QUE-8, QUE-9).
    OutOfRangeQueryParameterValue,
    /// The message would be hidden for its entire time to live (QUE-8).
    InvalidQueryParameterValue,
    /// The blob does not exist (BLB-2).
    BlobNotFound,
    /// A value cannot be encoded in a key. Nothing was sent.
    KeyEncoding,
    /// A stored entity does not match the program's entity type. The entity was not changed.
    EntityMismatch,
    /// The program's schema is incompatible with the stored schema (EVO rules). No row was changed.
    SchemaMismatch,
    /// Another entity has the same value in a unique index. Nothing was written (PAT-INTRA-5).
    UniqueViolation,
    /// An index list is full. Nothing was written. Entries are never dropped (PAT-IX-4).
    IndexListFull,
    /// The index cannot be read, because it is still being built or is disabled.
    IndexNotReady,
    /// A workload cannot be simulated: it has an unknown field, pattern or layout, a negative rate, or no operations.
    InvalidWorkload,
    /// A dry run costs more than the budget set by its test (design promise 7). Nothing was sent.
    OverBudget,
    /// The backend does not support the operation.
    Unsupported,
    /// Stored bytes are corrupted. The message states their location.
    Corrupted,
    /// An earlier write could not be made durable. Reopen the engine to recover (CON-1).
    EnginePoisoned,
    /// The engine has been closed.
    EngineClosed,
    /// The folder is already open in another process or handle.
    FolderLocked,
    /// The folder contains another program's files or an incomplete database. It was not changed.
    FolderNotOurs,
    /// The engine was opened read-only, or the folder is a backup. Nothing was written.
    ReadOnly,
    /// The folder was written by a newer version of this library. It was not changed.
    FormatTooNew,
    /// The folder's format is too old for this version. The folder was not changed.
    FormatTooOld,
    /// The disk is full. Nothing was written. Reads continue, and writes resume when space is available.
    DiskFull,
    /// The operating system reported an error, such as a permission error or a device failure.
    Io,
}

impl ErrorCode {
    /// Returns the name of the code, as the service spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TableAlreadyExists => "TableAlreadyExists",
            Self::TableBeingDeleted => "TableBeingDeleted",
            Self::TableNotFound => "TableNotFound",
            Self::EntityAlreadyExists => "EntityAlreadyExists",
            Self::ResourceNotFound => "ResourceNotFound",
            Self::UpdateConditionNotSatisfied => "UpdateConditionNotSatisfied",
            Self::PropertiesNeedValue => "PropertiesNeedValue",
            Self::PropertyValueTooLarge => "PropertyValueTooLarge",
            Self::EntityTooLarge => "EntityTooLarge",
            Self::TooManyProperties => "TooManyProperties",
            Self::PropertyNameInvalid => "PropertyNameInvalid",
            Self::PropertyNameTooLong => "PropertyNameTooLong",
            Self::DuplicatePropertiesSpecified => "DuplicatePropertiesSpecified",
            Self::OutOfRangeInput => "OutOfRangeInput",
            Self::InvalidInput => "InvalidInput",
            Self::InvalidValueType => "InvalidValueType",
            Self::InvalidResourceName => "InvalidResourceName",
            Self::InvalidDuplicateRow => "InvalidDuplicateRow",
            Self::CommandsInBatchActOnDifferentPartitions => "CommandsInBatchActOnDifferentPartitions",
            Self::NotImplemented => "NotImplemented",
            Self::RequestBodyTooLarge => "RequestBodyTooLarge",
            Self::AuthenticationFailed => "AuthenticationFailed",
            Self::AuthorizationFailure => "AuthorizationFailure",
            Self::AuthorizationPermissionMismatch => "AuthorizationPermissionMismatch",
            Self::AuthorizationServiceMismatch => "AuthorizationServiceMismatch",
            Self::AuthorizationResourceTypeMismatch => "AuthorizationResourceTypeMismatch",
            Self::AuthorizationProtocolMismatch => "AuthorizationProtocolMismatch",
            Self::AuthorizationSourceIPMismatch => "AuthorizationSourceIPMismatch",
            Self::OperationTimedOut => "OperationTimedOut",
            Self::InternalError => "InternalError",
            Self::ServerBusy => "ServerBusy",
            Self::QueueNotFound => "QueueNotFound",
            Self::QueueAlreadyExists => "QueueAlreadyExists",
            Self::QueueBeingDeleted => "QueueBeingDeleted",
            Self::MessageNotFound => "MessageNotFound",
            Self::PopReceiptMismatch => "PopReceiptMismatch",
            Self::OutOfRangeQueryParameterValue => "OutOfRangeQueryParameterValue",
            Self::InvalidQueryParameterValue => "InvalidQueryParameterValue",
            Self::BlobNotFound => "BlobNotFound",
            Self::KeyEncoding => "KeyEncoding",
            Self::EntityMismatch => "EntityMismatch",
            Self::SchemaMismatch => "SchemaMismatch",
            Self::UniqueViolation => "UniqueViolation",
            Self::IndexListFull => "IndexListFull",
            Self::IndexNotReady => "IndexNotReady",
            Self::InvalidWorkload => "InvalidWorkload",
            Self::OverBudget => "OverBudget",
            Self::Unsupported => "Unsupported",
            Self::Corrupted => "Corrupted",
            Self::EnginePoisoned => "EnginePoisoned",
            Self::EngineClosed => "EngineClosed",
            Self::FolderLocked => "FolderLocked",
            Self::FolderNotOurs => "FolderNotOurs",
            Self::ReadOnly => "ReadOnly",
            Self::FormatTooNew => "FormatTooNew",
            Self::FormatTooOld => "FormatTooOld",
            Self::DiskFull => "DiskFull",
            Self::Io => "Io",
        }
    }

    /// Returns the HTTP status of the code (ERR-3). A code that only this library defines has the closest matching status, often 500.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::PropertiesNeedValue
            | Self::PropertyValueTooLarge
            | Self::EntityTooLarge
            | Self::TooManyProperties
            | Self::PropertyNameInvalid
            | Self::PropertyNameTooLong
            | Self::DuplicatePropertiesSpecified
            | Self::OutOfRangeInput
            | Self::InvalidInput
            | Self::InvalidValueType
            | Self::InvalidResourceName
            | Self::InvalidDuplicateRow
            | Self::CommandsInBatchActOnDifferentPartitions
            | Self::PopReceiptMismatch
            | Self::OutOfRangeQueryParameterValue
            | Self::InvalidQueryParameterValue
            | Self::KeyEncoding
            | Self::EntityMismatch
            | Self::SchemaMismatch
            | Self::InvalidWorkload
            | Self::OverBudget => 400,
            Self::AuthenticationFailed
            | Self::AuthorizationFailure
            | Self::AuthorizationPermissionMismatch
            | Self::AuthorizationServiceMismatch
            | Self::AuthorizationResourceTypeMismatch
            | Self::AuthorizationProtocolMismatch
            | Self::AuthorizationSourceIPMismatch => 403,
            Self::TableNotFound
            | Self::ResourceNotFound
            | Self::QueueNotFound
            | Self::MessageNotFound
            | Self::BlobNotFound => 404,
            Self::TableAlreadyExists
            | Self::TableBeingDeleted
            | Self::EntityAlreadyExists
            | Self::QueueAlreadyExists
            | Self::QueueBeingDeleted
            | Self::UniqueViolation
            | Self::IndexListFull
            | Self::IndexNotReady => 409,
            Self::UpdateConditionNotSatisfied => 412,
            Self::RequestBodyTooLarge => 413,
            Self::OperationTimedOut
            | Self::InternalError
            | Self::Corrupted
            | Self::EnginePoisoned
            | Self::EngineClosed
            | Self::FolderLocked
            | Self::FolderNotOurs
            | Self::FormatTooNew
            | Self::FormatTooOld
            | Self::DiskFull
            | Self::Io => 500,
            Self::NotImplemented | Self::Unsupported | Self::ReadOnly => 501,
            Self::ServerBusy => 503,
        }
    }

    /// Parses an error code sent by a service. Documented synonyms are accepted. Returns `None` if the code is unknown (ERR-4).
    #[must_use]
    pub fn from_service(code: &str) -> Option<Self> {
        Some(match code {
            "TableAlreadyExists" => Self::TableAlreadyExists,
            "TableBeingDeleted" => Self::TableBeingDeleted,
            "TableNotFound" => Self::TableNotFound,
            "EntityAlreadyExists" => Self::EntityAlreadyExists,
            "ResourceNotFound" | "EntityNotFound" => Self::ResourceNotFound,
            "UpdateConditionNotSatisfied" | "ConditionNotMet" => Self::UpdateConditionNotSatisfied,
            "PropertiesNeedValue" => Self::PropertiesNeedValue,
            "PropertyValueTooLarge" | "KeyValueTooLarge" => Self::PropertyValueTooLarge,
            "EntityTooLarge" => Self::EntityTooLarge,
            "TooManyProperties" => Self::TooManyProperties,
            "PropertyNameInvalid" => Self::PropertyNameInvalid,
            "PropertyNameTooLong" => Self::PropertyNameTooLong,
            "DuplicatePropertiesSpecified" => Self::DuplicatePropertiesSpecified,
            "OutOfRangeInput" => Self::OutOfRangeInput,
            "InvalidInput" => Self::InvalidInput,
            "InvalidValueType" => Self::InvalidValueType,
            "InvalidResourceName" => Self::InvalidResourceName,
            "InvalidDuplicateRow" => Self::InvalidDuplicateRow,
            "CommandsInBatchActOnDifferentPartitions" => Self::CommandsInBatchActOnDifferentPartitions,
            "NotImplemented" => Self::NotImplemented,
            "RequestBodyTooLarge" => Self::RequestBodyTooLarge,
            "AuthenticationFailed" => Self::AuthenticationFailed,
            "AuthorizationFailure" => Self::AuthorizationFailure,
            "AuthorizationPermissionMismatch" => Self::AuthorizationPermissionMismatch,
            "AuthorizationServiceMismatch" => Self::AuthorizationServiceMismatch,
            "AuthorizationResourceTypeMismatch" => Self::AuthorizationResourceTypeMismatch,
            "AuthorizationProtocolMismatch" => Self::AuthorizationProtocolMismatch,
            "AuthorizationSourceIPMismatch" => Self::AuthorizationSourceIPMismatch,
            "OperationTimedOut" => Self::OperationTimedOut,
            "InternalError" => Self::InternalError,
            "ServerBusy" => Self::ServerBusy,
            "QueueNotFound" => Self::QueueNotFound,
            "QueueAlreadyExists" => Self::QueueAlreadyExists,
            "QueueBeingDeleted" => Self::QueueBeingDeleted,
            "MessageNotFound" => Self::MessageNotFound,
            "PopReceiptMismatch" => Self::PopReceiptMismatch,
            "OutOfRangeQueryParameterValue" => Self::OutOfRangeQueryParameterValue,
            "InvalidQueryParameterValue" => Self::InvalidQueryParameterValue,
            "BlobNotFound" => Self::BlobNotFound,
            _ => return None,
        })
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Compares the code with a string. They are equal only if the string is the code's name.
///
/// ```
/// use table_core::ErrorCode;
///
/// assert!(ErrorCode::EntityAlreadyExists == "EntityAlreadyExists");
/// assert!(ErrorCode::EntityAlreadyExists != "AlreadyExists");
/// ```
impl PartialEq<&str> for ErrorCode {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}
