//! The paths of tables and entities, read (REQ-1, REQ-5).

use crate::refusal::Refusal;

/// What a path names.
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
    /// `Employee(PartitionKey='Sales',RowKey='1')`.
    Entity(&'a str, (String, String)),
}

/// Reads a decoded path below the account.
pub(crate) fn read(path: &str) -> Result<Target<'_>, Refusal> {
    if path == "$batch" {
        return Ok(Target::Batch);
    }
    let Some((name, rest)) = path.split_once('(') else {
        return match path.trim_end_matches('/') {
            "" => Err(Refusal::nowhere()),
            name if name.eq_ignore_ascii_case("tables") => Ok(Target::Names),
            name if name.contains('/') => Err(syntax()),
            name => Ok(Target::Table(name)),
        };
    };
    let inside = rest.strip_suffix(')').ok_or_else(syntax)?;
    let tables = name.eq_ignore_ascii_case("tables");
    match inside.trim() {
        "" if tables => Ok(Target::Names),
        "" => Ok(Target::Table(name)),
        inside if tables => match quoted(inside) {
            Some((table, "")) => Ok(Target::Name(table)),
            _ => Err(syntax()),
        },
        inside => keys(inside).map(|keys| Target::Entity(name, keys)).ok_or_else(syntax),
    }
}

/// Both keys, in either order.
fn keys(text: &str) -> Option<(String, String)> {
    let (first, rest) = key(text)?;
    let (second, rest) = key(rest.trim_start().strip_prefix(',')?)?;
    match (first, second, rest.trim()) {
        (("PartitionKey", partition), ("RowKey", row), "")
        | (("RowKey", row), ("PartitionKey", partition), "") => Some((partition, row)),
        _ => None,
    }
}

type Named<'a> = (&'a str, String);

fn key(text: &str) -> Option<(Named<'_>, &str)> {
    let (name, value) = text.split_once('=')?;
    let (value, rest) = quoted(value.trim_start())?;
    Some(((name.trim(), value), rest))
}

/// A text between single quotes, in which two stand for one, and what follows it.
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

fn syntax() -> Refusal {
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
            ("T12", Target::Table("T12")),
            ("T12()", Target::Table("T12")),
            ("T12(PartitionKey='a',RowKey='b')", entity("a", "b")),
            ("T12(RowKey='b', PartitionKey='')", entity("", "b")),
            ("T12(PartitionKey='O''N,=(',RowKey=''')')", entity("O'N,=(", "')")),
        ] {
            assert_eq!(read(path).unwrap(), expected, "{path}");
        }
        for path in ["", "T12(", "T12('a')", "T12(PartitionKey='a')", "T12(PartitionKey='a',RowKey='b", "a/b"]
        {
            assert_eq!(read(path).unwrap_err().status, 400, "{path}");
        }
    }
}
