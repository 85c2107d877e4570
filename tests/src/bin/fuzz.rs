//! `fuzz` parses mutated samples of every format until a limit is reached or a guarantee is violated.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tests::fuzz::{Session, TARGETS, Target};

struct Plan {
    targets: Vec<Target>,
    seed: u64,
    /// The number of inputs per target. It applies if no time is given.
    count: u64,
    /// The total time to spend on all targets.
    time: Option<Duration>,
}

fn main() -> ExitCode {
    match plan().and_then(|plan| plan.targets.iter().try_for_each(|target| fuzz(&plan, *target))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

fn plan() -> Result<Plan, String> {
    let mut plan = Plan { targets: TARGETS.to_vec(), seed: 1, count: 10_000, time: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` wants a value"));
        let number = |text: String| text.parse().map_err(|error| format!("`{text}`: {error}"));
        match word.as_str() {
            "--seconds" => plan.time = Some(Duration::from_secs(number(value()?)?)),
            "--count" => plan.count = number(value()?)?,
            "--seed" => plan.seed = number(value()?)?,
            "--target" => {
                let name = value()?;
                plan.targets.retain(|target| target.name == name);
                if plan.targets.is_empty() {
                    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                    return Err(format!("no target `{name}`; there are {}", names.join(", ")));
                }
            }
            _ => {
                return Err(format!(
                    "unknown option `{word}`; there are --seconds N, --count N, --seed N, --target NAME"
                ));
            }
        }
    }
    Ok(plan)
}

fn fuzz(plan: &Plan, target: Target) -> Result<(), String> {
    let mut session = Session::new(target, plan.seed);
    let (start, share) = (Instant::now(), u32::try_from(plan.targets.len()).unwrap_or(1));
    let goes_on = |inputs| match plan.time {
        Some(time) => start.elapsed() < time / share,
        None => inputs < plan.count,
    };
    let mut outcome = session.read_samples();
    while outcome.is_ok() && goes_on(session.inputs) {
        outcome = session.step();
    }
    println!(
        "{}: {} inputs, {} accepted, {:.1?}",
        target.name,
        session.inputs,
        session.accepted,
        start.elapsed()
    );
    outcome.map_err(|found| {
        let place = std::env::temp_dir().join(format!("fuzz-{}-{}", target.name, plan.seed));
        let kept = std::fs::write(&place, &found.bytes).map(|()| place.display().to_string());
        let kept = kept.unwrap_or_else(|error| format!("nowhere: {error}"));
        let text = String::from_utf8_lossy(&found.bytes).chars().take(200).collect::<String>();
        format!(
            "{}: {}\ninput {} of seed {}, kept in {kept}: {text:?}",
            target.name, found.panic, session.inputs, plan.seed
        )
    })
}
