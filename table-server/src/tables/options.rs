//! Checks the system options in a query string. Each must be supported by the table service and occur only once (QRY-1, QRY-2).

use std::borrow::Cow;

use crate::refusal::Refusal;

/// The options supported by the server.
const KNOWN: [&str; 4] = ["$filter", "$select", "$top", "$format"];
/// OData options not supported by the table service.
const UNSUPPORTED: [&str; 8] =
    ["$orderby", "$skip", "$skiptoken", "$expand", "$count", "$inlinecount", "$search", "$apply"];

/// Checks the system options of a query. No option may be ignored, because a wrong response would look correct.
///
/// # Errors
/// `NotImplemented` if the service does not support an option; `InvalidInput` if an option is unknown, misspelled or repeated.
pub(super) fn check(query: &str) -> Result<(), Refusal> {
    let mut seen: Vec<Cow<'_, str>> = Vec::new();
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        if KNOWN.contains(&name.as_ref()) {
            if seen.contains(&name) {
                return Err(Refusal::input(format!("the query option `{name}` is given twice")));
            }
            seen.push(name);
        } else if let Some(fault) = fault(&name) {
            return Err(fault);
        }
    }
    Ok(())
}

/// Returns the rejection of an unknown or unsupported system option, or `None` if the parameter is not a system option.
fn fault(name: &str) -> Option<Refusal> {
    let bare = name.strip_prefix('$').unwrap_or(name);
    let is_meant = |option: &&&str| option.get(1..).is_some_and(|own| own.eq_ignore_ascii_case(bare));
    if let Some(option) = UNSUPPORTED.iter().find(is_meant).filter(|_| name.starts_with('$')) {
        return Some(Refusal::unsupported(format!(
            "the table service has no query option `{option}`; entities are ordered by PartitionKey and RowKey"
        )));
    }
    if let Some(option) = KNOWN.iter().take(3).find(is_meant) {
        return Some(Refusal::input(format!("`{name}` is not a query option; write `{option}`")));
    }
    name.starts_with('$').then(|| {
        Refusal::input(format!(
            "`{name}` is not a query option; the options are $filter, $select, $top and $format"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qry_1_and_2_options_are_known_or_refused() {
        let code = |query: &str| check(query).map_or_else(|refusal| refusal.code, |()| "accepted");
        for (query, expected) in [
            ("", "accepted"),
            ("timeout=30&NextPartitionKey=x&_=7", "accepted"),
            ("$filter=Score%20eq%201&$select=Score&$top=5&$format=application/json", "accepted"),
            ("%24filter=Score%20eq%201", "accepted"),
            ("se=2030&sp=r&sig=%24", "accepted"),
            ("$orderby=Score", "NotImplemented"),
            ("$select=Score&$orderby=Score%20desc", "NotImplemented"),
            ("$skip=2", "NotImplemented"),
            ("$count=true", "NotImplemented"),
            ("%24inlinecount=allpages", "NotImplemented"),
            ("$expand=X", "NotImplemented"),
            ("$OrderBy=X", "NotImplemented"),
            ("$Filter=Score%20eq%201", "InvalidInput"),
            ("$FILTER=x", "InvalidInput"),
            ("filter=Score%20eq%201", "InvalidInput"),
            ("Filter=Score%20eq%201", "InvalidInput"),
            ("SELECT=Score", "InvalidInput"),
            ("top=5", "InvalidInput"),
            ("timeout=30&Top=5", "InvalidInput"),
            ("$selct=Score", "InvalidInput"),
            ("$=1", "InvalidInput"),
            ("$top=1&$top=2", "InvalidInput"),
            ("$filter=a&%24filter=b", "InvalidInput"),
        ] {
            assert_eq!(code(query), expected, "{query}");
        }
    }
}
