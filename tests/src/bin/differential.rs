//! `differential --sequences N [--first N]`: the engine in memory against Azurite, more random programs than the gate runs.

use std::process::ExitCode;

use table_core::Engine;
use tests::azurite::AzuriteServer;
use tests::differential::{client, sequences};

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
    let (mut count, mut first) = (2_000_u64, 0_u64);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = match word.as_str() {
            "--sequences" => &mut count,
            "--first" => &mut first,
            _ => return Err(format!("unknown option `{word}`; there are --sequences N and --first N").into()),
        };
        let text = words.next().ok_or(format!("`{word}` wants a number"))?;
        *number = text.parse().map_err(|error| format!("`{word} {text}`: {error}"))?;
    }
    let end = first.checked_add(count).ok_or("there are not so many sequences")?;
    // Without Node it has said that this is skipped, or has panicked where `CI` is `true`.
    let Some(server) = AzuriteServer::shared() else { return Ok(()) };
    let azurite = client(&server.connection_string())?;
    let found = sequences(&Engine::in_memory(), &azurite, first..end, |begun| {
        if begun > 0 && begun.is_multiple_of(500) {
            println!("{begun} of {count} sequences");
        }
    });
    if found.is_empty() {
        println!("{count} sequences from number {first} on: the engine and Azurite gave the same answers");
        return Ok(());
    }
    Err(format!("the engine on the left, Azurite on the right\n{}", found.join("\n\n")).into())
}
