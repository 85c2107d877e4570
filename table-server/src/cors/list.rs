//! Lists of a rule.

/// The items of a list with commas.
pub(super) fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Whether a pattern, a name or its beginning before `*`, covers a header.
pub(super) fn covers(pattern: &str, header: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(front) => header.get(..front.len()).is_some_and(|own| own.eq_ignore_ascii_case(front)),
        None => pattern.eq_ignore_ascii_case(header),
    }
}
