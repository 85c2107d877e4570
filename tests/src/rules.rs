//! Which rules of the table service are named by a test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// The rules of the data model, operations, transactions, queries, paging, concurrency and queues: family, first and last number.
pub const RULES: &[(&str, u32, u32)] = &[
    ("ACC", 1, 3),
    ("TBL", 1, 6),
    ("ENT", 1, 3),
    ("KEY", 1, 10),
    ("ORD", 1, 6),
    ("PROP", 1, 7),
    ("TYPE", 1, 12),
    ("JSON", 1, 8),
    ("ETAG", 1, 7),
    ("SIZE", 1, 7),
    ("REQ", 1, 8),
    ("OPT", 1, 6),
    ("INS", 1, 6),
    ("GET", 1, 3),
    ("UPD", 1, 6),
    ("MRG", 1, 5),
    ("UPS", 1, 6),
    ("DEL", 1, 4),
    ("IFM", 1, 4),
    ("ERR", 1, 5),
    ("EGT", 1, 14),
    ("EGT", 20, 25),
    ("EGT", 30, 39),
    ("QRY", 1, 4),
    ("FIL", 1, 8),
    ("FIL", 10, 19),
    ("LIT", 1, 5),
    ("SEL", 1, 6),
    ("TOP", 1, 4),
    ("CLS", 1, 5),
    ("PAGE", 1, 13),
    ("CON", 1, 12),
    ("QUE", 1, 16),
    ("QUE", 20, 23),
];

/// Rules that speak of a wire, an account or a web server: no test of a store alone can show them.
pub const WIRE: &[(&str, u32, u32)] = &[
    ("QUE", 1, 1),
    ("QUE", 4, 4),
    ("QUE", 16, 16),
    ("ACC", 1, 3),
    ("KEY", 4, 5),
    ("KEY", 10, 10),
    ("PROP", 5, 5),
    ("TYPE", 2, 3),
    ("JSON", 1, 8),
    ("REQ", 1, 7),
    ("INS", 3, 6),
    ("MRG", 5, 5),
    ("UPS", 5, 5),
    ("UPD", 5, 5),
    ("DEL", 1, 1),
    ("IFM", 2, 2),
    ("ERR", 1, 2),
    ("EGT", 7, 8),
    ("EGT", 11, 11),
    ("EGT", 20, 25),
    ("EGT", 30, 33),
    ("EGT", 35, 39),
    ("QRY", 1, 2),
    ("FIL", 8, 8),
    ("LIT", 4, 5),
    ("SEL", 4, 5),
    ("PAGE", 2, 2),
    ("PAGE", 8, 8),
    ("CON", 6, 6),
];

/// A rule: family and number.
pub type Rule = (String, u32);

/// All rules of a list.
#[must_use]
pub fn all(list: &[(&str, u32, u32)]) -> BTreeSet<Rule> {
    list.iter()
        .flat_map(|(family, first, last)| (*first..=*last).map(|n| ((*family).to_owned(), n)))
        .collect()
}

/// The rules named in the tests below a folder, each with the first file that names it.
///
/// Tests are files in folders `tests`, files `tests.rs`, what follows `#[cfg(test)]` in others, and assertions in examples.
///
/// # Errors
/// Where a file cannot be read.
pub fn named_in_tests(folder: &Path) -> io::Result<BTreeMap<Rule, String>> {
    let mut named = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = fs::read_dir(&folder)?.collect::<io::Result<_>>()?;
        entries.sort_by_key(fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") && name != "rules.rs" {
                let text = fs::read_to_string(&path)?;
                for rule in named_in(&tests_of(&path, &text)) {
                    named.entry(rule).or_insert_with(|| path.display().to_string());
                }
            }
        }
    }
    Ok(named)
}

/// The part of a file that is tests.
fn tests_of(path: &Path, text: &str) -> String {
    let in_tests =
        path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")));
    if in_tests {
        return text.to_owned();
    }
    let (code, tests) = text.split_once("#[cfg(test)]").unwrap_or((text, ""));
    let examples =
        code.lines().filter(|line| line.trim_start().starts_with("///") && line.contains("assert"));
    examples.chain(tests.lines()).collect::<Vec<_>>().join("\n")
}

/// The rules named in a text: `KEY-3` anywhere, `key_3`, `key_3_and_4`, `key_3_to_5` in names, whose other numbers are none.
fn named_in(text: &str) -> BTreeSet<Rule> {
    let families: BTreeSet<&str> = RULES.iter().map(|(family, ..)| *family).collect();
    let rules = all(RULES);
    let mut named = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-') {
        if let Some((family, number)) = word.rsplit_once('-')
            && let (Some(family), Ok(number)) = (families.get(family), number.parse())
        {
            named.insert(((*family).to_owned(), number));
        }
        let (mut family, mut last, mut to) = (None, None, false);
        for part in word.split('_') {
            if let Some(found) = families.get(part.to_ascii_uppercase().as_str()) {
                (family, last) = (Some((*found).to_owned()), None);
            } else if let (Some(family), Ok(number)) = (&family, part.parse::<u32>()) {
                let first = if to { last.unwrap_or(number) } else { number };
                let range = (first..=number).map(|number| (family.clone(), number));
                named.extend(range.filter(|rule| rules.contains(rule)));
                last = Some(number);
            } else if part != "and" && part != "to" {
                // A word ends the list: the numbers behind it are no rules.
                family = None;
            }
            to = part == "to";
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_in_names_and_texts() {
        let found = |text: &str| -> Vec<String> {
            named_in(text).into_iter().map(|(family, number)| format!("{family}-{number}")).collect()
        };
        assert_eq!(found("fn key_3_and_5_of_2_words()"), ["KEY-3", "KEY-5"]);
        assert_eq!(found("fn ord_1_to_3_rows()"), ["ORD-1", "ORD-2", "ORD-3"]);
        assert_eq!(found("fn ent_2_252_properties()"), ["ENT-2"]);
        assert_eq!(found("fn fil_3_15_and_16_int32()"), ["FIL-3", "FIL-15", "FIL-16"]);
        assert_eq!(found("fn etag_5_and_con_10_later()"), ["CON-10", "ETAG-5"]);
        assert_eq!(found("// SIZE-2, \"PAGE-9\": UTF-16"), ["PAGE-9", "SIZE-2"]);
    }
}
