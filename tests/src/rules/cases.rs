//! Finds the tests in the source of the workspace, and the rules that each test cites.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Rule;
use super::words::named_in;

/// The location of a test's citation of a rule, ordered from most to least significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The rule is in the name of the test.
    Name,
    /// The rule is in the comment above the test.
    Comment,
    /// The rule is in the body of the test.
    Body,
}

/// A test that cites rules.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the function. For a test of a compiler message, the path of the file without the extension, such as `ui/key/float`.
    pub name: String,
    /// The path of the file, relative to the searched folder.
    pub file: PathBuf,
    /// The rules cited by the test.
    pub rules: BTreeMap<Rule, Place>,
}

/// Returns the tests in a folder that cite rules, sorted by file.
///
/// These count as tests: functions with `#[test]` or `#[tokio::test]`, scenarios of the behaviour suite, tests of compiler messages, and the entries in the
/// list of scenarios that are expected to fail on Azurite. Rules that other parts of a file cite are ignored.
///
/// # Errors
/// An error if a file cannot be read.
pub fn cases(folder: &Path) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
            let name = name.to_string_lossy();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    for path in files {
        let mut text = fs::read_to_string(&path)?;
        // In a test for a compiler message, the message cites the rules.
        let message = path.with_extension("stderr");
        if message.exists() {
            text.push_str(&fs::read_to_string(message)?);
        }
        let file = path.strip_prefix(folder).unwrap_or(&path);
        // This module names rules as data, not as evidence.
        if !file.starts_with("tests/src/rules") {
            cases.extend(cases_of(file, &text));
        }
    }
    cases.retain(|case| !case.rules.is_empty());
    Ok(cases)
}

fn cases_of(file: &Path, text: &str) -> Vec<Case> {
    let message =
        ["tests/ui/fail", "tests/ui_patterns/fail"].iter().find_map(|fail| file.strip_prefix(fail).ok());
    if let Some(case) = message {
        let name = format!("ui/{}", case.with_extension("").display());
        return vec![case_of(file, &name, "", text)];
    }
    if file.ends_with("azurite/deviations.rs") {
        return deviations(file, text);
    }
    functions(file, text)
}

fn case_of(file: &Path, name: &str, comment: &str, body: &str) -> Case {
    let mut rules = BTreeMap::new();
    for (place, text) in [(Place::Name, name), (Place::Comment, comment), (Place::Body, body)] {
        for rule in named_in(text) {
            rules.entry(rule).or_insert(place);
        }
    }
    Case { name: name.to_owned(), file: file.to_owned(), rules }
}

/// Returns the test functions in a file. rustfmt must have formatted the source. The body of a function is assumed to end at the first brace with the
/// indentation of the function.
fn functions(file: &Path, text: &str) -> Vec<Case> {
    let is_suite = file.starts_with("tests/src/suite") && !file.ends_with("scene.rs");
    let mut cases = Vec::new();
    let (mut comment, mut is_test) = (String::new(), false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code.starts_with("//") {
            comment.push_str(code);
            comment.push('\n');
        } else if code.starts_with("#[") {
            is_test |= code.starts_with("#[test]") || code.starts_with("#[tokio::test");
        } else if let Some(name) = function(code)
            && (is_test || is_suite && line.starts_with("pub async fn "))
        {
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            let rest = if code.ends_with('}') { Vec::new() } else { until(&mut lines, &end) };
            let body = std::iter::once(code).chain(rest).collect::<Vec<_>>().join("\n");
            cases.push(case_of(file, name, &comment, &body));
            (comment, is_test) = (String::new(), false);
        } else {
            (comment, is_test) = (String::new(), false);
        }
    }
    cases
}

fn until<'a>(lines: &mut std::str::Lines<'a>, end: &str) -> Vec<&'a str> {
    lines.take_while(|line| *line != end).collect()
}

/// Returns the name of a function whose declaration starts on this line.
fn function(code: &str) -> Option<&str> {
    let words = ["pub ", "async ", "const "];
    let code = words.iter().fold(code, |code, word| code.strip_prefix(word).unwrap_or(code));
    let name = code.strip_prefix("fn ")?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    name.get(..end)
}

/// Returns the scenarios expected to fail on Azurite. They count as tests because the suite runs them and checks that they fail.
fn deviations(file: &Path, text: &str) -> Vec<Case> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( \"", "(\"");
    let entries = text.split("(\"").skip(1).filter_map(|entry| {
        let (name, rest) = entry.split_once("\", ")?;
        let rule = rest.strip_prefix("Always, ")?.split(", ").next()?;
        // The name of the scenario contains the rules that Azurite violates.
        Some(Case { name: name.to_owned(), ..case_of(file, "", "", rule) })
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! TBL-1: of no test.

/// KEY-1
fn helper() {
    // KEY-2
}

/// ORD-1: why.
#[tokio::test]
async fn ord_2_to_3_it_holds() {
    if true {
        // ORD-4
    }
}

mod inner {
    #[test]
    fn short() {}
    // SIZE-1
}

proptest! {
    #[test]
    fn top_1_a_law(n in 0..4) {
        let _ = \"TOP-2\";
    }
}
";

    fn found(file: &str, text: &str) -> Vec<(String, Vec<String>)> {
        let of = |case: Case| {
            (case.name, case.rules.iter().map(|(rule, place)| format!("{rule} {place:?}")).collect())
        };
        cases_of(Path::new(file), text).into_iter().map(of).collect()
    }

    fn is(name: &str, rules: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), rules.iter().map(|rule| (*rule).to_owned()).collect())
    }

    #[test]
    fn a_test_cites_in_its_name_the_comment_above_and_its_body() {
        let cited = [
            is("ord_2_to_3_it_holds", &["ORD-1 Comment", "ORD-2 Name", "ORD-3 Name", "ORD-4 Body"]),
            is("short", &[]),
            is("top_1_a_law", &["TOP-1 Name", "TOP-2 Body"]),
        ];
        assert_eq!(found("table-core/src/key.rs", SOURCE), cited);
    }

    #[test]
    fn scenarios_messages_and_deviations_are_tests() {
        let scenario = "pub async fn key_1_x<S: TableStore>(store: &S) {\n}\nasync fn key_2() {\n}\n";
        assert_eq!(found("tests/src/suite/keys.rs", scenario), [is("key_1_x", &["KEY-1 Name"])]);
        assert_eq!(found("tests/src/suite/scene.rs", scenario), []);
        let message = found("tests/ui/fail/key/float.rs", "// KEY-3\nfn main() {}\n");
        assert_eq!(message, [is("ui/key/float", &["KEY-3 Body"])]);
        let entries = "&[\n(\"a::fil_1_x\", Always, \"AZ-14\", \"\"),\n(\"b\", Sometimes, \"AZ-5\", \"\"),\n(\n\"c\",\nAlways,\n\"AZ-9\",\n";
        let file = "tests/tests/azurite/deviations.rs";
        assert_eq!(found(file, entries), [is("a::fil_1_x", &["AZ-14 Body"]), is("c", &["AZ-9 Body"])]);
    }
}
