//! `histories [--count N] [--seed S] [--mutant NAME]` runs random programs of several clients over a lossy network.
//!
//! It checks that some order of the effects of the calls explains each history. `--seed` runs one history. `--mutant` adds a fault to the clients, which the
//! check must detect.

use std::process::ExitCode;
use std::time::Instant;

use tests::histories::{Mutant, Tally, run};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("histories: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> Outcome<()> {
    let (mut count, mut first, mut mutant) = (5_000_u64, 0_u64, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let text = words.next().ok_or(format!("`{word}` wants a value"))?;
        let number = || text.parse::<u64>().map_err(|error| format!("`{word} {text}`: {error}"));
        match word.as_str() {
            "--count" => count = number()?,
            "--seed" => (first, count) = (number()?, 1),
            "--mutant" => {
                let found = Mutant::ALL.into_iter().find(|mutant| format!("{mutant:?}") == text);
                mutant =
                    Some(found.ok_or(format!("there is no mutant `{text}`; there are {:?}", Mutant::ALL))?);
            }
            _ => {
                return Err(format!("unknown option `{word}`; there are --count, --seed and --mutant").into());
            }
        }
    }
    let (began, mut all) = (Instant::now(), Tally::default());
    for number in 0..count {
        if number > 0 && number.is_multiple_of(5_000) {
            println!("{number} of {count} histories, {:.1} s", began.elapsed().as_secs_f64());
        }
        match run(first + number, mutant) {
            Ok(tally) => all = all.and(tally),
            Err(failure) => return Err(format!("history {number} of {count}\n{failure}").into()),
        }
    }
    let Tally { calls, done, refused, ambiguous, repeated } = all;
    println!(
        "{count} histories from seed {first} on, {:.1} s: {calls} calls, of which {done} ended well, {refused} were refused, {ambiguous} are \
         ambiguous; {repeated} writes arrived more than once; every answer can be true",
        began.elapsed().as_secs_f64()
    );
    Ok(())
}
