//! The client's preference for the response to an insert (INS-3).

use http::HeaderName;

use crate::exchange::Exchange;

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The `Prefer` values supported by the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preference {
    Content,
    NoContent,
}

impl Preference {
    const ALL: [Self; 2] = [Self::Content, Self::NoContent];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Content => "return-content",
            Self::NoContent => "return-no-content",
        }
    }

    /// Returns the first supported preference in a request's `Prefer` headers.
    pub(super) fn of(exchange: &Exchange) -> Option<Self> {
        Self::read(exchange.all(&PREFER))
    }

    /// Returns the first supported preference in the values of `Prefer` headers, each of which is a list (RFC 7240). Unsupported preferences are ignored.
    pub(super) fn read<'a>(mut values: impl Iterator<Item = &'a str>) -> Option<Self> {
        let is = |known: Self, name: &str| known.name().eq_ignore_ascii_case(name.trim());
        let first_of = |list: &str| {
            let mut names = list.split(',').filter_map(|one| one.split(';').next());
            names.find_map(|name| Self::ALL.into_iter().find(|known| is(*known, name)))
        };
        // Most clients send a single preference instead of a list.
        let only = |value: &str| Self::ALL.into_iter().find(|known| known.name() == value);
        values.find_map(|value| only(value).or_else(|| first_of(value)))
    }
}
