//! Metadata levels of OData documents (JSON-1).

/// The metadata level of a document (JSON-1, JSON-3).
///
/// ```
/// use table_core::odata::MetadataLevel;
///
/// let accept = "application/json; odata=fullmetadata; charset=utf-8";
/// assert_eq!(MetadataLevel::from_media_type(accept), Some(MetadataLevel::Full));
/// assert_eq!(MetadataLevel::from_media_type("application/json"), Some(MetadataLevel::Minimal));
/// assert_eq!(MetadataLevel::from_media_type("application/atom+xml"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MetadataLevel {
    /// Only the properties. Because there are no annotations, `Int64`, `DateTime`, `Guid` and `Binary` look like `String`, and query results have no `ETag`s
    /// (JSON-4).
    None,
    /// The properties, the `ETag`s, and annotations for types that the JSON syntax does not imply.
    #[default]
    Minimal,
    /// Everything that `Minimal` contains, plus links.
    Full,
}

impl MetadataLevel {
    /// Returns the media type for `Accept` and `$format` (JSON-1, JSON-2).
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::None => "application/json;odata=nometadata",
            Self::Minimal => "application/json;odata=minimalmetadata",
            Self::Full => "application/json;odata=fullmetadata",
        }
    }

    /// Parses a media type leniently and returns its metadata level. Returns `None` if the media type is not JSON or has an unknown level. JSON without a level
    /// means `Minimal` (JSON-1).
    #[must_use]
    pub fn from_media_type(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case("application/json") {
            return None;
        }
        let mut parameters = parts.filter_map(|part| part.split_once('='));
        let level = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("odata"));
        // A value may be quoted (RFC 9110, section 5.6.6).
        match level.map_or("minimalmetadata", |(_, level)| level.trim().trim_matches('"')) {
            "nometadata" => Some(Self::None),
            "minimalmetadata" => Some(Self::Minimal),
            "fullmetadata" => Some(Self::Full),
            _ => None,
        }
    }
}
