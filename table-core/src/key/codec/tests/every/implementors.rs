//! Finds the types that implement a trait by searching the source files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the name of the implemented trait, such as `Trait` for `impl<T, C: KeyCodec<T>> Trait<T>`.
fn trait_of(head: &str) -> &str {
    let mut depth = 0_i32;
    let after = head.trim_start_matches("impl").find(|letter: char| {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        depth == 0
    });
    let rest = head.get("impl".len() + after.unwrap_or_default()..).unwrap_or_default();
    rest.trim_start_matches(['>', ' ']).split('<').next().unwrap_or_default()
}

/// Returns the names of the types that implement a trait in the codecs' source files. Tests are not searched.
pub(super) fn implementors(of: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/key/codec");
    let mut folders = vec![folder];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
                continue;
            }
            if path.ends_with("tests.rs") || path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
            for line in code.map(str::trim_start).filter(|line| line.starts_with("impl")) {
                let Some((before, after)) = line.rsplit_once(" for ") else { continue };
                if trait_of(before) == of {
                    found.insert(after.split(['<', ' ', '{']).next().unwrap().to_owned());
                }
            }
        }
    }
    found
}
