//! Code shared by all command-line programs: argument parsing, the runtime, error reports, and the exit code.

use std::io::{BufWriter, Error, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::failure::{Exit, Failure, Result};
use crate::terminal::{self, Filtered};
use crate::warnings;

/// Parses the command line, runs the command on standard output, reports any failure, and returns the exit code.
///
/// If standard output is a terminal, control characters in the output are replaced, because they could control the terminal.
///
/// A reader such as `head` may close standard output early, which is not a failure. All other failures are reported, even after standard output has been
/// closed.
pub fn program<C: Parser>(run: impl AsyncFnOnce(C, &mut (dyn Write + Send)) -> Result<Exit>) -> ExitCode {
    let command = match C::try_parse() {
        Ok(command) => command,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // If both output streams are closed, the message is lost.
            let _ = error.print();
            return code.into();
        }
    };
    warnings::print_all();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Failure::file("the runtime")(error)).into(),
    };
    let stdout = std::io::stdout();
    let stdout: Box<dyn Write + Send> =
        if stdout.is_terminal() { Box::new(Filtered::new(stdout)) } else { Box::new(stdout) };
    let mut out = BufWriter::new(stdout);
    let done = runtime.block_on(run(command, &mut out));
    let flushed = out.flush();
    match (done, flushed) {
        (Err(Failure::File { path, source }), _) if path == "-" && is_closed(&source) => Exit::Done,
        (Err(failure), _) => report(&failure),
        (Ok(_), Err(error)) if !is_closed(&error) => report(&Failure::file("-")(error)),
        (Ok(exit), _) => exit,
    }
    .into()
}

/// Reports a failure and the next step. Returns the exit code of the failure.
fn report(failure: &Failure) -> Exit {
    let help = failure.next_step().map_or_else(String::new, |step| format!("help: {step}\n"));
    terminal::print(format_args!("error: {failure}\n{help}"));
    failure.exit()
}

/// Returns `true` if the error or one of its causes is a broken pipe: the reader has closed the output.
fn is_closed(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(found) = cause {
        if found.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
            return true;
        }
        cause = found.source();
    }
    false
}

/// A writer that lets a command continue after the reader has closed the output. Later output is discarded.
pub(crate) struct Lasting<'a>(pub(crate) &'a mut (dyn Write + Send));

impl Write for Lasting<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        match self.0.write(bytes) {
            Err(error) if is_closed(&error) => Ok(bytes.len()),
            done => done,
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        match self.0.flush() {
            Err(error) if is_closed(&error) => Ok(()),
            done => done,
        }
    }
}
