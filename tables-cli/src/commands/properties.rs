//! Properties on the command line: `NAME=VALUE` with a guessed type, or `NAME:TYPE=VALUE`.

use table_core::{EdmType, Value};

use crate::failure::{Failure, Result};
use table_inspect::value;

/// Parses a property.
///
/// # Errors
/// `Usage` if the text is neither `NAME=VALUE` nor `NAME:TYPE=VALUE`, if the type is unknown, or if the value is invalid for the type.
pub(super) fn read(text: &str) -> Result<(String, Value)> {
    let form =
        || Failure::Usage(format!("`{text}` is not a property; the form is NAME=VALUE or NAME:TYPE=VALUE"));
    let (name, found) = text.split_once('=').ok_or_else(form)?;
    let (name, edm) = match name.split_once(':') {
        Some((name, edm)) => {
            let unknown = || Failure::Usage(format!("`{edm}` is not a type; the types are {}", types()));
            (name, value::type_of(edm).ok_or_else(unknown)?)
        }
        None => (name, value::guess(found)),
    };
    let read = value::read(edm, found)
        .map_err(|expected| Failure::Usage(format!("`{found}` is not {edm}; expected {expected}")))?;
    Ok((name.to_owned(), read))
}

fn types() -> String {
    let names: Vec<_> = EdmType::ALL.iter().map(|edm| edm.name().trim_start_matches("Edm.")).collect();
    names.join(", ")
}

/// Parses a property. If no type is given and the entity has a stored property of the same name, uses that property's type.
///
/// # Errors
/// Any error from [`read`].
pub(super) fn read_like(text: &str, stored: impl Fn(&str) -> Option<EdmType>) -> Result<(String, Value)> {
    match text.split_once('=') {
        Some((name, found)) if !name.contains(':') => match stored(name) {
            Some(edm) => {
                let typed = format!("{name}:{}={found}", edm.name());
                read(&typed)
            }
            None => read(text),
        },
        _ => read(text),
    }
}
