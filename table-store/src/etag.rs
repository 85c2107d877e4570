//! `ETag` and `If-Match`: optimistic concurrency control (ETAG, IFM rules).

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::error::{Error, ErrorCode, Result, quoted};
use crate::ticks::{self, Printed};

/// The version of an entity. Opaque, and preserved byte for byte (ETAG-4).
///
/// An `ETag` in the service's canonical form is stored as its ticks. Any other `ETag` is stored as text.
///
/// ```
/// use table_core::ETag;
///
/// let etag = ETag::parse("W/\"datetime'2020-10-02T22%3A48%3A03.9197632Z'\"")?;
/// assert_eq!(etag.to_string(), "W/\"datetime'2020-10-02T22%3A48%3A03.9197632Z'\"");
/// assert!(ETag::parse("2020-10-02").is_err()); // IFM-1: not of the form W/"…"
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ETag(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Ticks(u64),
    Text(Arc<str>),
}

impl ETag {
    /// Derives an entity's `ETag` from its Timestamp, in [ticks] (ETAG-2).
    #[must_use]
    pub const fn from_ticks(ticks: u64) -> Self {
        Self(Repr::Ticks(ticks))
    }

    /// Parses an `ETag`: a single weak tag of the form `W/"…"`.
    ///
    /// # Errors
    /// `InvalidInput` if the text is malformed or a list of tags (IFM-1, IFM-3). A well-formed tag may have any content (IFM-4).
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(ticks) = canonical_ticks(text) {
            return Ok(Self(Repr::Ticks(ticks)));
        }
        // HTTP defines the prefix in upper case, but the service accepts both cases.
        let well_formed = text
            .strip_prefix("W/\"")
            .or_else(|| text.strip_prefix("w/\""))
            .and_then(|rest| rest.strip_suffix('"'))
            .is_some_and(|inner| !inner.contains('"') && !inner.chars().any(char::is_control));
        if !well_formed {
            let message = format!("`{}` is not an ETag; expected one tag of the form W/\"…\"", quoted(text));
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("IFM-1"));
        }
        Ok(Self(Repr::Text(text.into())))
    }

    /// Returns the ticks of an `ETag` in the service's canonical form, or `None` for any other `ETag`.
    #[must_use]
    pub const fn ticks(&self) -> Option<u64> {
        match self.0 {
            Repr::Ticks(ticks) => Some(ticks),
            Repr::Text(_) => None,
        }
    }
}

/// Parses the ticks in a tag. Returns `None` if formatting them would not reproduce the tag byte for byte (ETAG-4).
fn canonical_ticks(text: &str) -> Option<u64> {
    let instant = text.strip_prefix("W/\"datetime'")?.strip_suffix("'\"")?;
    let printed_shorter = instant.contains('.') && instant.ends_with("0Z"); // TYPE-5
    ticks::parse(instant, "%3A").filter(|_| !printed_shorter)
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Ticks(ticks) => {
                f.write_str("W/\"datetime'")?;
                f.write_str(ticks::print(*ticks, "%3A").as_ref().map_or("", Printed::as_str))?;
                f.write_str("'\"")
            }
            Repr::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ETag({self})")
    }
}

/// Formats a date-time like the service: with at most seven fractional digits and no trailing zeros (TYPE-5).
pub(crate) fn format_datetime(instant: DateTime<Utc>) -> String {
    // The service never prints date-times outside the years 1 to 9999.
    let printed = ticks::from_datetime(instant).and_then(|ticks| ticks::print(ticks, ":"));
    printed.map_or_else(
        || instant.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        |printed| printed.as_str().to_owned(),
    )
}

/// The `If-Match` condition of a replace, merge or delete (IFM-1).
///
/// ```
/// use table_core::{ETag, IfMatch};
///
/// assert_eq!(IfMatch::parse("*")?, IfMatch::Any);
/// assert_eq!(IfMatch::from(ETag::from_ticks(7)).to_string(), ETag::from_ticks(7).to_string());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IfMatch {
    /// `*`: the entity must exist, in any version (UPS-4).
    Any,
    /// The entity's current `ETag` must equal this one.
    ETag(ETag),
}

impl IfMatch {
    /// Parses an `If-Match` header.
    ///
    /// # Errors
    /// `InvalidInput` if the text is neither `*` nor one well-formed weak `ETag` (IFM-1, IFM-3).
    pub fn parse(text: &str) -> Result<Self> {
        if text == "*" { Ok(Self::Any) } else { ETag::parse(text).map(Self::ETag) }
    }

    /// Returns `true` if an entity with this version satisfies the condition.
    #[must_use]
    pub fn accepts(&self, current: &ETag) -> bool {
        match self {
            Self::Any => true,
            Self::ETag(etag) => etag == current,
        }
    }
}

/// The type of constants such as `ETag::ALL`, which other libraries use to match any version. It does not implement [`IntoIfMatch`], so passing such a constant
/// is a compile error. The compiler message suggests [`IfMatch::Any`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct AnyETag;

#[doc(hidden)]
#[expect(non_upper_case_globals, reason = "names of other libraries")]
impl ETag {
    pub const All: AnyETag = AnyETag;
    pub const ALL: AnyETag = AnyETag;
    pub const Any: AnyETag = AnyETag;
    pub const ANY: AnyETag = AnyETag;

    #[must_use]
    pub const fn any() -> AnyETag {
        AnyETag
    }

    #[must_use]
    pub const fn all() -> AnyETag {
        AnyETag
    }
}

/// A condition on an entity's version: an [`ETag`], or [`IfMatch::Any`].
///
/// ```
/// use table_core::ETag;
/// use table_core::etag::{IfMatch, IntoIfMatch};
///
/// /// Returns the condition of a write.
/// fn condition(version: impl IntoIfMatch) -> IfMatch {
///     version.into()
/// }
/// assert_eq!(condition(IfMatch::Any).to_string(), "*"); // `condition("*")` does not compile: T207
/// assert!(matches!(condition(&ETag::from_ticks(7)), IfMatch::ETag(_)));
/// ```
#[diagnostic::on_unimplemented(
    message = "[T207] `{Self}` is not a condition on the version of an entity",
    label = "write `table_patterns::IfMatch::Any` for any version, or the `ETag` of the entity",
    note = "an entity that was read has its version: `found.etag()`; a write returns the new one",
    note = "a version that was stored as text is parsed: `ETag::parse(text)?`"
)]
pub trait IntoIfMatch: Into<IfMatch> {
    #[doc(hidden)]
    type Checked;
}

#[diagnostic::do_not_recommend]
impl<T: Into<IfMatch>> IntoIfMatch for T {
    type Checked = ();
}

impl From<ETag> for IfMatch {
    fn from(etag: ETag) -> Self {
        Self::ETag(etag)
    }
}

impl From<&ETag> for IfMatch {
    fn from(etag: &ETag) -> Self {
        Self::ETag(etag.clone())
    }
}

impl fmt::Display for IfMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::ETag(etag) => etag.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn etag_4_any_form_is_kept_byte_for_byte() {
        for text in [
            "W/\"datetime'2020-10-02T22%3A48%3A03.9197632Z'\"",
            "W/\"datetime'2026-11-20T08%3A14%3A48.1444670Z'\"", // seven digits, as Azurite prints (ETAG-2)
            "W/\"datetime'2026-11-20T08:14:48Z'\"",
            "W/\"bad\"",
            "w/\"datetime'2026-11-20T08%3A14%3A48Z'\"",
        ] {
            assert_eq!(ETag::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn type_5_instants_are_printed_without_trailing_zeros() {
        let instant = "2020-07-24T14:34:48.476700Z".parse().unwrap();
        assert_eq!(format_datetime(instant), "2020-07-24T14:34:48.4767Z");
    }

    #[test]
    fn ifm_1_and_3_malformed_etags_and_lists_are_refused() {
        for text in ["", "x", "\"strong\"", "W/\"open", "W/\"a\", W/\"b\""] {
            assert_eq!(IfMatch::parse(text).unwrap_err().code(), ErrorCode::InvalidInput, "{text}");
        }
    }

    proptest! {
        #[test]
        fn etag_4_an_etag_kept_as_ticks_prints_its_original_text(
            ticks in 0..=ticks::MAX,
            zeros in 0..4_u32,
            text in "W/\"datetime'2020-0[1-9]-[0-3]{2}T[0-2]{2}%3A[0-9]{2}%3A[0-9]{2}([.][0-9]{0,8})?Z?'\"",
        ) {
            let printed = ETag::from_ticks(ticks - ticks % 10_u64.pow(zeros)).to_string();
            prop_assert!(ETag::parse(&printed).unwrap().ticks().is_some());
            for text in [printed, text] {
                prop_assert_eq!(ETag::parse(&text).unwrap().to_string(), text);
            }
        }
    }
}
