//! Tests that samples in doc comments explain a rule. A sample must not only cite the number of the rule, which readers do not know.

use crate::files::below;

/// Returns the comments in samples that consist only of rule numbers, such as `// PAT-INTRA-7`. Each has its line number.
fn bare_rules(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim_start()));
    let docs = lines.filter(|(_, line)| line.starts_with("///") || line.starts_with("//!"));
    docs.filter(|(_, line)| {
        let comment = line[3..].rsplit_once("// ").map(|(_, comment)| comment.trim());
        comment.is_some_and(|comment| {
            !comment.is_empty() && comment.split([' ', ',', ';']).all(is_rule_or_joint)
        })
    })
    .collect()
}

/// Returns `true` for a rule number such as `PAT-INTRA-7`, and for the words and punctuation between rule numbers.
fn is_rule_or_joint(word: &str) -> bool {
    let is_rule = word.rsplit_once('-').is_some_and(|(family, number)| {
        let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase());
        family.split('-').all(is_name) && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    });
    is_rule || ["", "and", "to"].contains(&word)
}

#[test]
fn samples_explain_the_rules_that_they_name() {
    let mut found = Vec::new();
    for (path, text) in below("", &[".rs"]) {
        for (number, line) in bare_rules(&text) {
            found.push(format!("{path}:{number}: {line}"));
        }
    }
    assert!(found.is_empty(), "{} rules without a word:\n{}", found.len(), found.join("\n"));
}

#[test]
fn bare_rules_are_found() {
    assert_eq!(bare_rules("/// let a = 1; // PAT-INTRA-7\n").len(), 1);
    assert_eq!(bare_rules("    //! // QUE-7 and QUE-8\n").len(), 1);
    assert_eq!(bare_rules("/// let a = 1; // the row is gone (PAT-INTRA-7)\n").len(), 0);
    assert_eq!(bare_rules("let a = 1; // PAT-INTRA-7\n/// https://example.com/\n").len(), 0);
}
