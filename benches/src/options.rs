//! Parses the command line, which determines the measurements to run and their duration.

use std::time::Duration;

use crate::Outcome;

/// The usage text of the program.
pub const USAGE: &str = "ratios [--azurite | --server] [--quick | --full] [--entities N] [--rounds N] [--millis N] [--seconds N] [--only row,row] [--keep] [--record]";

/// The subject of a run: the library or server compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The embedded engine, compared with other engines.
    Engine,
    /// The client for Azure tables, compared with other clients of the same Azurite server.
    Client,
    /// The server, compared with Azurite.
    Server,
}

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Options {
    /// The number of entities in the table used by the read benchmarks, rounded up to a multiple of 1,000.
    pub entities: u32,
    /// The number of rounds per contender.
    pub rounds: usize,
    /// The duration of one round.
    pub time: Duration,
    /// The duration of the continuous updates in a full run.
    pub sustained: Duration,
    /// The subject of the measurement.
    pub subject: Subject,
    /// `true` for a quick run, which has fewer entities and shorter rounds.
    pub quick: bool,
    /// `true` for a full run, which also measures ten times the usual number of entities.
    pub full: bool,
    /// The names of the measurements to run. If the list is empty, all measurements run.
    pub only: Vec<String>,
    /// `true` if the folders are kept after the run.
    pub keep: bool,
    /// `true` if the results are appended to the files in `benches/records`.
    pub record: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            entities: 1_000_000,
            rounds: 15,
            time: Duration::from_millis(200),
            sustained: Duration::from_secs(2 * 60),
            subject: Subject::Engine,
            quick: false,
            full: false,
            only: Vec::new(),
            keep: false,
            record: false,
        }
    }
}

impl Options {
    /// Parses the arguments that follow the name of the program.
    ///
    /// ```
    /// use benches::options::Options;
    ///
    /// let options = Options::parse(["--quick", "--only", "key"].map(String::from))?;
    /// assert!(options.wants("key") && !options.wants("page"));
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Outcome<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value: {USAGE}"));
            match argument.as_str() {
                "--quick" => {
                    (options.entities, options.rounds) = (20_000, 3);
                    (options.time, options.quick) = (Duration::from_millis(150), true);
                }
                "--azurite" => options.subject = Subject::Client,
                "--server" => options.subject = Subject::Server,
                "--full" => options.full = true,
                "--keep" => options.keep = true,
                "--record" => options.record = true,
                "--entities" => options.entities = value()?.replace('_', "").parse()?,
                "--rounds" => options.rounds = value()?.parse()?,
                "--millis" => options.time = Duration::from_millis(value()?.parse()?),
                "--seconds" => options.sustained = Duration::from_secs(value()?.parse()?),
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                _ => return Err(format!("unknown argument {argument}: {USAGE}").into()),
            }
        }
        options.entities =
            options.entities.next_multiple_of(crate::data::PARTITION).max(crate::data::PARTITION);
        options.rounds = options.rounds.max(1);
        Ok(options)
    }

    /// Returns `true` if the measurement with the name `row` should run.
    #[must_use]
    pub fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == row)
    }
}
