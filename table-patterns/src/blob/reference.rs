//! The address of a blob. It is stored as a property of an entity.

use std::fmt;
use std::str::FromStr;

use table_core::property::Property;
use table_core::row::RowWriter;
use table_core::{EdmType, Error, Fault, Result, ValueRef};

/// The address of a blob: its name, its length and its checksum (PAT-LARGE-1). An upload creates it.
///
/// It is stored as one `Edm.String`, which contains the name, the length in bytes, and the CRC-32C in hexadecimal digits.
///
/// ```
/// use table_patterns::blob::BlobRef;
///
/// let text = "photos/blobs/employees/=53ales/000223/0635338512000000000_5f0c 2000000 1b2e4c6d";
/// let blob: BlobRef = text.parse()?;
/// assert_eq!((blob.len(), blob.to_string().as_str()), (2_000_000, text));
/// assert!("somewhere".parse::<BlobRef>().is_err());
/// # Ok::<(), table_patterns::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobRef {
    pub(crate) path: String,
    pub(crate) length: u64,
    pub(crate) crc: u32,
}

impl BlobRef {
    /// Returns the name of the blob.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the length of the blob in bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.length
    }

    /// Returns `true` if the blob is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl fmt::Display for BlobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:08x}", self.path, self.length, self.crc)
    }
}

impl FromStr for BlobRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let mut parts = text.rsplitn(3, ' ');
            let crc = u32::from_str_radix(parts.next()?, 16).ok()?;
            let length = parts.next()?.parse().ok()?;
            Some(Self { path: parts.next()?.to_owned(), length, crc })
        };
        let fault = || Error::of(AddressFault(text.to_owned()));
        read().filter(|blob| blob.to_string() == text).ok_or_else(fault)
    }
}

/// The error for a property value that is not a blob address.
#[derive(Debug, thiserror::Error, Fault)]
#[error("'{0}' is not a blob address; expected name, length and checksum")]
#[fault(EntityMismatch, "PAT-LARGE-1")]
struct AddressFault(String);

#[diagnostic::do_not_recommend]
impl Property for BlobRef {
    const EDM: EdmType = EdmType::String;

    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        self.to_string().write_to(name, row)
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
        String::from_value(value)?.parse()
    }
}
