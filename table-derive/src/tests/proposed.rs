//! Tests the code proposed in messages, using generated declarations. These combine field types, codecs and trailing commas with missing keys, constant keys,
//! keys that consist of times or a `bool`, and indexes that omit the entity's key.
//!
//! Unlike `pasted`, this module tests every code snippet in a message, not only the code after "write". The derive macro must accept the proposed declarations.
//! The rules evaluated by the compiler are tested in `tests/ui`: its file `tests/pass/proposed.rs` contains a declaration for each kind of proposed key.
//! `TABLES_UPDATE=1` writes this file.

pub(super) mod declared;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::{env, fs};

use proc_macro2::TokenStream;

use super::wrong::{expand, reported};
use crate::grammar;
use declared::{Declared, coarse, hot, indexes, missing};

/// Returns the code snippets in a help text that contain no placeholders.
fn codes(message: &str) -> impl Iterator<Item = &str> {
    let help = message.split_once("\n\nhelp: ").map_or("", |(_, help)| help);
    let codes = help.split('`').skip(1).step_by(2);
    let is_whole =
        |code: &&str| !["…", "path::To", "(field)"].iter().any(|placeholder| code.contains(placeholder));
    // The declaration may have no field that identifies the entity.
    codes.filter(is_whole).filter(|_| !help.contains("add a field `id`"))
}

/// Returns the declaration with the proposed code in place of the wrong code, or `None` if the code is a name or an example.
fn pasted(declared: &Declared, code: &str) -> Option<String> {
    if code.starts_with("#[") {
        let names: Vec<&str> = code.split("#[").skip(1).filter_map(|rest| rest.split('(').next()).collect();
        // A misspelt name is replaced.
        let is_replaced = |line: &str| {
            names.iter().any(|name| {
                let of_index = name.starts_with("index") && line.starts_with("#[index");
                of_index || line.starts_with(&format!("#[{name}("))
            }) || line.starts_with("#[partition_keys(")
        };
        let kept: Vec<&str> = declared.text.lines().filter(|line| !is_replaced(line)).collect();
        return Some(format!("{}\n{}\n", code.replace("] #[", "]\n#["), kept.join("\n")));
    }
    if code.starts_with("row_key(") {
        let line = declared.text.lines().find(|line| line.starts_with("#[index"))?;
        let (before, _) = line.split_once("row_key(")?;
        return Some(declared.text.replace(line, &format!("{before}{code})]")));
    }
    let piece = declared.piece.as_ref()?;
    code.contains("at)").then(|| declared.text.replace(piece, code))
}

/// Returns the declarations proposed in a message.
fn proposals(declared: &Declared, message: &str) -> Vec<String> {
    let codes = codes(message);
    if !message.starts_with("[T066]") {
        return codes.filter_map(|code| pasted(declared, code)).collect();
    }
    // A T066 message changes two keys.
    let first = Declared { text: declared.text.clone(), piece: None };
    vec![
        codes
            .fold(first, |declared, code| Declared {
                text: pasted(&declared, code).unwrap_or(declared.text),
                piece: None,
            })
            .text,
    ]
}

/// Returns the pieces of each key in a declaration.
fn keys(text: &str) -> Vec<(&str, Vec<String>)> {
    let starts = text.match_indices("_key(").map(|(at, word)| at + word.len());
    let keys = starts.map(|start| {
        let (mut depth, rest) = (0, &text[start..]);
        let end = rest.find(|character| {
            depth += i32::from(character == '(') - i32::from(character == ')');
            depth < 0
        });
        let pieces: TokenStream = rest[..end.unwrap_or(rest.len())].parse().expect("a key is made of tokens");
        let word =
            text[..start - 1].rsplit(|character: char| !character.is_alphabetic() && character != '_').next();
        (word.unwrap_or_default(), grammar::items(pieces))
    });
    keys.collect()
}

/// Returns the features of a declaration's keys that affect the compiler's rules: the whole PartitionKey, and each pair of neighbouring pieces. Field names are
/// replaced with their types, and a literal with its last character.
fn features(text: &str) -> Vec<String> {
    let fields = fields(text);
    let of_piece = |piece: &str| {
        if let Some(literal) = piece.strip_prefix('"') {
            return format!("{:?}", literal.trim_end_matches('"').chars().last());
        }
        // A bucket has the same form for every type.
        if piece.starts_with("bucket(") {
            return "bucket".to_owned();
        }
        words(piece).fold(piece.to_owned(), |piece, word| {
            match fields.iter().find(|(name, ..)| *name == word) {
                Some((_, ty, _)) => piece.replace(word, ty),
                None => piece,
            }
        })
    };
    let mut features = Vec::new();
    for (word, pieces) in keys(text) {
        let pieces: Vec<String> = pieces.iter().map(|piece| of_piece(piece)).collect();
        features.extend(pieces.windows(2).map(|pair| pair.join(", ")));
        features.extend((word == "partition_key").then(|| format!("partition {}", pieces.join(", "))));
        features.extend(pieces.last().map(|last| format!("{last} at the end of a {word}")));
    }
    features
}

/// Returns the fields of a declaration, each with its type and its source line.
fn fields(text: &str) -> Vec<(&str, &str, &str)> {
    let fields = text.lines().filter_map(|line| {
        let (name, ty) = line.trim_start().strip_suffix(',')?.split_once(": ")?;
        Some((name.rsplit(' ').next().unwrap_or(name), ty, line))
    });
    fields.collect()
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
}

/// Returns a declaration without the fields outside its keys.
fn with_fields_of_keys(text: &str) -> String {
    let keys = keys(text);
    let is_used = |line: &&str| {
        let field = fields(text).into_iter().find(|(_, _, of_field)| of_field == line);
        field.is_none_or(|(name, ..)| {
            keys.iter().flat_map(|(_, pieces)| pieces).any(|piece| words(piece).any(|word| word == name))
        })
    };
    text.lines().filter(is_used).collect::<Vec<_>>().join("\n    ")
}

const COMPILED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ui/tests/pass/proposed.rs");

const HEAD: &str = "//! Declarations that messages propose, one for each kind of proposed key. Their constants check the rules that only the compiler can check.
//!
//! Generated by the tests of `table-derive`: `TABLES_UPDATE=1 cargo test -p table-derive proposed`.

mod types {
    pub(super) use std::net::{IpAddr, Ipv4Addr};
    pub(super) use std::time::Duration;

    pub(super) use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
    pub(super) use table_core::Entity;
    pub(super) use uuid::Uuid;

    #[derive(table_core::KeyPart)]
    pub(super) struct Code(u32);
}
";

#[test]
fn each_proposed_declaration_is_accepted() {
    let (mut refused, mut proposed, mut seen) = (String::new(), 0, BTreeSet::new());
    let mut compiled = HEAD.to_owned();
    let mut modules = 0;
    for declared in [missing(), hot(), coarse(), indexes()].into_iter().flatten() {
        let tokens: TokenStream = declared.text.parse().expect("a declaration is made of tokens");
        let messages = reported(expand("Entity", tokens));
        // Any other error, such as a float in a key, would also occur in the proposed declaration.
        let of_proposals = |text: &str| {
            ["T020", "T046", "T045", "T044", "T008", "T065", "T060", "T066"]
                .iter()
                .any(|it| text.starts_with(&format!("[{it}]")))
        };
        if messages.is_empty() || !messages.iter().all(|message| of_proposals(&message.text)) {
            continue;
        }
        for message in &messages {
            for pasted in proposals(&declared, &message.text) {
                proposed += 1;
                let expansion = pasted.parse().map(|tokens: TokenStream| expand("Entity", tokens));
                let left: Vec<String> = match expansion {
                    Ok(expansion) => reported(expansion).into_iter().map(|it| it.text).collect(),
                    Err(error) => vec![error.to_string()],
                };
                // Other errors in the declaration are still reported.
                let number = |text: &str| text.get(1..5).map(str::to_owned);
                let is_other = |left: &String| {
                    messages.iter().any(|it| {
                        number(&it.text) != number(&message.text) && number(&it.text) == number(left)
                    })
                };
                let left: Vec<String> = left.into_iter().filter(|left| !is_other(left)).collect();
                if let Some(left) = left.first() {
                    let _ = writeln!(refused, "{pasted}    {}\n    {}\n", message.text, left);
                    continue;
                }
                let features: Vec<String> =
                    features(&pasted).into_iter().filter(|it| !seen.contains(it)).collect();
                if messages.len() == 1 && !features.is_empty() {
                    seen.extend(features);
                    modules += 1;
                    let _ = writeln!(
                        compiled,
                        "\nmod proposed_{modules} {{\n    use super::types::*;\n\n    #[derive(Entity)]\n    {}\n}}",
                        with_fields_of_keys(&pasted).trim_end()
                    );
                }
            }
        }
    }
    assert!(proposed > 2_000, "only {proposed} declarations are proposed");
    if env::var_os("TABLES_UPDATE").is_some() {
        fs::write(COMPILED, &compiled).expect("the file is writable");
    }
    let is_current = fs::read_to_string(COMPILED).is_ok_and(|file| file == compiled);
    assert!(is_current, "write the proposed declarations with TABLES_UPDATE=1");
    assert!(refused.is_empty(), "{}\n{refused}", refused.matches("\n\n").count());
}
