//! The prose habits whose frequency is tested, each with its target.

/// The lines in which a habit is searched for, and the unit of its frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first line of each doc comment. The frequency is a percentage.
    Head,
    /// All lines. The frequency is per thousand lines.
    Line,
}

/// A prose habit, such as a phrase to avoid.
pub(super) struct Habit {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The highest acceptable frequency. For `verb`, it is the lowest one.
    pub(super) target: f64,
    pub(super) is_in: fn(&str) -> bool,
}

/// The only habit that should be frequent: a doc comment that starts with a verb.
pub(super) const VERB: &str = "verb";

pub(super) const HABITS: [Habit; 9] = [
    Habit { name: "clause", kind: Kind::Head, target: 2.0, is_in: starts_with_clause },
    Habit { name: VERB, kind: Kind::Head, target: 25.0, is_in: starts_with_verb },
    Habit { name: "what", kind: Kind::Line, target: 8.0, is_in: |line| has(line, &["what", "What"]) },
    Habit { name: "to-be", kind: Kind::Line, target: 2.0, is_in: has_infinitive },
    Habit { name: "archaic", kind: Kind::Line, target: 4.0, is_in: |line| has(line, &ARCHAIC) },
    Habit { name: "beside", kind: Kind::Line, target: 2.0, is_in: |line| has(line, &["beside", "besides"]) },
    Habit { name: "so-that", kind: Kind::Line, target: 5.0, is_in: |line| has(line, &["so that"]) },
    Habit { name: "there-is", kind: Kind::Line, target: 6.0, is_in: |line| has(line, &THERE_IS) },
    Habit { name: "those", kind: Kind::Line, target: 0.5, is_in: starts_with_those },
];

const CLAUSES: [&str; 14] = [
    "What", "Whether", "That", "Those", "How", "Where", "Whose", "Which", "By which", "The same", "Likewise",
    "Why", "When", "Whom",
];

const VERBS: [&str; 54] = [
    "Add",
    "Append",
    "Apply",
    "Begin",
    "Build",
    "Check",
    "Close",
    "Commit",
    "Compute",
    "Construct",
    "Convert",
    "Copy",
    "Create",
    "Decide",
    "Decode",
    "Delete",
    "Encode",
    "Find",
    "Format",
    "Get",
    "Insert",
    "Iterate",
    "List",
    "Load",
    "Look",
    "Make",
    "Mark",
    "Merge",
    "Move",
    "Open",
    "Parse",
    "Print",
    "Publish",
    "Read",
    "Record",
    "Register",
    "Remove",
    "Replace",
    "Return",
    "Run",
    "Send",
    "Set",
    "Show",
    "Skip",
    "Start",
    "Stop",
    "Take",
    "Test",
    "Update",
    "Use",
    "Validate",
    "Verify",
    "Wait",
    "Write",
];

const ARCHAIC: [&str; 16] = [
    "anew",
    "by now",
    "by and by",
    "once more",
    "goes on",
    "go on",
    "come to",
    "comes to",
    "came to",
    "stand",
    "stands",
    "of one's own",
    "of its own",
    "of their own",
    "of ones own",
    "of her own",
];

const THERE_IS: [&str; 4] = ["is there", "are there", "there is", "there are"];

fn starts_with_clause(head: &str) -> bool {
    CLAUSES.iter().chain(&["As"]).any(|word| starts(head, word))
}

fn starts_with_verb(head: &str) -> bool {
    let word = head.split(|character: char| !character.is_alphabetic()).next().unwrap_or_default();
    let is_form = |verb: &str| {
        let stem = verb.strip_suffix('y').unwrap_or(verb);
        word == verb
            || [format!("{verb}s"), format!("{verb}es"), format!("{stem}ies")].iter().any(|form| form == word)
    };
    VERBS.iter().any(|verb| is_form(verb))
}

/// Returns `true` if the line contains a phrase such as "is to be" or "are to commit".
fn has_infinitive(line: &str) -> bool {
    ["is", "are", "was", "were"].iter().any(|verb| {
        positions(line, &format!("{verb} to")).any(|end| {
            let rest = line[end..].trim_start();
            rest.split(' ').next().is_some_and(|word| {
                !word.is_empty() && rest.len() > word.len() && word.chars().all(|c| c.is_ascii_lowercase())
            })
        })
    })
}

fn starts_with_those(line: &str) -> bool {
    let line = line.strip_prefix("- ").unwrap_or(line);
    starts(line, "Those of") || starts(line, "Those that")
}

fn has(line: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| positions(line, phrase).next().is_some())
}

fn starts(line: &str, phrase: &str) -> bool {
    line.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(is_of_word))
}

/// Returns the end position of each occurrence of a phrase outside longer words.
fn positions<'a>(line: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(phrase).filter_map(|(at, phrase)| {
        let end = at + phrase.len();
        let is_whole = !line[..at].ends_with(is_of_word) && !line[end..].starts_with(is_of_word);
        is_whole.then_some(end)
    })
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[test]
fn habits_are_found() {
    assert!(starts_with_clause("Whether it is open.") && !starts_with_clause("Whatever"));
    assert!(starts_with_verb("Copies a row.") && starts_with_verb("Writes") && !starts_with_verb("Written"));
    assert!(has_infinitive("what is to be done") && has_infinitive("rows that are to go there"));
    assert!(!has_infinitive("it is to") && !has_infinitive("this to be"));
    assert!(has("it goes on.", &ARCHAIC) && !has("standing", &ARCHAIC));
    assert!(starts_with_those("- Those of `insert`.") && !starts_with_those("All of those of `insert`."));
}
