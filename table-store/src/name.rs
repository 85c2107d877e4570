//! Validated table and property names.

mod fault;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limits;
use crate::name::fault::NameFault;

/// The first character of internal table names.
const INTERNAL: char = '$';

/// The prefix of the service's metrics tables, such as `$MetricsHourPrimaryTransactionsBlob`.
const METRICS: &str = "$Metrics";

/// The name of a table. It consists of 3 to 63 ASCII letters and digits, starts with a letter, and is not `tables` (TBL-1, TBL-3).
///
/// Comparisons ignore case, as in the service. The original case is preserved (TBL-2).
///
/// A name starting with `$Metrics` refers to a metrics table of the service. Such a table can be read, but not created (TBL-5).
///
/// ```
/// use table_core::TableName;
///
/// let name = TableName::new("Employee")?;
/// assert_eq!(name.as_str(), "Employee");
/// assert_eq!(name, TableName::new("employee")?); // case is ignored (TBL-2)
/// assert_eq!(TableName::new("my-table").unwrap_err().code().as_str(), "InvalidResourceName"); // an illegal character (TBL-4)
/// assert_eq!(TableName::new("ab").unwrap_err().code().as_str(), "OutOfRangeInput"); // fewer than three characters (TBL-4)
/// let metrics = TableName::new("$MetricsHourPrimaryTransactionsBlob")?;
/// assert_eq!(metrics.require_creatable().unwrap_err().code().as_str(), "InvalidResourceName");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableName {
    text: Arc<str>,
    folded: Arc<str>,
}

impl TableName {
    /// Validates a name.
    ///
    /// # Errors
    /// - `InvalidInput` if the name is the reserved word `tables` (TBL-3).
    /// - `InvalidResourceName` if the name has illegal characters.
    /// - `OutOfRangeInput` if the length is not between 3 and 63 (TBL-4).
    pub fn new(name: &str) -> Result<Self> {
        Self::check(name).map_err(|fault| Error::of(fault).with_table(name))?;
        let text: Arc<str> = name.into();
        let mut folded = Arc::clone(&text);
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Arc::make_mut(&mut folded).make_ascii_lowercase();
        }
        Ok(Self { text, folded })
    }

    fn check(name: &str) -> Result<(), NameFault> {
        let of_service = name.starts_with(METRICS);
        let bytes = name.strip_prefix('$').filter(|_| of_service).unwrap_or(name).as_bytes();
        if !bytes.iter().all(u8::is_ascii_alphanumeric) || bytes.first().is_some_and(u8::is_ascii_digit) {
            return Err(NameFault::TableCharacters(name.to_owned()));
        }
        if !(limits::TABLE_NAME_MIN..=limits::TABLE_NAME_MAX).contains(&name.len()) {
            return Err(NameFault::TableLength(name.to_owned()));
        }
        if name.eq_ignore_ascii_case("tables") {
            return Err(NameFault::TableReserved(name.to_owned()));
        }
        Ok(())
    }

    /// Checks that programs are allowed to create a table with this name. Stores call this function before creating a table.
    ///
    /// # Errors
    /// `InvalidResourceName` if this is the name of a metrics table (TBL-5).
    pub fn require_creatable(&self) -> Result<()> {
        if !self.text.starts_with(METRICS) {
            return Ok(());
        }
        Err(Error::of(NameFault::Measurements).with_table(self.as_str()))
    }

    /// Creates the name of an internal table. Internal names start with `$`, which is illegal in the names of a program's tables (TBL-4).
    #[doc(hidden)]
    #[must_use]
    pub fn internal(name: &str) -> Self {
        let text: Arc<str> = format!("{INTERNAL}{name}").into();
        Self { folded: text.to_ascii_lowercase().into(), text }
    }

    /// Validates a stored name, which may refer to a program's table or an internal table.
    ///
    /// # Errors
    /// Any error from [`new`](Self::new).
    #[doc(hidden)]
    pub fn stored(name: &str) -> Result<Self> {
        name.strip_prefix(INTERNAL).map_or_else(|| Self::new(name), |name| Ok(Self::internal(name)))
    }

    /// Returns the name in its original case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name in lower case, the form used for comparisons (TBL-2).
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }
}

impl PartialEq for TableName {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}

impl Eq for TableName {}

impl Hash for TableName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded.hash(state);
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Validates the name of a custom property. It must be an identifier of at most 255 code units, and must not be reserved (PROP-2..4, ENG-18).
///
/// # Errors
/// - `PropertyNameTooLong` if the name is too long.
/// - `PropertyNameInvalid` if the name is not an identifier, or is one of the reserved names `PartitionKey`, `RowKey` and `Timestamp`.
///
/// ```
/// use table_core::name::check_property_name;
///
/// assert!(check_property_name("EmailAddress").is_ok());
/// assert!(check_property_name("straße_2").is_ok());
/// assert_eq!(check_property_name("2nd").unwrap_err().rule(), Some("PROP-3"));
/// assert_eq!(check_property_name("RowKey").unwrap_err().rule(), Some("PROP-4"));
/// ```
pub fn check_property_name(name: &str) -> Result<()> {
    let mut characters = name.chars();
    let legal = characters.next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c))
        && characters.all(unicode_ident::is_xid_continue);
    if !legal {
        return Err(Error::of(NameFault::PropertyCharacters(name.to_owned())));
    }
    if name.len() > limits::PROPERTY_NAME_UNITS {
        let units = name.encode_utf16().count();
        if units > limits::PROPERTY_NAME_UNITS {
            return Err(Error::of(NameFault::PropertyLength { name: name.to_owned(), units }));
        }
    }
    if matches!(name, "PartitionKey" | "RowKey" | "Timestamp") {
        return Err(Error::of(NameFault::PropertyReserved(name.to_owned())));
    }
    Ok(())
}
