//! Table and entity paths (REQ-1, REQ-5).

use table_core::key::text::is_legal;
use table_core::{EntityKey, PartitionKey, RowKey};

use crate::refusal::Refusal;

/// The resource named by a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// `Tables`.
    Names,
    /// `Tables('Employee')`.
    Name(String),
    /// `$batch`.
    Batch,
    /// `Employee` or `Employee()`.
    Table(&'a str),
    /// `Employee/Tables`: a path below a table. Clients send it if their endpoint ends with a table name.
    Below(&'a str),
    /// `Employee('Sales')` or `Employee/Tables('Sales')`: one key instead of both.
    SingleKey(&'a str),
    /// `Employee(PartitionKey='Sales',RowKey='1')`.
    Entity(&'a str, (String, String)),
}

/// Parses a decoded path below the account.
pub(crate) fn read(path: &str) -> Result<Target<'_>, Refusal> {
    if path.trim_end_matches('/') == "$batch" {
        return Ok(Target::Batch);
    }
    let Some((name, rest)) = path.split_once('(') else {
        return match path.trim_end_matches('/') {
            "" => Err(Refusal::nowhere()),
            name if name.eq_ignore_ascii_case("tables") => Ok(Target::Names),
            name => Ok(name.split_once('/').map_or(Target::Table(name), |(table, _)| Target::Below(table))),
        };
    };
    let inside = rest.trim_end_matches('/').strip_suffix(')').ok_or_else(syntax)?;
    let tables = name.eq_ignore_ascii_case("tables");
    match inside.trim() {
        "" if tables => Ok(Target::Names),
        "" => Ok(Target::Table(name)),
        inside if tables => match quoted(inside) {
            Some((table, "")) => Ok(Target::Name(table)),
            _ => Err(syntax()),
        },
        inside if is_single_key(inside) => Ok(Target::SingleKey(name)),
        inside => keys(inside).map(|keys| Target::Entity(name, keys)).ok_or_else(syntax),
    }
}

fn is_single_key(text: &str) -> bool {
    let rest = quoted(text).or_else(|| named(text).map(|((_, value), rest)| (value, rest)));
    rest.is_some_and(|(_, rest)| rest.trim().is_empty())
}

/// Returns the rejection for a path with one key instead of two. Clients recognise its message.
pub(super) fn single_key(name: &str) -> Refusal {
    let resource: String = name.chars().filter(|character| !character.is_control()).take(256).collect();
    Refusal::input(format!(
        "The number of keys specified in the URI does not match number of key properties for the resource '{resource}'."
    ))
}

/// Parses the two keys of an entity, which may be in either order.
fn keys(text: &str) -> Option<(String, String)> {
    let (first, rest) = named(text)?;
    let (second, rest) = named(rest.trim_start().strip_prefix(',')?)?;
    match (first, second, rest.trim()) {
        (("PartitionKey", partition), ("RowKey", row), "")
        | (("RowKey", row), ("PartitionKey", partition), "") => Some((partition, row)),
        _ => None,
    }
}

type Named<'a> = (&'a str, String);

fn named(text: &str) -> Option<(Named<'_>, &str)> {
    let (name, value) = text.split_once('=')?;
    let (value, rest) = quoted(value.trim_start())?;
    Some(((name.trim(), value), rest))
}

/// Parses a single-quoted string, with doubled quotes as escapes. Returns the string and the rest of the text.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let (before, after) = rest.split_once('\'')?;
        value.push_str(before);
        match after.strip_prefix('\'') {
            Some(after) => {
                value.push('\'');
                rest = after;
            }
            None => return Some((value, after)),
        }
    }
}

/// Converts the two keys in a URL to an entity key (KEY-5).
///
/// # Errors
/// `InvalidInput` if a key contains `/` or `\`; `OutOfRangeInput` if a key contains any other character not allowed in keys.
pub(super) fn key((partition_key, row_key): (String, String)) -> Result<EntityKey, Refusal> {
    for (name, text) in [("PartitionKey", &partition_key), ("RowKey", &row_key)] {
        if text.contains(['/', '\\']) {
            return Err(Refusal::input(format!("Error in query syntax: the {name} contains `/` or `\\`.")));
        }
        check_characters(name, text)?;
    }
    Ok(EntityKey { partition_key: PartitionKey::new(partition_key)?, row_key: RowKey::new(row_key)? })
}

/// Checks the characters of a key. An invalid key is rejected with the service's message.
///
/// # Errors
/// `OutOfRangeInput` if the key contains a character not allowed in keys (KEY-4).
pub(super) fn check_characters(name: &str, text: &str) -> Result<(), Refusal> {
    let Some(illegal) = text.chars().find(|character| !is_legal(*character)) else { return Ok(()) };
    let help = format!("the {name} contains {illegal:?}; encode the value");
    let shown: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(256).collect();
    let message = format!("The '{name}' parameter of value '{shown}' is out of range.").into();
    Err(Refusal { message, ..Refusal::new(400, "OutOfRangeInput", help) })
}

/// Rejects a path of an unsupported form.
pub(super) fn syntax() -> Refusal {
    Refusal::input("Error in query syntax.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn req_1_and_5_paths() {
        let entity = |partition: &str, row: &str| Target::Entity("T12", (partition.into(), row.into()));
        for (path, expected) in [
            ("Tables", Target::Names),
            ("Tables()", Target::Names),
            ("Tables('T12')", Target::Name("T12".into())),
            ("$batch", Target::Batch),
            ("$batch/", Target::Batch),
            ("T12()/", Target::Table("T12")),
            ("T12", Target::Table("T12")),
            ("T12()", Target::Table("T12")),
            ("T12/Tables", Target::Below("T12")),
            ("T12/$batch", Target::Below("T12")),
            ("T12(PartitionKey='a',RowKey='b')", entity("a", "b")),
            ("T12(RowKey='b', PartitionKey='')", entity("", "b")),
            ("T12(PartitionKey='O''N,=(',RowKey=''')')", entity("O'N,=(", "')")),
        ] {
            assert_eq!(read(path).unwrap(), expected, "{path}");
        }
        for path in ["", "T12(", "T12('a", "T12(PartitionKey='a')x", "T12(PartitionKey='a',RowKey='b"] {
            assert_eq!(read(path).unwrap_err().status, 400, "{path}");
        }
        for (path, name) in [("T12('a')", "T12"), ("T12(RowKey='a' )", "T12"), ("a/Tables('b')", "a/Tables")]
        {
            assert_eq!(read(path).unwrap(), Target::SingleKey(name), "{path}");
        }
    }

    #[test]
    fn key_5_keys_of_the_url_are_refused_as_the_service_does() {
        let code = |partition: &str, row: &str| match key((partition.into(), row.into())) {
            Ok(_) => "accepted",
            Err(refusal) => refusal.code,
        };
        for (text, expected) in [
            ("a b%+'&", "accepted"),
            ("", "accepted"),
            ("a/b", "InvalidInput"),
            ("a\\b", "InvalidInput"),
            ("a#b", "OutOfRangeInput"),
            ("a?b", "OutOfRangeInput"),
            ("a\u{7f}", "OutOfRangeInput"),
            ("\u{1}", "OutOfRangeInput"),
        ] {
            assert_eq!((code(text, "r"), code("p", text)), (expected, expected), "{text:?}");
        }
        let refused = key(("a#b".into(), String::new())).unwrap_err();
        assert_eq!(refused.message, "The 'PartitionKey' parameter of value 'a#b' is out of range.");
    }
}
