//! Content negotiation: the metadata level preferred by the client (JSON-1, JSON-2).

use table_core::odata::MetadataLevel;

use crate::refusal::Refusal;

/// Returns the metadata level requested by `$format` or, without `$format`, by the `Accept` headers of a request or batch part. Without either, the level is
/// minimal.
///
/// # Errors
/// `AtomFormatNotSupported` if the client does not accept JSON.
pub(crate) fn requested<'a>(
    format: Option<&'a str>,
    accept: impl Iterator<Item = &'a str>,
) -> Result<MetadataLevel, Refusal> {
    let mut accept = accept.peekable();
    let has_accept = accept.peek().is_some();
    let level = match format {
        Some(format) => level([format]),
        None if has_accept => level(accept),
        None => Some(MetadataLevel::Minimal),
    };
    level.ok_or_else(|| {
        Refusal::new(415, "AtomFormatNotSupported", "ask for application/json with Accept or $format")
    })
}

/// Returns the metadata level of the media range with the highest weight. Among ranges of equal weight, the first takes precedence. Returns `None` if no range
/// allows JSON.
///
/// `accept` contains the values of all `Accept` headers, or the value of `$format`.
fn level<'a>(accept: impl IntoIterator<Item = &'a str>) -> Option<MetadataLevel> {
    let mut best = (0.0, None);
    for range in accept.into_iter().flat_map(|value| value.split(',')) {
        let Some((level, weight)) = weighted(range.trim()) else { continue };
        if weight > best.0 {
            best = (weight, Some(level));
        }
    }
    best.1
}

/// Returns the level and the weight of a media range, or `None` if it does not allow JSON.
fn weighted(range: &str) -> Option<(MetadataLevel, f32)> {
    // Most clients send a media type in the service's own spelling, which needs no parsing.
    let known = [MetadataLevel::None, MetadataLevel::Minimal, MetadataLevel::Full];
    match known.into_iter().find(|level| level.media_type() == range) {
        Some(level) => Some((level, 1.0)),
        None => level_of(range).map(|level| (level, weight(range))),
    }
}

fn level_of(range: &str) -> Option<MetadataLevel> {
    let is_any = matches!(range.split(';').next().map(str::trim), Some("*/*" | "application/*"));
    if is_any { Some(MetadataLevel::Minimal) } else { MetadataLevel::from_media_type(range) }
}

/// Returns the weight `q` of a media range (RFC 9110, section 12.4.2), or 1 if the weight is missing or invalid.
fn weight(range: &str) -> f32 {
    let mut parameters = range.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let weight = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    let weight = weight.and_then(|(_, weight)| weight.trim().parse().ok());
    weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_2_the_range_with_the_highest_weight_decides() {
        use MetadataLevel::{Full, Minimal, None as NoMetadata};
        for (accept, expected) in [
            ("application/json;odata=nometadata", Some(NoMetadata)),
            ("text/html, application/json;odata=fullmetadata", Some(Full)),
            (
                "application/json;odata=fullmetadata;q=0.5, application/json;odata=nometadata",
                Some(NoMetadata),
            ),
            (
                "application/json;odata=fullmetadata; q=0.5,application/json;odata=nometadata;Q=0.4",
                Some(Full),
            ),
            ("application/atom+xml,application/json;q=0.1", Some(Minimal)),
            ("application/json;odata=nometadata;q=0, */*;q=0.01", Some(Minimal)),
            ("application/json;odata=other, application/json;odata=nometadata", Some(NoMetadata)),
            ("application/json;odata=nometadata;q=high", Some(NoMetadata)),
            ("*/*", Some(Minimal)),
            ("application/*;q=0.5", Some(Minimal)),
            ("application/json;q=0", None),
            ("*/*;q=0.000", None),
            ("application/atom+xml", None),
            ("", None),
        ] {
            assert_eq!(level([accept]), expected, "{accept}");
        }
        assert_eq!(level(["text/xml", "application/json;odata=fullmetadata"]), Some(Full), "two headers");
    }
}
