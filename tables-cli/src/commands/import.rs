//! `tables import`: writes the entities of a file to a table.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use table_core::limits::Limits;
use table_core::{TableEntity, Transaction};

use crate::commands::export::FileForm;
use crate::commands::{Context, count_of, say, table};
use crate::failure::{Exit, Failure, Result};
use crate::store::Purpose;
use crate::terminal;
use crate::transfer::import::Importing;
use crate::transfer::rejections::Rejections;
use crate::transfer::state::StateFile;
use crate::transfer::writer::{Change, Mode};
use table_inspect::csv::{CsvReader, Types};
use table_inspect::derived;
use table_inspect::lines::LineReader;
use table_inspect::record::{FileError, Record, Rejected};
use table_inspect::value;

/// Options of `import`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables import Company employees.jsonl --store data/company\n  tables import Company employees.csv --types Age=Int32,Badge=Int64 --errors wrong.txt\n  tables import Company large.jsonl --state import.state    # run it again after a kill"
)]
pub(super) struct Import {
    /// The table, which is created if it does not exist
    table: String,
    /// The file; `-` is standard input
    file: PathBuf,
    /// The format [default: by the extension of the file: csv or parquet, otherwise jsonl]
    #[arg(long, value_enum)]
    format: Option<FileForm>,
    /// The operation used to write entities
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
    /// The types of CSV columns without an `@type` column, separated by commas: Age=Int32,Badge=Int64 [default: strings]
    #[arg(long, value_delimiter = ',', value_name = "NAME=TYPE")]
    types: Vec<String>,
    /// Guess the type of each value in CSV columns that have no declared type
    #[arg(long)]
    guess_types: bool,
    /// Write rejected lines with their reason to this file, and continue to the end; a quote in a CSV file that stays open for more than 4 MiB ends the import
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Keep the progress in this file: the same command continues after an interruption
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write at most ROWS rows per second
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Write even if this makes indexes, copies or feeds of the entities incorrect
    #[arg(long)]
    bypass_derived: bool,
    /// Read the whole file without writing anything
    #[arg(long)]
    dry_run: bool,
}

/// The records in a file, each with its line number, or its row number in a Parquet file.
type Records = Box<dyn Iterator<Item = Result<(u64, Record)>>>;

impl Import {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        if self.state.is_some() && (self.mode == Mode::Insert || self.file == Path::new("-")) {
            let help = "a resumed import repeats the last rows, which `insert` rejects; use `--mode replace` and a file";
            return Err(Failure::Usage(help.to_owned()));
        }
        self.refuse_shared_files()?;
        let records = self.records()?;
        if self.dry_run {
            return self.check(records, out);
        }
        let name = table(&self.table)?;
        let store = context.store.open(Purpose::Create).await?;
        derived::refuse_plain_writes(&store.tables, &name, self.bypass_derived).await?;
        let transfer = format!(
            "import {} into {name} of {} by {:?}, {:?}",
            self.file.display(),
            store.identity,
            self.mode,
            (FileForm::of(self.format, &self.file)?, &self.types, self.guess_types)
        );
        let mut state = StateFile::open(self.state.as_deref(), &transfer)?;
        let mut rejections = Rejections::open(self.errors.as_deref(), &state.state().rejected)?;
        let importing = Importing {
            store: &store.tables,
            name: &name,
            mode: self.mode,
            guards_parts: !self.bypass_derived,
            rate: self.rate,
        };
        let written = importing.run(records, &mut state, &mut rejections).await?;
        say(out, &format!("imported {} into {name}", count_of(written, "row")))?;
        end(&rejections)
    }

    /// Returns an error if the same file is given for two purposes. Rejected rows would overwrite the imported file or the state file.
    fn refuse_shared_files(&self) -> Result<()> {
        let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
        let named = [("--errors", self.errors.as_deref()), ("--state", self.state.as_deref())];
        let mut taken = vec![real(&self.file)];
        for (option, path) in named.into_iter().filter_map(|(option, path)| Some((option, path?))) {
            let path = real(path);
            if path.is_some() && taken.contains(&path) {
                let help = "name a file that the command does not use otherwise";
                return Err(Failure::Usage(format!("`{option}` names a file of another argument; {help}")));
            }
            taken.push(path);
        }
        Ok(())
    }

    /// Returns the records in the file, each with its line number, or its row number in a Parquet file.
    fn records(&self) -> Result<Records> {
        let path = self.file.display().to_string();
        let failure = move |error| match error {
            FileError::Refused(text) => Failure::Refused(text),
            FileError::Io(error) => Failure::file(&path)(error),
        };
        Ok(match FileForm::of(self.format, &self.file)? {
            FileForm::Csv => {
                let types = self.types()?;
                let named: Vec<_> = types.named.iter().map(|(name, _)| name.clone()).collect();
                let mut records = CsvReader::new(self.input()?, types).map_err(&failure)?;
                if let Some(name) = named.iter().find(|name| !records.has_column(name)) {
                    return Err(Failure::Usage(format!(
                        "the CSV has no column `{name}`, which `--types` names"
                    )));
                }
                Box::new(std::iter::from_fn(move || {
                    let record = records.next()?.map_err(&failure);
                    Some(record.map(|record| (records.line(), record)))
                }))
            }
            FileForm::Jsonl => {
                let mut records = LineReader::new(self.input()?);
                Box::new(std::iter::from_fn(move || {
                    let record = records.next()?.map_err(&failure);
                    Some(record.map(|record| (records.line(), record)))
                }))
            }
            FileForm::Parquet if self.file == Path::new("-") => {
                let help = "a Parquet file is read from its end, which standard input does not support; name the file";
                return Err(Failure::Usage(help.to_owned()));
            }
            #[cfg(feature = "parquet")]
            FileForm::Parquet => {
                let records = crate::parquet::read(&self.file).map_err(&failure)?;
                Box::new(records.zip(1..).map(move |(record, row)| {
                    let record = record.map_err(&failure);
                    record.map(|record| (row, record))
                }))
            }
            // `FileForm::of` rejects this format, so it is never used here.
            #[cfg(not(feature = "parquet"))]
            FileForm::Parquet => Box::new(std::iter::empty()),
        })
    }

    /// Returns a reader of the file, or of standard input.
    fn input(&self) -> Result<BufReader<Box<dyn Read>>> {
        let input: Box<dyn Read> = if self.file == Path::new("-") {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(&self.file).map_err(Failure::file(self.file.display()))?)
        };
        Ok(BufReader::with_capacity(1 << 20, input))
    }

    fn types(&self) -> Result<Types> {
        let named = self.types.iter().map(|text| {
            let found =
                text.split_once('=').and_then(|(name, edm)| Some((name.to_owned(), value::type_of(edm)?)));
            found.ok_or_else(|| {
                Failure::Usage(format!("`{text}` does not name a type; write it as Age=Int32"))
            })
        });
        Ok(Types { named: named.collect::<Result<_>>()?, guess: self.guess_types })
    }

    /// Reads the file without writing anything. Prints the reasons for rejected rows to standard error instead of the rejections file, because an earlier
    /// import may have written that file.
    fn check(&self, records: Records, out: &mut dyn Write) -> Result<Exit> {
        let (mut count, mut rejections) = (0, 0);
        for record in records {
            let (line, record) = record?;
            match record.and_then(|entity| self.accept(line, entity)) {
                Ok(()) => count += 1,
                Err(rejected) if self.errors.is_some() => {
                    terminal::print_line(rejected);
                    rejections += 1;
                }
                Err(rejected) => {
                    let help =
                        "nothing is written by `--dry-run`. Give `--errors FILE` to list all such rows";
                    return Err(Failure::Refused(format!("{rejected}; {help}")));
                }
            }
        }
        say(out, &format!("would import {} into {}", count_of(count, "row"), self.table))?;
        if rejections == 0 {
            return Ok(Exit::Done);
        }
        Err(Failure::Refused(format!("{} would be rejected", count_of(rejections, "row"))))
    }
}

impl Import {
    /// Checks an entity against the service's rules without sending a request.
    fn accept(&self, line: u64, entity: TableEntity) -> Result<(), Rejected> {
        let partition_key = entity.key().partition_key.clone();
        let pushed = Change::Write(entity).operation(self.mode).and_then(|operation| {
            Transaction::new(partition_key, Limits::PORTABLE)?.push(operation).map(drop)
        });
        pushed.map_err(|error| Rejected { line, column: 0, reason: error.to_string() })
    }
}

/// Returns the result of an import after the entire file has been read.
fn end(rejections: &Rejections) -> Result<Exit> {
    match rejections.file() {
        Some(path) => Err(Failure::Refused(format!(
            "{} rejected; {path} has the reasons",
            count_of(rejections.count(), "row")
        ))),
        None => Ok(Exit::Done),
    }
}
