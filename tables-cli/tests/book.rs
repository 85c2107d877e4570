//! Tests the chapter about the tool. Runs the chapter's commands in order in one folder, and checks that they print the output shown in the chapter.
//!
//! `TABLES_UPDATE=1 cargo test -p tables-cli --test book` updates the output in the chapter.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

/// Runs a line of the chapter, and returns the output as a terminal would show it.
fn run(folder: &Path, line: &str) -> String {
    if let Some(file) = line.strip_prefix("cat ") {
        return std::fs::read_to_string(folder.join(file)).unwrap();
    }
    let words = words(line);
    assert_eq!(words[0], "tables", "{line}");
    let output =
        Command::new(env!("CARGO_BIN_EXE_tables")).current_dir(folder).args(&words[1..]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    // The engine refers to folders by their absolute paths, which differ between runs.
    let shown = shown.replace(&folder.display().to_string(), "/home/ada");
    let shown = masked(&shown, "99999999T999999.999Z", "20261125T210509.123Z");
    masked(&shown, "9999-99-99 99:99:99", "2026-11-25 21:05:09")
}

/// Replaces every match of the pattern `form`, in which `9` matches any digit. This hides times, which differ between runs.
fn masked(text: &str, form: &str, instead: &str) -> String {
    let (mut masked, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_form = rest.get(..form.len()).is_some_and(|found| {
            found.chars().zip(form.chars()).all(|(found, wanted)| match wanted {
                '9' => found.is_ascii_digit(),
                wanted => found == wanted,
            })
        });
        let length = if is_form { form.len() } else { first.len_utf8() };
        masked.push_str(if is_form { instead } else { &rest[..length] });
        rest = &rest[length..];
    }
    masked
}

/// Splits a line at spaces outside double quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut is_quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words
}

#[test]
fn the_chapter_shows_what_the_commands_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/tool.md");
    let chapter = std::fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut written, mut lines) = (String::new(), chapter.lines().peekable());
    while let Some(line) = lines.next() {
        written.extend([line, "\n"]);
        let mut block = Vec::new();
        if line.starts_with("```console") || line.starts_with("```csv ") {
            block.extend(std::iter::from_fn(|| lines.next_if(|line| !line.starts_with("```"))));
        }
        if let Some(name) = line.strip_prefix("```csv ") {
            std::fs::write(folder.path().join(name), block.join("\n") + "\n").unwrap();
            written.extend(block.iter().flat_map(|line| [line, "\n"]));
        } else {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                written.extend(["$ ", command, "\n", &run(folder.path(), command)]);
            }
        }
    }
    if std::env::var_os("TABLES_UPDATE").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    assert_eq!(written, std::fs::read_to_string(&path).unwrap());
}
