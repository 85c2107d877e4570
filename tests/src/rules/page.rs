//! The pages of `docs/rules`: the text of each rule, followed by the tests that demonstrate it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::words::rule;
use super::{Case, Place, Rule, reason};

/// The maximum number of tests that a page lists per rule. The most significant citations come first.
const NAMED: usize = 3;

/// The environment variable that makes the test update the pages instead of only comparing them.
pub const UPDATE: &str = "TABLES_UPDATE";

/// The start of the line that lists the tests of a rule. Such a line follows each rule that is a list item.
const TESTS: &str = "  Tests: ";

/// The heading of the list of tests at the end of a page, for rules that are not list items.
const AT_THE_END: &str = "## Tests";

/// One page: its path, its stored text, its expected text and its rules.
#[derive(Debug)]
pub struct Page {
    /// The path, relative to the workspace.
    pub path: PathBuf,
    /// The text of the stored page.
    pub stored: String,
    /// The expected text of the page, with links to the current tests.
    pub written: String,
    /// The rules on the page, in order.
    pub rules: Vec<Rule>,
}

/// Returns all pages that contain rules: the pages in `docs/rules`, and the page about schema evolution.
///
/// # Errors
/// An error if a page cannot be read.
pub fn pages(workspace: &Path, cases: &[Case]) -> io::Result<Vec<Page>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(workspace.join("docs/rules"))?
        .map(|entry| Ok(Path::new("docs/rules").join(entry?.file_name())))
        .collect::<io::Result<_>>()?;
    paths.retain(|path| !path.ends_with("README.md"));
    paths.push("docs/schema-evolution.md".into());
    paths.sort();
    let tests = Tests::of(cases);
    paths.into_iter().map(|path| page(workspace, path, &tests)).collect()
}

fn page(workspace: &Path, path: PathBuf, tests: &Tests<'_>) -> io::Result<Page> {
    let stored = fs::read_to_string(workspace.join(&path))?.replace("\r\n", "\n");
    let text = stored.split_once(&format!("\n{AT_THE_END}\n")).map_or(stored.as_str(), |(text, _)| text);
    let depth = path.components().count() - 1;
    let (mut lines, mut rules, mut items): (Vec<String>, _, _) = (vec![], vec![], BTreeSet::new());
    let mut open = None;
    for line in text.lines().filter(|line| !line.starts_with(TESTS)) {
        let ends = line.starts_with("- **") || line.starts_with('#');
        if let Some(rule) = open.take_if(|_| ends) {
            insert(&mut lines, tests.line(rule, depth));
        }
        if let Some((rule, is_item)) = anchor(line) {
            rules.push(rule);
            if is_item {
                open = Some(rule);
                items.insert(rule);
            }
        }
        lines.push(line.to_owned());
    }
    if let Some(rule) = open {
        insert(&mut lines, tests.line(rule, depth));
    }
    let rest: Vec<_> = rules.iter().filter(|rule| !items.contains(rule)).collect();
    if !rest.is_empty() {
        insert(&mut lines, format!("\n{AT_THE_END}\n"));
        // Neighbouring rules with the same tests share a line.
        for same in rest.chunk_by(|a, b| tests.links(**a, depth) == tests.links(**b, depth)) {
            let [first, .., last] = same else {
                lines.extend(same.iter().map(|rule| format!("- **{rule}** {}", tests.links(**rule, depth))));
                continue;
            };
            lines.push(format!("- **{first}** to **{last}** {}", tests.links(**first, depth)));
        }
    }
    let written = lines.join("\n") + "\n";
    Ok(Page { path, stored, written, rules })
}

/// Adds a line after the last non-blank line.
fn insert(lines: &mut Vec<String>, line: String) {
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.insert(last, line);
}

/// Returns the rule that starts on a line. The flag is `true` for a list item. Lines have the forms `- **KEY-3** …`, `**EX-1 …**` and `| EVO-1 | …`.
fn anchor(line: &str) -> Option<(Rule, bool)> {
    let named = |text: &str| rule(text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()?);
    if let Some(text) = line.strip_prefix("- **") {
        return named(text).map(|rule| (rule, true));
    }
    let text = line.strip_prefix("**").or_else(|| line.strip_prefix("| "))?;
    named(text).map(|rule| (rule, false))
}

/// The tests that cite each rule. The most significant citation comes first.
struct Tests<'a>(BTreeMap<Rule, Vec<(Place, &'a Case)>>);

impl<'a> Tests<'a> {
    fn of(cases: &'a [Case]) -> Self {
        let mut by_rule: BTreeMap<Rule, Vec<(Place, &Case)>> = BTreeMap::new();
        for case in cases {
            for (rule, place) in &case.rules {
                by_rule.entry(*rule).or_default().push((*place, case));
            }
        }
        for cases in by_rule.values_mut() {
            cases.sort_by_key(|(place, _)| *place);
        }
        Self(by_rule)
    }

    fn line(&self, rule: Rule, depth: usize) -> String {
        format!("{TESTS}{}", self.links(rule, depth))
    }

    /// Returns links to the tests of a rule, or the reason why it has none. `depth` is the depth of the page's folder, which relative links need.
    fn links(&self, rule: Rule, depth: usize) -> String {
        let Some(cases) = self.0.get(&rule) else {
            return format!("*{}*", reason(rule).unwrap_or("open: no test yet"));
        };
        let more = if cases.len() > NAMED { ", …" } else { "" };
        let links = cases.iter().take(NAMED).map(|(_, case)| link(case, depth)).collect::<Vec<_>>();
        links.join(", ") + more
    }
}

fn link(case: &Case, depth: usize) -> String {
    let file = case.file.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>();
    format!("[`{}`]({}{})", case.name, "../".repeat(depth), file.join("/"))
}
