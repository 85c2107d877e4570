//! Finds the rules cited in a text.

use std::collections::BTreeSet;

use super::{FAMILIES, Rule, rules};

/// Returns the rules cited in a text: `PAT-IX-3` anywhere, and `key_3`, `key_3_and_4` or `pat_ix_3_to_5` in names that contain no other numbers.
pub(super) fn named_in(text: &str) -> BTreeSet<Rule> {
    let mut named = BTreeSet::new();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    for word in words.filter(|word| word.contains(|c: char| c.is_ascii_digit())) {
        named.extend(rule(word));
        named_by(word, &mut named);
    }
    named
}

/// Returns the rule cited by a word such as `PAT-IX-3`.
pub(super) fn rule(word: &str) -> Option<Rule> {
    let (name, number) = word.rsplit_once('-')?;
    Some(Rule { family: family(name)?, number: number.parse().ok()? })
}

/// Adds the rules cited in a function's name to `named`.
fn named_by(name: &str, named: &mut BTreeSet<Rule>) {
    let parts: Vec<String> = name.split('_').map(str::to_ascii_uppercase).collect();
    let (mut current, mut last, mut to) = (None, None, false);
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        // `pat_log_1` means PAT-LOG-1, not LOG-1.
        let compound = parts.get(at).and_then(|next| family(&format!("{part}-{next}")));
        if let Some(found) = compound.or_else(|| family(part)) {
            (current, last) = (Some(found), None);
            at += usize::from(compound.is_some());
        } else if let (Some(family), Ok(number)) = (current, part.parse::<u32>()) {
            let first = if to { last.unwrap_or(number) } else { number };
            let range = (first..=number).map(|number| Rule { family, number });
            named.extend(range.filter(|rule| rules().any(|known| known == *rule)));
            last = Some(number);
        } else if part != "AND" && part != "TO" {
            // A word ends the list of rules. Numbers after it are not rules.
            current = None;
        }
        to = part == "TO";
    }
}

fn family(name: &str) -> Option<&'static str> {
    FAMILIES.iter().map(|family| family.name).find(|family| *family == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_in_names_and_texts() {
        let found = |text: &str| named_in(text).iter().map(Rule::to_string).collect::<Vec<_>>();
        assert_eq!(found("fn key_3_and_5_of_2_words()"), ["KEY-3", "KEY-5"]);
        assert_eq!(found("fn ord_1_to_3_rows()"), ["ORD-1", "ORD-2", "ORD-3"]);
        assert_eq!(found("fn ent_2_252_properties()"), ["ENT-2"]);
        assert_eq!(found("fn fil_3_15_and_16_int32()"), ["FIL-3", "FIL-15", "FIL-16"]);
        assert_eq!(found("fn etag_5_and_con_10_later()"), ["CON-10", "ETAG-5"]);
        assert_eq!(found("fn pat_log_1_and_dq_11_newest()"), ["DQ-11", "PAT-LOG-1"]);
        assert_eq!(found("fn log_2_and_pat_anti_2_names()"), ["LOG-2", "PAT-ANTI-2"]);
        assert_eq!(found("fn pat_4_is_none()"), Vec::<String>::new());
        assert_eq!(found("// SIZE-2, \"PAGE-9\": UTF-16, PAT-IX-7"), ["PAGE-9", "PAT-IX-7", "SIZE-2"]);
    }
}
