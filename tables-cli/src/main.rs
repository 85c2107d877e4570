//! The program `tables`: reads the command line, runs the command, prints errors, and ends with a stable exit code.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use tables_cli::{Exit, Tables};

fn main() -> ExitCode {
    let tables = match Tables::try_parse() {
        Ok(tables) => tables,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // If both outputs are closed, the message is lost.
            let _ = error.print();
            return code.into();
        }
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: the runtime does not start: {error}");
            return Exit::Store.into();
        }
    };
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let done = runtime.block_on(tables_cli::run(tables, &mut out));
    let flushed = out.flush();
    match (done, flushed) {
        // A reader such as `head` may close the pipe early, which is not a failure.
        (_, Err(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done.into(),
        (Ok(exit), _) => exit.into(),
        (Err(failure), _) => {
            eprintln!("error: {failure}");
            if let Some(step) = failure.next_step() {
                eprintln!("help: {step}");
            }
            failure.exit().into()
        }
    }
}
