//! Parses the comma-separated lists in CORS rules.

/// Returns the items of a comma-separated list.
pub(super) fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Returns `true` if a pattern matches a header name. A pattern is a name, or a prefix followed by `*`.
pub(super) fn covers(pattern: &str, header: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(front) => header.get(..front.len()).is_some_and(|own| own.eq_ignore_ascii_case(front)),
        None => pattern.eq_ignore_ascii_case(header),
    }
}
