//! Tests that a doc comment starts with "Returns" only if its function returns a value.

use crate::files::below;

/// Returns the functions without a return value whose doc comments start with "Returns", each with its line number.
fn promises_without_a_result(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let is_head =
        |at: usize| lines[at].starts_with("/// Returns ") && !(at > 0 && lines[at - 1].starts_with("///"));
    let heads = (0..lines.len()).filter(|at| is_head(*at));
    let functions = heads.filter_map(|head| {
        let at = head + lines[head..].iter().position(|line| !is_attribute(line))?;
        is_function(lines[at]).then_some(at)
    });
    functions.filter(|at| !has_result(&lines[*at..])).map(|at| (at + 1, lines[at])).collect()
}

/// Returns `true` for a comment line, or an attribute on a single line.
fn is_attribute(line: &str) -> bool {
    line.starts_with("//") || line.starts_with("#[") && line.ends_with(']')
}

fn is_function(line: &str) -> bool {
    line.split('(').next().is_some_and(|start| start.split(' ').any(|word| word == "fn"))
}

/// Returns `true` if the function signature that starts on the first line has a return type.
fn has_result(lines: &[&str]) -> bool {
    let mut depth = 0_i32;
    for line in lines {
        for (at, character) in line.char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                '-' if depth == 0 && line[at..].starts_with("->") => return true,
                '{' | ';' if depth == 0 => return false,
                _ => {}
            }
        }
    }
    false
}

#[test]
fn functions_return_what_their_docs_promise() {
    let mut found = Vec::new();
    for (path, text) in below("", &[".rs"]) {
        for (number, line) in promises_without_a_result(&text) {
            found.push(format!("{path}:{number}: {line}"));
        }
    }
    assert!(found.is_empty(), "{} functions return nothing:\n{}", found.len(), found.join("\n"));
}

#[test]
fn promises_without_a_result_are_found() {
    let found = |text: &str| promises_without_a_result(text).len();
    assert_eq!(found("/// Returns the sum.\n#[must_use]\npub fn sum(\n    values: &[u32],\n) {\n"), 1);
    assert_eq!(found("/// Returns the sum.\npub fn sum(add: impl Fn(u32) -> u32, out: &mut u32);\n"), 1);
    assert_eq!(found("/// Returns the sum.\n///\n/// More.\nconst fn sum(\n    a: u32,\n) -> u32 {\n"), 0);
    assert_eq!(found("/// Returns the sum.\nstruct Sum;\n/// Adds.\n/// Returns\nfn add() {}\n"), 0);
}
