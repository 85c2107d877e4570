//! The names of files recorded in a backup. They are checked when they are read, because a backup may come from an untrusted source: a name such as
//! `../../.bashrc` could otherwise overwrite files anywhere on this machine.

use std::path::{Component, Path};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Returns `true` if a name refers to a file in the folder it is joined to, on every operating system.
fn is_plain(name: &str) -> bool {
    // Windows ignores dots and spaces at the end of a name.
    let is_path = name.contains(['/', '\\', ':', '\0']) || name.ends_with(['.', ' ']);
    let mut components = Path::new(name).components();
    !is_path && matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// Deserialises a file name. Returns an error for a path.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if is_plain(&name) {
        Ok(name)
    } else {
        Err(D::Error::custom(format_args!("`{name}` is not the name of a file")))
    }
}

/// Deserialises an optional file name. Returns an error for a path.
pub(super) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    struct FileName(#[serde(deserialize_with = "deserialize")] String);
    Ok(Option::<FileName>::deserialize(deserializer)?.map(|FileName(name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_single_component_on_every_system() {
        for name in ["a", "0000000042.rows", "Company-20261125T210509.123Z-1.rows", "..a", "é"] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "", ".", "..", "/", "/a", "a/", "a/b", "../a", "a/..", "..\\a", "C:a", "a\0b", ".. ", "...",
            "~/a",
        ] {
            assert!(!is_plain(name), "{name:?}");
        }
    }
}
