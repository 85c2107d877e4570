//! Names of generated items and properties, derived from the names of fields.

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

/// Converts `ByEmail` to `by_email`, and `ByURLPath` to `by_url_path`.
pub(crate) fn snake_case(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| characters.get(before));
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                let next_is_small = characters.get(at + 1).is_some_and(|next| next.is_lowercase());
                *before != '_' && (!before.is_uppercase() || next_is_small)
            });
        if begins {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

/// Converts `first_name` to `FIRST_NAME`, the name of its typed column.
pub(crate) fn upper_case(name: &str) -> String {
    name.to_uppercase()
}

/// Returns the name that serde gives a variant under a `rename_all` rule, such as `"snake_case"`. Returns `None` if the rule is unknown.
pub(crate) fn renamed_by_serde(rule: &str, variant: &str) -> Option<String> {
    let separated = |separator: char| {
        let mut name = String::with_capacity(variant.len() + 4);
        for (at, character) in variant.char_indices() {
            name.extend((at > 0 && character.is_uppercase()).then_some(separator));
            name.push(character.to_ascii_lowercase());
        }
        name
    };
    Some(match rule {
        "lowercase" => variant.to_ascii_lowercase(),
        "UPPERCASE" => variant.to_ascii_uppercase(),
        "PascalCase" => variant.to_owned(),
        "camelCase" => {
            let (first, rest) = variant.split_at_checked(1)?;
            first.to_ascii_lowercase() + rest
        }
        "snake_case" => separated('_'),
        "SCREAMING_SNAKE_CASE" => separated('_').to_ascii_uppercase(),
        "kebab-case" => separated('-'),
        "SCREAMING-KEBAB-CASE" => separated('-').to_ascii_uppercase(),
        _ => return None,
    })
}

/// Returns the name that a `rename_all` rule gives a field, such as `firstName` for `first_name`. Returns `None` if the rule is unknown.
pub(crate) fn field_by_rule(rule: &str, field: &str) -> Option<String> {
    renamed_by_serde(rule, &pascal_case(field))
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

    #[test]
    fn variants_are_renamed_by_the_rules_of_serde() {
        for (rule, name) in [
            ("lowercase", "inreview"),
            ("UPPERCASE", "INREVIEW"),
            ("PascalCase", "InReview"),
            ("camelCase", "inReview"),
            ("snake_case", "in_review"),
            ("SCREAMING_SNAKE_CASE", "IN_REVIEW"),
            ("kebab-case", "in-review"),
            ("SCREAMING-KEBAB-CASE", "IN-REVIEW"),
        ] {
            assert_eq!(renamed_by_serde(rule, "InReview").as_deref(), Some(name));
        }
        assert_eq!(renamed_by_serde("Train-Case", "InReview"), None);
    }
}
