//! Controls a client in a separate process, which reads commands line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::Outcome;
use crate::azurite::client::{Done, Work};
use crate::harness::Rate;

/// A client in a separate process.
///
/// The command `insert 600` runs inserts for about 600 ms. The client replies with `operations nanoseconds busy-nanoseconds`, or with an error message.
#[derive(Debug)]
pub struct External {
    name: &'static str,
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl External {
    /// Starts the client process.
    pub fn start(name: &'static str, mut command: Command) -> Outcome<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take().ok_or("no input")?;
        let output = BufReader::new(process.stdout.take().ok_or("no output")?);
        Ok(Self { name, process, input, output })
    }

    /// Returns the name of the client as shown in the table of results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Makes the client run a workload for about the given time.
    pub fn work(&mut self, work: Work, time: Duration) -> Outcome<Done> {
        writeln!(self.input, "{} {}", work.word(), time.as_millis())?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let numbers: Vec<u64> = line.split_whitespace().map_while(|number| number.parse().ok()).collect();
        let [operations, elapsed, busy] = numbers[..] else {
            return Err(format!("{} cannot do {}: {}", self.name, work.word(), line.trim()).into());
        };
        let rate = Rate { operations, elapsed: Duration::from_nanos(elapsed) };
        Ok(Done { rate, busy: Duration::from_nanos(busy) })
    }
}

impl Drop for External {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
