//! The error of the crate: what was wrong, where, under which rule, and predicates to branch on.

mod code;
mod fault;

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub use code::ErrorCode;
pub use fault::Fault;

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed: an [`ErrorCode`], the rule that was broken, and the table, key and operation.
///
/// Cloning is cheap. Branch on the predicates ([`is_not_found`](Error::is_not_found) and its neighbours) or on
/// [`code`](Error::code); the text is for people and may change.
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
    /// Printed before the text of the fault.
    context: String,
    rule: Option<&'static str>,
    table: Option<String>,
    key: Option<(String, String)>,
    operation: Option<usize>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this code; `message` says what was wrong and what to do, lower case, without a full stop. Where an area has
    /// several errors, they are better listed as an enum of [`Fault`]s.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::of(Plain { code, message: message.into() })
    }

    /// The error of a fault: its text and its cause, with its code and rule.
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

    /// Adds the identifier of the rule that was broken, such as `KEY-3`.
    #[must_use]
    pub fn with_rule(self, rule: &'static str) -> Self {
        self.edit(|inner| inner.rule = Some(rule))
    }

    /// Adds the table it happened in.
    #[must_use]
    pub fn with_table(self, table: impl Into<String>) -> Self {
        self.edit(|inner| inner.table = Some(table.into()))
    }

    /// Adds the key of the entity it happened to.
    #[must_use]
    pub fn with_key(self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        self.edit(|inner| inner.key = Some((partition_key.into(), row_key.into())))
    }

    /// Adds the property it happened to, at the front of the message.
    #[must_use]
    pub fn with_property(self, name: &str) -> Self {
        self.edit(|inner| inner.context.insert_str(0, &format!("property `{name}`: ")))
    }

    /// Adds the action and its object at the front of the message.
    #[must_use]
    pub fn with_context(self, what: &str) -> Self {
        self.edit(|inner| inner.context.insert_str(0, &format!("{what}: ")))
    }

    /// Adds the zero-based position of the operation that failed in its transaction (IMP-3, EGT-34).
    #[must_use]
    pub fn with_operation(self, index: usize) -> Self {
        self.edit(|inner| inner.operation = Some(index))
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.edit(|inner| inner.source = Some(Arc::new(source)))
    }

    /// The code: the service's own where it has one (ERR-3).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns the text alone: without the code, the rule, and the table, key and operation.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::InvalidInput, "the value is not a number").with_property("Age").with_rule("TYPE-8");
    /// assert_eq!(error.message(), "property `Age`: the value is not a number");
    /// ```
    #[must_use]
    pub fn message(&self) -> String {
        format!("{}{}", self.0.context, self.0.fault)
    }

    /// The rule that was broken, if one is known.
    #[must_use]
    pub fn rule(&self) -> Option<&'static str> {
        self.0.rule
    }

    /// The table it happened in.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        self.0.table.as_deref()
    }

    /// `(PartitionKey, RowKey)` of the entity it happened to.
    #[must_use]
    pub fn key(&self) -> Option<(&str, &str)> {
        self.0.key.as_ref().map(|(partition_key, row_key)| (partition_key.as_str(), row_key.as_str()))
    }

    /// The zero-based position of the failing operation in its transaction (IMP-3).
    #[must_use]
    pub fn operation(&self) -> Option<usize> {
        self.0.operation
    }

    /// The entity or the table is not there (404).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.0.code.status() == 404
    }

    /// The table is not there (OPT-6).
    #[must_use]
    pub fn is_table_not_found(&self) -> bool {
        self.0.code == ErrorCode::TableNotFound
    }

    /// The entity or the table exists already (409).
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        matches!(self.0.code, ErrorCode::EntityAlreadyExists | ErrorCode::TableAlreadyExists)
    }

    /// The `ETag` given is not the current one (412): read again and retry (CON-3).
    #[must_use]
    pub fn is_precondition_failed(&self) -> bool {
        self.0.code.status() == 412
    }

    /// The condition of a write no longer holds, because another writer was faster: the entity exists already, is gone, or has
    /// another version. Read again and retry (CON-3). A missing table is not a conflict.
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

    /// The service asks to slow down (503, 429): retry with back-off (RTY-1).
    #[must_use]
    pub fn is_throttled(&self) -> bool {
        self.0.code == ErrorCode::ServerBusy
    }

    /// The request is invalid (400, 413, 501): a retry does not help.
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        matches!(self.0.code.status(), 400 | 413 | 501)
    }

    /// The write may or may not have been applied (CON-11): read before it is tried again. The operations that were
    /// sent are in [`Sent`](crate::store::Sent), where the backend records them.
    ///
    /// A write that an engine's failure stopped is ambiguous, too: it was not acknowledged, but may be found in the journal when
    /// the folder is opened again. A read that fails with `EnginePoisoned` changed nothing.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// assert!(Error::new(ErrorCode::OperationTimedOut, "no answer").is_ambiguous());
    /// assert!(Error::new(ErrorCode::EnginePoisoned, "the engine's writer has stopped").is_ambiguous());
    /// assert!(!Error::new(ErrorCode::EntityAlreadyExists, "it is there").is_ambiguous());
    /// ```
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        matches!(self.0.code, ErrorCode::OperationTimedOut | ErrorCode::EnginePoisoned)
    }

    /// The error of the last attempt, where this error [is ambiguous](Self::is_ambiguous). A refusal describes the state that the
    /// last attempt found, which an earlier attempt may have caused.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// let refused = Error::new(ErrorCode::ResourceNotFound, "it is not there");
    /// let error = refused.in_doubt();
    /// assert!(error.is_ambiguous() && !error.is_not_found());
    /// assert!(error.last_answer().is_some_and(Error::is_not_found));
    /// ```
    #[must_use]
    pub fn last_answer(&self) -> Option<&Self> {
        let first = self.source().filter(|_| self.is_ambiguous());
        // The last in the chain: those around it only add where it happened.
        std::iter::successors(first, |&cause| cause.source()).filter_map(|cause| cause.downcast_ref()).last()
    }

    /// The same failure of a write that may have been applied nevertheless, by this attempt or by an earlier one whose answer
    /// was lost (CON-11): ambiguous, with this error as its source.
    #[must_use]
    pub fn in_doubt(self) -> Self {
        let message = format!("{}{}", self.0.context, self.0.fault);
        let doubt = Self::of(InDoubt(message)).edit(|inner| {
            inner.table.clone_from(&self.0.table);
            inner.key.clone_from(&self.0.key);
            inner.operation = self.0.operation;
        });
        doubt.with_source(self)
    }
}

/// An error of no area: its message was put together where it was found.
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

/// A failed write that may have been applied, with the message of its last attempt.
#[derive(Debug, thiserror::Error)]
#[error("{0}; the write may have been applied: read before it is tried again")]
struct InDoubt(String);

impl Fault for InDoubt {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        (ErrorCode::OperationTimedOut, Some("CON-11"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "{}: {}{}", inner.code, inner.context, inner.fault)?;
        let mut separator = " (";
        let mut note = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let result = write!(f, "{separator}{text}");
            separator = "; ";
            result
        };
        if let Some(index) = inner.operation {
            note(f, format_args!("operation {index}"))?;
        }
        if let Some(table) = &inner.table {
            note(f, format_args!("table `{table}`"))?;
        }
        if let Some((partition_key, row_key)) = &inner.key {
            note(f, format_args!("PartitionKey '{partition_key}', RowKey '{row_key}'"))?;
        }
        if let Some(rule) = inner.rule {
            note(f, format_args!("rule {rule}"))?;
        }
        if separator == "; " { f.write_str(")") } else { Ok(()) }
    }
}

/// The text of `Display` and the causes below it, for `fn main() -> Result<()>`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, "\n  because: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.source {
            Some(source) => Some(&**source),
            None => self.0.fault.source(),
        }
    }
}
