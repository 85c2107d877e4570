//! Errors in signing, parsing, verifying and using shared access signatures.

use table_core::Fault;

/// An error in a shared access signature, or an operation not permitted by it.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum SasFault {
    // Signing and parsing errors.
    #[error("`{}` is not a signature version; use a date from 2013-08-15", .0.escape_debug())]
    #[fault(InvalidInput, "SAS-4")]
    Version(String),
    #[error("`{}` is not an instant in UTC; write it as `2026-11-20T08:00:00Z`", .0.escape_debug())]
    #[fault(InvalidInput, "SAS-1")]
    Instant(String),
    #[error("`{}` is neither `https` nor `https,http`", .0.escape_debug())]
    #[fault(InvalidInput, "SAS-1")]
    Protocol(String),
    #[error(
        "`{}` is neither an IPv4 address nor a range of them; write `10.0.0.1` or `10.0.0.1-10.0.0.9`",
        .0.escape_debug()
    )]
    #[fault(InvalidInput, "SAS-1")]
    Addresses(String),
    #[error("`{letters}` is not a set of {kind}; use the letters `{legal}`", letters = .letters.escape_debug(), legal = .legal.escape_ascii())]
    #[fault(InvalidInput, rule)]
    Letters { letters: String, kind: &'static str, legal: &'static [u8], rule: &'static str },
    #[error("part {0} of the token is not a query parameter `name=value`")]
    #[fault(InvalidInput, "SAS-1")]
    Part(usize),
    // If a name had two values, the signature might cover one while the server uses the other.
    #[error("the token has `{}` twice", .0.escape_debug())]
    #[fault(AuthenticationFailed, "SAS-1")]
    Twice(String),
    #[error("the token has no signature `sig`")]
    #[fault(InvalidInput, "SAS-1")]
    Unsigned,
    #[error("the token must have either `tn`, for a table, or `ss`, for an account")]
    #[fault(InvalidInput, "SAS-1")]
    Resource,
    #[error("the token is for a table or an account, not for a queue")]
    #[fault(InvalidInput, "SAS-1")]
    NotOfQueue,
    #[error("`{0}` of the token contains a control character")]
    #[fault(InvalidInput, "SAS-2")]
    ControlCharacter(String),
    #[error("versions before 2015-04-05 do not sign addresses and protocols")]
    #[fault(InvalidInput, "SAS-4")]
    OldVersion,
    #[error("versions before 2015-04-05 have no account signatures")]
    #[fault(InvalidInput, "ASAS-1")]
    OldVersionOfAccount,
    #[error("a signature needs permissions and an expiry, or a policy that supplies them")]
    #[fault(InvalidInput, "SAS-10")]
    Incomplete,
    #[error("an account signature needs services, resource types and permissions")]
    #[fault(InvalidInput, "ASAS-1")]
    IncompleteOfAccount,
    #[error("the selection has {0} ranges, and a signature has one; sign a token for each range")]
    #[fault(InvalidInput, "SAS-6")]
    Ranges(usize),
    #[error("the range contains no key; choose a range with keys")]
    #[fault(InvalidInput, "SAS-6")]
    EmptyRange,
    #[error(
        "the range of a signature cannot restrict the rows of several partitions; sign a token for each partition"
    )]
    #[fault(InvalidInput, "SAS-6")]
    RowsOfPartitions,
    #[error(
        "the {end} of the range is an empty {key}, which a signature cannot distinguish from an open range; sign the whole \
         partition, or give these entities non-empty keys"
    )]
    #[fault(InvalidInput, "SAS-6")]
    EmptyKey { end: &'static str, key: &'static str },
    #[error("the token has `{row_key}` without `{partition_key}`")]
    #[fault(AuthenticationFailed, "SAS-7")]
    RowAlone { partition_key: &'static str, row_key: &'static str },
    // Stored policy errors.
    #[error("the list has {count} policies, at most {most} are allowed")]
    #[fault(InvalidInput, "ACL-2")]
    Policies { count: usize, most: usize },
    #[error("the policy `{}` occurs twice", .0.escape_debug())]
    #[fault(InvalidInput, "ACL-2")]
    PolicyTwice(String),
    #[error("the name of a policy has {0} characters; 1 to 64 are allowed")]
    #[fault(InvalidInput, "ACL-2")]
    PolicyLength(usize),
    #[error("the policy name `{}` contains a control character", .0.escape_debug())]
    #[fault(InvalidInput, "ACL-2")]
    PolicyCharacter(String),
    // Verification errors.
    #[error("the signature does not match this token and the keys of the account")]
    #[fault(AuthenticationFailed, "SAS-11")]
    Altered,
    #[error("the token and its policy do not supply both permissions and expiry")]
    #[fault(AuthenticationFailed, "SAS-10")]
    Unsupplied,
    #[error("the token and its policy both have `{0}`")]
    #[fault(AuthenticationFailed, "SAS-10")]
    SaidTwice(&'static str),
    #[error("the table has no policy with the name in the token; it may have been removed or renamed")]
    #[fault(AuthenticationFailed, "ACL-4")]
    NoPolicy,
    #[error("the token is not yet valid")]
    #[fault(AuthenticationFailed, "SAS-11")]
    Early,
    #[error("the token has expired; request a new one")]
    #[fault(AuthenticationFailed, "SAS-11")]
    Expired,
    #[error("the token does not allow this address")]
    #[fault(AuthorizationSourceIPMismatch, "ASAS-5")]
    OtherAddress,
    #[error("the token allows only HTTPS")]
    #[fault(AuthorizationProtocolMismatch, "ASAS-5")]
    Plain,
    // Authorization errors.
    #[error("the signature is for another table")]
    #[fault(AuthorizationFailure, "SAS-11")]
    OtherTable,
    #[error("the key is outside the range of the signature")]
    #[fault(AuthorizationFailure, "SAS-8")]
    OutsideRange,
    #[error("the signature does not permit {operation}")]
    #[fault(AuthorizationPermissionMismatch, rule)]
    Permission { operation: &'static str, rule: &'static str },
    #[error("the signature does not permit operations on whole tables; use an account signature")]
    #[fault(AuthorizationFailure, "SAS-5")]
    WholeTables,
    #[error("the signature is not for the table service")]
    #[fault(AuthorizationServiceMismatch, "ASAS-5")]
    Service,
    #[error("{0} is not covered by the resource types of the signature")]
    #[fault(AuthorizationResourceTypeMismatch, "ASAS-5")]
    ResourceType(&'static str),
}
