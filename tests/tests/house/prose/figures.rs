//! Tests how often bad habits of prose occur in each part of the repository. The frequencies are compared with targets,
//! and with a committed baseline that may only decrease.
//!
//! `TABLES_UPDATE=1 cargo test -p tests --test house prose` lowers the baseline to the current frequencies. `TABLES_UPDATE=force` may also raise it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::habits::{HABITS, Habit, Kind, VERB};
use crate::files::{below, root};

const BASELINE: &str = "tests/tests/house/prose/baseline.txt";

/// A line of prose, for example from a comment.
struct Line {
    text: String,
    /// `true` for the first line of a doc comment.
    is_head: bool,
}

/// Returns the part of the repository that contains a file, or `None` if its prose is not counted. The tests of all packages form one part.
fn part(path: &str) -> Option<String> {
    let folder = path.split('/').next().unwrap_or_default();
    if std::path::Path::new(path).extension().is_some_and(|extension| extension == "rs") {
        let is_test = folder == "tests" || path.contains("/tests/") || path.ends_with("/tests.rs");
        return Some(match folder {
            _ if is_test => "tests".to_owned(),
            "docs" => "docs/programs".to_owned(),
            _ => folder.to_owned(),
        });
    }
    if path.starts_with("docs/api/") {
        return None;
    }
    if !is_markdown(path) {
        return Some("scripts".to_owned());
    }
    Some(match path.split('/').collect::<Vec<_>>().as_slice() {
        ["docs", folder, _] => format!("docs/{folder}"),
        ["docs", _] => "docs".to_owned(),
        [_] => "guides".to_owned(),
        _ => "other".to_owned(),
    })
}

fn comments(text: &str) -> Vec<Line> {
    let (mut lines, mut is_sample, mut is_after_doc) = (Vec::new(), false, false);
    for line in text.lines().map(str::trim) {
        let Some(comment) = line.strip_prefix("//") else {
            (is_sample, is_after_doc) = (false, false);
            continue;
        };
        let is_doc = line.starts_with("///");
        let comment = comment.strip_prefix(['/', '!']).unwrap_or(comment).trim();
        if comment.starts_with("```") {
            is_sample = !is_sample;
        } else if !is_sample && !comment.is_empty() && !comment.starts_with(['#', '|']) {
            lines.push(Line { text: comment.to_owned(), is_head: is_doc && !is_after_doc });
        }
        is_after_doc |= is_doc;
    }
    lines
}

/// Returns the comments in a manifest, script or style sheet, and the package description.
fn script_comments(text: &str) -> Vec<Line> {
    const STARTS: [&str; 5] = ["/**", "/*", "//", "# ", "description ="];
    let comment = |line: &str| {
        let rest = STARTS.iter().find_map(|start| line.strip_prefix(start))?;
        Some(rest.trim_end_matches("*/").trim().to_owned()).filter(|text| !text.is_empty())
    };
    text.lines().filter_map(|line| comment(line.trim())).map(|text| Line { text, is_head: false }).collect()
}

fn is_markdown(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|extension| extension == "md")
}

fn paragraphs(text: &str) -> Vec<Line> {
    let mut is_sample = false;
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            is_sample = !is_sample;
        } else if !is_sample && !line.is_empty() {
            lines.push(Line { text: line.to_owned(), is_head: false });
        }
    }
    lines
}

/// Returns the error messages in a file: its string literals, if the file defines errors.
fn messages(path: &str, text: &str) -> Vec<Line> {
    if !path.ends_with("/fault.rs") && !path.starts_with("table-derive/src/check") {
        return Vec::new();
    }
    let literals = text.lines().filter(|line| !line.trim_start().starts_with("//")).filter_map(|line| {
        let (_, rest) = line.split_once('"')?;
        let (literal, _) = rest.rsplit_once('"')?;
        literal.contains(' ').then(|| Line { text: literal.to_owned(), is_head: false })
    });
    literals.collect()
}

fn corpus() -> BTreeMap<String, Vec<Line>> {
    let mut corpus: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    let scripts = [".toml", ".js", ".mjs", ".cjs", ".css", ".py", ".service", "Containerfile"];
    for (path, text) in below("", &[&[".rs", ".md"], scripts.as_slice()].concat()) {
        let Some(part) = part(&path) else { continue };
        if is_markdown(&path) {
            corpus.entry(part).or_default().extend(paragraphs(&text));
        } else if part == "scripts" {
            corpus.entry(part).or_default().extend(script_comments(&text));
        } else {
            corpus.entry(format!("{part} messages")).or_default().extend(messages(&path, &text));
            corpus.entry(part).or_default().extend(comments(&text));
        }
    }
    corpus.retain(|_, lines| !lines.is_empty());
    corpus
}

/// Returns how often a habit occurs, or `None` if it cannot occur in any of the lines.
#[expect(clippy::cast_precision_loss, reason = "some thousand lines")]
fn figure(habit: &Habit, lines: &[Line]) -> Option<f64> {
    let of_kind = || lines.iter().filter(|line| habit.kind == Kind::Line || line.is_head);
    let (all, with) = (of_kind().count(), of_kind().filter(|line| (habit.is_in)(&line.text)).count());
    let scale = if habit.kind == Kind::Head { 100.0 } else { 1_000.0 };
    (all > 0).then(|| scale * with as f64 / all as f64)
}

/// Returns `true` if `figure` is not worse than `limit`. A difference of up to 0.05 is ignored.
fn holds(habit: &Habit, figure: f64, limit: f64) -> bool {
    if habit.name == VERB { figure >= limit - 0.05 } else { figure <= limit + 0.05 }
}

fn baseline() -> BTreeMap<(String, String), f64> {
    let text = fs::read_to_string(root().join(BASELINE)).unwrap_or_default();
    let entry = |line: &str| {
        let (rest, figure) = line.rsplit_once(' ')?;
        let (part, habit) = rest.rsplit_once(' ')?;
        Some(((part.to_owned(), habit.to_owned()), figure.parse().ok()?))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(entry).collect()
}

#[test]
fn no_part_of_the_repository_gets_worse() {
    let baseline = baseline();
    let (mut worse, mut rest) = (
        Vec::new(),
        String::from(
            "# Figures above their target, by part and habit: per cent of heads, or per thousand lines. They may only fall.\n",
        ),
    );
    for (part, lines) in &corpus() {
        for habit in &HABITS {
            let Some(figure) = figure(habit, lines) else { continue };
            if holds(habit, figure, habit.target) {
                continue;
            }
            let before = baseline.get(&(part.clone(), habit.name.to_owned())).copied();
            match before {
                Some(before) if holds(habit, figure, before) => {}
                // The part is new, or its frequency was at the target before.
                _ => worse.push(format!(
                    "{part}: {} is {figure:.1}, wanted {}, before {}",
                    habit.name,
                    habit.target,
                    before.map_or_else(|| "at its target".to_owned(), |before| format!("{before:.1}"))
                )),
            }
            let _ = writeln!(rest, "{part} {} {figure:.1}", habit.name);
        }
    }
    let update = std::env::var("TABLES_UPDATE").unwrap_or_default();
    if update == "force" || (!update.is_empty() && worse.is_empty()) {
        fs::write(root().join(BASELINE), rest).expect("the baseline can be written");
        return;
    }
    assert!(worse.is_empty(), "prose got worse, see `habits.rs` and CONTRIBUTING:\n{}\n", worse.join("\n"));
}

/// Prints how often each habit occurs in all sources. Run it with `cargo test -p tests --test house prose -- --nocapture`.
#[test]
fn figures_of_all_sources() {
    let corpus = corpus();
    let sources = corpus.into_iter().filter(|(part, _)| part.starts_with("table-") && !part.contains(' '));
    let lines: Vec<Line> = sources.flat_map(|(_, lines)| lines).collect();
    for habit in &HABITS {
        let figure = figure(habit, &lines).expect("comments");
        let is_met = holds(habit, figure, habit.target);
        println!(
            "{:9} {figure:6.1}   wanted {:5.1}   {}",
            habit.name,
            habit.target,
            if is_met { "ok" } else { "missed" }
        );
    }
    assert!(lines.len() > 1_000);
}
