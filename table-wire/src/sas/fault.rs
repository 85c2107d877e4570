//! Faults of shared access signatures: signing, parsing, verification and use.

use table_core::ErrorCode;
use table_core::error::Fault;

/// A fault of a shared access signature, or an operation that it does not permit.
#[derive(Debug, thiserror::Error)]
pub(super) enum SasFault {
    // Signing and parsing.
    #[error("`{}` is not a signature version; use a date from 2013-08-15", .0.escape_debug())]
    Version(String),
    #[error("`{}` is not an instant in UTC; write it as `2026-11-20T08:00:00Z`", .0.escape_debug())]
    Instant(String),
    #[error("`{}` is neither `https` nor `https,http`", .0.escape_debug())]
    Protocol(String),
    #[error(
        "`{}` is neither an IPv4 address nor a range of them; write `10.0.0.1` or `10.0.0.1-10.0.0.9`",
        .0.escape_debug()
    )]
    Addresses(String),
    #[error("`{letters}` is not a set of {kind}; use the letters `{legal}`", letters = .letters.escape_debug(), legal = .legal.escape_ascii())]
    Letters { letters: String, kind: &'static str, legal: &'static [u8], rule: &'static str },
    #[error("part {0} of the token is not a query parameter `name=value`")]
    Part(usize),
    #[error("the token has `{}` twice", .0.escape_debug())]
    Twice(String),
    #[error("the token has no signature `sig`")]
    Unsigned,
    #[error("the token must have either `tn`, for a table, or `ss`, for an account")]
    Resource,
    #[error("the token is for a table or an account, not for a queue")]
    NotOfQueue,
    #[error("`{0}` of the token has a control character")]
    ControlCharacter(String),
    #[error("versions before 2015-04-05 do not sign addresses and protocols")]
    OldVersion,
    #[error("versions before 2015-04-05 have no account signatures")]
    OldVersionOfAccount,
    #[error("a signature needs permissions and an expiry, or a policy that supplies them")]
    Incomplete,
    #[error("an account signature needs services, resource types and permissions")]
    IncompleteOfAccount,
    #[error("the selection has {0} ranges, and a signature has one; sign a token for each range")]
    Ranges(usize),
    #[error("the range contains no key; choose a range with keys")]
    EmptyRange,
    #[error(
        "the range of a signature cannot restrict the rows of several partitions; sign a token for each partition"
    )]
    RowsOfPartitions,
    #[error(
        "the {end} of the range is an empty {key}, which a signature cannot distinguish from an open range; sign the whole \
         partition, or give these entities non-empty keys"
    )]
    EmptyKey { end: &'static str, key: &'static str },
    #[error("the token has `{row_key}` without `{partition_key}`")]
    RowAlone { partition_key: &'static str, row_key: &'static str },
    // Stored policies.
    #[error("the list has {count} policies, at most {most} are allowed")]
    Policies { count: usize, most: usize },
    #[error("the policy `{}` occurs twice", .0.escape_debug())]
    PolicyTwice(String),
    #[error("the name of a policy has {0} characters; 1 to 64 are allowed")]
    PolicyLength(usize),
    #[error("the name `{}` of a policy has a control character", .0.escape_debug())]
    PolicyCharacter(String),
    // Verification.
    #[error("the signature does not match this token and the keys of the account")]
    Altered,
    #[error("the token and its policy do not supply both permissions and expiry")]
    Unsupplied,
    #[error("the token and its policy both have `{0}`")]
    SaidTwice(&'static str),
    #[error("the table has no policy with the name in the token; it may have been removed or renamed")]
    NoPolicy,
    #[error("the token is not yet valid")]
    Early,
    #[error("the token has expired; request a new one")]
    Expired,
    #[error("the token does not allow this address")]
    OtherAddress,
    #[error("the token allows only HTTPS")]
    Plain,
    // Use.
    #[error("the signature is for another table")]
    OtherTable,
    #[error("the key is outside the range of the signature")]
    OutsideRange,
    #[error("the signature does not permit {operation}")]
    Permission { operation: &'static str, rule: &'static str },
    #[error("the signature does not permit operations on whole tables; use an account signature")]
    WholeTables,
    #[error("the signature is not for the table service")]
    Service,
    #[error("{0} is not covered by the resource types of the signature")]
    ResourceType(&'static str),
}

impl Fault for SasFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::Instant(_)
            | Self::Protocol(_)
            | Self::Addresses(_)
            | Self::Part(_)
            | Self::Unsigned
            | Self::NotOfQueue
            | Self::Resource => (ErrorCode::InvalidInput, "SAS-1"),
            Self::ControlCharacter(_) => (ErrorCode::InvalidInput, "SAS-2"),
            Self::Version(_) | Self::OldVersion => (ErrorCode::InvalidInput, "SAS-4"),
            Self::Ranges(_) | Self::EmptyRange | Self::RowsOfPartitions | Self::EmptyKey { .. } => {
                (ErrorCode::InvalidInput, "SAS-6")
            }
            Self::Incomplete => (ErrorCode::InvalidInput, "SAS-10"),
            Self::OldVersionOfAccount | Self::IncompleteOfAccount => (ErrorCode::InvalidInput, "ASAS-1"),
            Self::Letters { rule, .. } => (ErrorCode::InvalidInput, *rule),
            Self::Policies { .. }
            | Self::PolicyTwice(_)
            | Self::PolicyLength(_)
            | Self::PolicyCharacter(_) => (ErrorCode::InvalidInput, "ACL-2"),
            Self::RowAlone { .. } => (ErrorCode::AuthenticationFailed, "SAS-7"),
            Self::Unsupplied | Self::SaidTwice(_) => (ErrorCode::AuthenticationFailed, "SAS-10"),
            // With two values, one could be signed and the other used.
            Self::Twice(_) => (ErrorCode::AuthenticationFailed, "SAS-1"),
            Self::Altered | Self::Early | Self::Expired => (ErrorCode::AuthenticationFailed, "SAS-11"),
            Self::NoPolicy => (ErrorCode::AuthenticationFailed, "ACL-4"),
            Self::OtherAddress => (ErrorCode::AuthorizationSourceIPMismatch, "ASAS-5"),
            Self::Plain => (ErrorCode::AuthorizationProtocolMismatch, "ASAS-5"),
            Self::OtherTable => (ErrorCode::AuthorizationFailure, "SAS-11"),
            Self::OutsideRange => (ErrorCode::AuthorizationFailure, "SAS-8"),
            Self::Permission { rule, .. } => (ErrorCode::AuthorizationPermissionMismatch, *rule),
            Self::WholeTables => (ErrorCode::AuthorizationPermissionMismatch, "SAS-5"),
            Self::Service => (ErrorCode::AuthorizationServiceMismatch, "ASAS-5"),
            Self::ResourceType(_) => (ErrorCode::AuthorizationResourceTypeMismatch, "ASAS-5"),
        };
        (code, Some(rule))
    }
}
