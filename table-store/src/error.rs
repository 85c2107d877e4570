//! The error type: code, location, violated rule, and predicates.

mod code;
mod convert;
mod display;
mod fault;
mod refused;
mod shortened;
#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::sync::Arc;

pub use code::ErrorCode;
pub use fault::Fault;
#[doc(hidden)]
pub use shortened::quoted;
pub use table_derive::Fault;

/// A `Result` with this crate's [`Error`].
///
/// ```
/// use table_core::{Result, RowKey};
///
/// fn comment(ticket: u32, number: u32) -> Result<RowKey> {
///     RowKey::new(format!("ticket_{ticket:06}_{number:04}"))
/// }
///
/// assert_eq!(comment(5, 2)?.as_str(), "ticket_000005_0002");
/// # Result::<()>::Ok(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error type of every store. It contains an [`ErrorCode`], a message, the violated rule, and the affected table, key and operation.
///
/// Cloning is cheap. To handle an error, test it with a predicate such as [`is_not_found`](Error::is_not_found), or match on [`code`](Error::code). The message
/// is for humans and may change.
///
/// ```
/// use table_core::{Error, ErrorCode};
///
/// let error = Error::new(ErrorCode::EntityAlreadyExists, "the entity exists already").with_rule("INS-1").with_table("Employee");
/// assert!(error.is_already_exists());
/// assert_eq!(error.to_string(), "EntityAlreadyExists: the entity exists already (table `Employee`; rule INS-1)");
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    code: ErrorCode,
    fault: Arc<dyn Fault>,
    /// Text printed before the message, such as the property name.
    context: String,
    rule: Option<&'static str>,
    table: Option<String>,
    key: Option<(String, String)>,
    operation: Option<usize>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Creates an error from a code and a message. The message states the problem and how to solve it, in lower case and without a full stop. A module with
    /// several errors should define an enum that derives [`Fault`] instead.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::of(Plain { code, message: message.into() })
    }

    /// Converts a fault into an error with the fault's message, source, code and rule.
    #[cold]
    pub fn of(fault: impl Fault) -> Self {
        let (code, rule) = fault.code_and_rule();
        Self(Arc::new(Inner {
            code,
            fault: Arc::new(fault),
            context: String::new(),
            rule,
            table: None,
            key: None,
            operation: None,
            source: None,
        }))
    }

    fn edit(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Adds the number of the violated rule, such as `KEY-3`.
    #[must_use]
    pub fn with_rule(self, rule: &'static str) -> Self {
        self.edit(|inner| inner.rule = Some(rule))
    }

    /// Adds the name of the table.
    #[must_use]
    pub fn with_table(self, table: impl Into<String>) -> Self {
        self.edit(|inner| inner.table = Some(table.into()))
    }

    /// Adds the key of the entity.
    #[must_use]
    pub fn with_key(self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        self.edit(|inner| inner.key = Some((partition_key.into(), row_key.into())))
    }

    /// Prefixes the message with a property name.
    #[must_use]
    pub fn with_property(self, name: &str) -> Self {
        self.edit(|inner| inner.context.insert_str(0, &format!("property `{}`: ", quoted(name))))
    }

    /// Prefixes the message with context, such as the failed action and the queue name.
    #[must_use]
    pub fn with_context(self, what: &str) -> Self {
        self.edit(|inner| inner.context.insert_str(0, &format!("{what}: ")))
    }

    /// Adds the zero-based index of the failed operation within its transaction (IMP-3, EGT-34).
    #[must_use]
    pub fn with_operation(self, index: usize) -> Self {
        self.edit(|inner| inner.operation = Some(index))
    }

    /// Adds the error that caused this one, as its source.
    #[must_use]
    pub fn with_source(self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.edit(|inner| inner.source = Some(Arc::new(source)))
    }

    /// Returns the code. If the service defines a code for this error, that code is used (ERR-3).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns the message without the error's code, rule, table, key or operation. The middle of a very long message (usually over 1,000 characters) is
    /// omitted.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::InvalidInput, "the value is not a number").with_property("Age").with_rule("TYPE-8");
    /// assert_eq!(error.message(), "property `Age`: the value is not a number");
    /// ```
    #[must_use]
    pub fn message(&self) -> String {
        self.bounded_message().to_string()
    }

    /// Returns the number of the violated rule, if known.
    #[must_use]
    pub fn rule(&self) -> Option<&'static str> {
        self.0.rule
    }

    /// Returns the name of the table, if known.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        self.0.table.as_deref()
    }

    /// Returns the `PartitionKey` and the `RowKey` of the entity, if known.
    #[must_use]
    pub fn key(&self) -> Option<(&str, &str)> {
        self.0.key.as_ref().map(|(partition_key, row_key)| (partition_key.as_str(), row_key.as_str()))
    }

    /// Returns the zero-based index of the failed operation within its transaction, if known (IMP-3).
    #[must_use]
    pub fn operation(&self) -> Option<usize> {
        self.0.operation
    }

    /// Returns `true` if the entity, table, queue, message or blob does not exist (404).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.0.code.status() == 404
    }

    /// Returns `true` if the table does not exist (OPT-6).
    #[must_use]
    pub fn is_table_not_found(&self) -> bool {
        self.0.code == ErrorCode::TableNotFound
    }

    /// Returns `true` if the entity or the table already exists (409).
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        matches!(self.0.code, ErrorCode::EntityAlreadyExists | ErrorCode::TableAlreadyExists)
    }

    /// Returns `true` if the request's `ETag` is stale (412). Read the entity again and retry (CON-3).
    #[must_use]
    pub fn is_precondition_failed(&self) -> bool {
        self.0.code.status() == 412
    }

    /// Returns `true` if a conditional write lost a race with another writer. The entity already exists, was deleted, or has a different version. Read the
    /// entity again and retry (CON-3). A missing table is not a conflict.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// assert!(Error::new(ErrorCode::EntityAlreadyExists, "the entity exists").is_conflict());
    /// assert!(!Error::new(ErrorCode::TableNotFound, "no such table").is_conflict());
    /// ```
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(
            self.0.code,
            ErrorCode::EntityAlreadyExists
                | ErrorCode::ResourceNotFound
                | ErrorCode::UpdateConditionNotSatisfied
        )
    }

    /// Returns `true` if the service throttled the request (503, 429). Retry with backoff (RTY-1).
    #[must_use]
    pub fn is_throttled(&self) -> bool {
        self.0.code == ErrorCode::ServerBusy
    }

    /// Returns `true` if the request is invalid (400, 413, 501). A retry would fail again.
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        matches!(self.0.code.status(), 400 | 413 | 501)
    }

    /// Returns `true` if the outcome of a write is unknown (CON-11). Read the entities before you retry. [`AmbiguousWrite`](crate::store::AmbiguousWrite)
    /// provides the transaction if the backend recorded it.
    ///
    /// A write interrupted by an engine failure is also ambiguous: it was not acknowledged, but it may already be in the journal, which is replayed when the
    /// folder is reopened. The function also returns `true` for a read that failed with `EnginePoisoned`, although the read changed nothing.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// assert!(Error::new(ErrorCode::OperationTimedOut, "no response").is_ambiguous());
    /// assert!(Error::new(ErrorCode::EnginePoisoned, "the engine's writer has stopped").is_ambiguous());
    /// assert!(!Error::new(ErrorCode::EntityAlreadyExists, "it is there").is_ambiguous());
    /// ```
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        matches!(self.0.code, ErrorCode::OperationTimedOut | ErrorCode::EnginePoisoned)
    }

    /// Returns the error of the last attempt if this error [is ambiguous](Self::is_ambiguous).
    ///
    /// An earlier attempt may have been applied, so the write itself can cause a rejection of the last attempt. For example, a retried insert can fail with
    /// `EntityAlreadyExists`.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// let refused = Error::new(ErrorCode::ResourceNotFound, "it is not there");
    /// let error = refused.into_ambiguous();
    /// assert!(error.is_ambiguous() && !error.is_not_found());
    /// assert!(error.last_response().is_some_and(Error::is_not_found));
    /// ```
    #[must_use]
    pub fn last_response(&self) -> Option<&Self> {
        let first = self.source().filter(|_| self.is_ambiguous());
        // The innermost `Error` in the source chain is the response. The errors around it add context.
        std::iter::successors(first, |&cause| cause.source()).filter_map(|cause| cause.downcast_ref()).last()
    }

    /// Wraps this error in an ambiguous error (CON-11). This error becomes the source of the returned error.
    ///
    /// Use this function for a failed write that may have been applied, either by this attempt or by an earlier attempt whose response was lost.
    #[must_use]
    pub fn into_ambiguous(self) -> Self {
        let doubt = Self::of(InDoubt(self.message())).edit(|inner| {
            inner.table.clone_from(&self.0.table);
            inner.key.clone_from(&self.0.key);
            inner.operation = self.0.operation;
        });
        doubt.with_source(self)
    }
}

/// The fault created by [`Error::new`]: a code and a message.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Plain {
    code: ErrorCode,
    message: String,
}

impl Fault for Plain {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        (self.code, None)
    }
}

/// The fault for an ambiguous write. Contains the message of the last attempt's error.
#[derive(Debug, thiserror::Error, Fault)]
#[error("{0}; the write may have been applied; read before you retry")]
#[fault(OperationTimedOut, "CON-11")]
struct InDoubt(String);
