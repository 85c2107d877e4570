//! Names of generated items and properties, derived from field names.

/// Converts `first_name` to `FirstName`. An `_` is removed only before a letter: `hour_00` becomes `Hour00`, and `a_1_1` becomes `A1_1`, which
/// differs from `a_11`.
pub(crate) fn pascal_case(name: &str) -> String {
    let mut pascal = String::with_capacity(name.len());
    let mut begins = true;
    let mut after_digit = false;
    for character in name.chars() {
        if character == '_' {
            begins = true;
            continue;
        }
        if begins {
            if after_digit && character.is_numeric() {
                pascal.push('_');
            }
            pascal.extend(character.to_uppercase());
        } else {
            pascal.push(character);
        }
        begins = false;
        after_digit = character.is_numeric();
    }
    pascal
}

/// Converts `first_name` to `FIRST_NAME`, the name of the typed column.
pub(crate) fn upper_case(name: &str) -> String {
    name.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pascal_case() {
        for (field, property) in [
            ("first_name", "FirstName"),
            ("id", "Id"),
            ("hour_00", "Hour00"),
            ("a_1_1", "A1_1"),
            ("a_11", "A11"),
            ("_private", "Private"),
            ("straße", "Straße"),
            ("x2_y", "X2Y"),
        ] {
            assert_eq!(pascal_case(field), property);
        }
    }
}
