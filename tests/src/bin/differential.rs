//! `differential --sequences N [--first N] [--server]` runs random programs on the in-memory engine and on Azurite, and compares the results. With `--server`,
//! it uses `table-server` instead of Azurite. It runs more programs than CI does.

use std::process::ExitCode;

use table_core::Engine;
use tests::azurite::AzuriteServer;
use tests::differential::{client, sequences};
use tests::served;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("differential: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let (mut count, mut first, mut ours) = (2_000_u64, 0_u64, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = match word.as_str() {
            "--sequences" => &mut count,
            "--first" => &mut first,
            "--server" => {
                ours = true;
                continue;
            }
            _ => {
                let there = "there are --sequences N, --first N and --server";
                return Err(format!("unknown option `{word}`; {there}").into());
            }
        };
        let text = words.next().ok_or(format!("`{word}` wants a number"))?;
        *number = text.parse().map_err(|error| format!("`{word} {text}`: {error}"))?;
    }
    let end = first.checked_add(count).ok_or("there are not so many sequences")?;
    let (name, connection) = if ours {
        ("the server", served::for_the_process())
    } else {
        // Without Node, `shared` reports that the test is skipped, or panics if `CI` is `true`.
        let Some(server) = AzuriteServer::shared() else { return Ok(()) };
        ("Azurite", server.connection_string())
    };
    let other = client(&connection)?;
    let found = sequences(&Engine::in_memory(), &other, first..end, |begun| {
        if begun > 0 && begun.is_multiple_of(500) {
            println!("{begun} of {count} sequences");
        }
    });
    if found.is_empty() {
        println!("{count} sequences from number {first} on: the engine and {name} gave the same answers");
        return Ok(());
    }
    Err(format!("the engine on the left, {name} on the right\n{}", found.join("\n\n")).into())
}
