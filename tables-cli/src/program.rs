//! Code shared by all command-line programs: parsing arguments, the runtime, reporting errors, and the exit code.

use std::io::{BufWriter, Error, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::failure::{Exit, Failure, Result};

/// Parses the command line, runs the command with standard output, reports a failure, and returns the exit code.
///
/// A reader such as `head` may close the standard output early. This is not a failure.
pub fn program<C: Parser>(run: impl AsyncFnOnce(C, &mut (dyn Write + Send)) -> Result<Exit>) -> ExitCode {
    let command = match C::try_parse() {
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
        Err(error) => return report(&Failure::file("the runtime")(error)).into(),
    };
    let mut out = Output { out: BufWriter::new(std::io::stdout()), is_closed: false };
    let done = runtime.block_on(run(command, &mut out));
    let flushed = out.flush();
    match (done, flushed) {
        _ if out.is_closed => Exit::Done,
        (Err(failure), _) => report(&failure),
        (Ok(_), Err(error)) => report(&Failure::file("-")(error)),
        (Ok(exit), Ok(())) => exit,
    }
    .into()
}

/// Reports a failure with the next step, and returns its exit code.
fn report(failure: &Failure) -> Exit {
    let help = failure.next_step().map_or_else(String::new, |step| format!("help: {step}\n"));
    let text = format!("error: {failure}\n{help}");
    // If the standard error is closed, the message is lost.
    let _ = std::io::stderr().write_all(text.as_bytes());
    failure.exit()
}

/// Standard output. Records whether its reader has closed it.
struct Output {
    out: BufWriter<std::io::Stdout>,
    is_closed: bool,
}

impl Output {
    fn note<T>(&mut self, done: Result<T, Error>) -> Result<T, Error> {
        self.is_closed |= done.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let done = self.out.write(bytes);
        self.note(done)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let done = self.out.flush();
        self.note(done)
    }
}
