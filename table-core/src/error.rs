//! The error of the crate: what was wrong, where, under which rule, and predicates to branch on.

mod code;

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub use code::ErrorCode;

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed: an [`ErrorCode`], the rule that was broken, and the table, key and operation it happened at.
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
    message: String,
    rule: Option<&'static str>,
    table: Option<String>,
    key: Option<(String, String)>,
    operation: Option<usize>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this code; `message` says what was wrong and what to do, lower case, without a full stop.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            code,
            message: message.into(),
            rule: None,
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
        self.edit(|inner| inner.message.insert_str(0, &format!("property `{name}`: ")))
    }

    /// Adds what was being done, and to what, at the front of the message.
    #[must_use]
    pub fn with_context(self, what: &str) -> Self {
        self.edit(|inner| inner.message.insert_str(0, &format!("{what}: ")))
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

    /// What a conditional write was based on is no longer so: the entity is there, is gone, or is of another version. Another writer
    /// was faster: read again and retry (CON-3). A missing table is not that.
    ///
    /// ```
    /// use table_core::{Error, ErrorCode};
    ///
    /// assert!(Error::new(ErrorCode::EntityAlreadyExists, "it is there").is_conflict());
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

    /// What was asked for cannot be right (400, 413, 501): no retry will help.
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        matches!(self.0.code.status(), 400 | 413 | 501)
    }

    /// The write may or may not have been applied (CON-11): read before it is tried again. What was sent is in
    /// [`Sent`](crate::store::Sent), where the backend says so.
    ///
    /// So is the write that an engine's failure stopped: it was not acknowledged, and the next one to open the folder may
    /// yet find it in the journal. A read that ends with `EnginePoisoned` changed nothing all the same.
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

    /// Where this error [is ambiguous](Self::is_ambiguous): what the last attempt came to. A refusal there says how things were
    /// by then, and not why: an earlier attempt may have made them so.
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
        // The last in the chain: what is around it says only where that happened.
        std::iter::successors(first, |&cause| cause.source()).filter_map(|cause| cause.downcast_ref()).last()
    }

    /// The same failure of a write that may have been applied all the same, by this attempt or by an earlier one whose answer
    /// was lost (CON-11): ambiguous, with this error as its source.
    #[must_use]
    pub fn in_doubt(self) -> Self {
        let message =
            format!("{}; the write may have been applied: read before it is tried again", self.0.message);
        let inner = Inner {
            code: ErrorCode::OperationTimedOut,
            message,
            rule: Some("CON-11"),
            source: None,
            ..(*self.0).clone()
        };
        Self(Arc::new(inner)).with_source(self)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "{}: {}", inner.code, inner.message)?;
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

/// The text of `Display` and the causes below it: what `fn main() -> Result<()>` prints is meant to be read.
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
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
