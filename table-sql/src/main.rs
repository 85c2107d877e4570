//! The program `tables-sql`, which `tables sql` runs.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use table_sql::cli::{TablesSql, run};
use tables_cli::Exit;

fn main() -> ExitCode {
    let command = match TablesSql::try_parse() {
        Ok(command) => command,
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
    let done = runtime.block_on(run(&command, &mut out));
    match (done, out.flush()) {
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
