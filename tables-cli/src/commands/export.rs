//! `tables export`: the entities of a table, or of a query, as a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use table_core::{FromEntity, TableEntity};

use crate::commands::{Context, count_of, table};
use crate::failure::{Exit, Failure, Result};
use crate::rows::{self, Pages, Selection};
use crate::store::{Purpose, Store};
use crate::transfer::checksum::Checksum;
use crate::transfer::progress;
use crate::transfer::rate::Rate;
use table_inspect::csv::{Columns, CsvWriter};
use table_inspect::lines;

/// The format of a file of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FileForm {
    /// JSON lines with types, which preserve every value.
    Jsonl,
    /// CSV with typed columns.
    Csv,
}

impl FileForm {
    /// Returns the given format, or the one of the file's extension.
    pub(super) fn of(given: Option<Self>, path: &Path) -> Self {
        let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        given.unwrap_or(if is_csv { Self::Csv } else { Self::Jsonl })
    }
}

/// Options of `export`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables export Company company.jsonl\n  tables export Company sales.csv --partition Sales\n  tables export Company - | gzip > company.jsonl.gz"
)]
pub(super) struct Export {
    /// The table
    table: String,
    /// The file; `-` is standard output
    file: PathBuf,
    #[command(flatten)]
    selection: Selection,
    /// The format [default: by the extension of the file, otherwise jsonl]
    #[arg(long, value_enum)]
    format: Option<FileForm>,
    /// Export only these properties, separated by commas; CSV columns have this order, and the table need not be scanned for names
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Read at most this many rows per second
    #[arg(long, value_name = "ROWS")]
    rate: Option<u32>,
}

impl Export {
    pub(super) async fn run(&self, context: &Context, out: &mut (dyn Write + Send)) -> Result<Exit> {
        let store = context.store.open(Purpose::Read)?;
        let form = FileForm::of(self.format, &self.file);
        if self.file == Path::new("-") {
            return self.write(&store, form, out).await;
        }
        if self.file.exists() && !self.force {
            return Err(Failure::Refused(format!(
                "{} exists; give `--force` to replace it",
                self.file.display()
            )));
        }
        // The file is renamed only when it is complete.
        let part = self.file.with_extension("part");
        let mut file =
            BufWriter::with_capacity(1 << 20, File::create(&part).map_err(Failure::file(part.display()))?);
        let exit = self.write(&store, form, &mut file).await?;
        let file = file.into_inner().map_err(|error| Failure::file(part.display())(error.into_error()))?;
        file.sync_all().map_err(Failure::file(part.display()))?;
        std::fs::rename(&part, &self.file).map_err(Failure::file(self.file.display()))?;
        Ok(exit)
    }

    async fn write(&self, store: &Store, form: FileForm, out: &mut (dyn Write + Send)) -> Result<Exit> {
        let name = table(&self.table)?;
        let mut query = self.selection.query(&store.tables, &name).await?;
        query.select = rows::select(&self.columns);
        let mut sink = match form {
            FileForm::Jsonl => Sink::Jsonl(out),
            FileForm::Csv if self.columns.is_empty() => {
                Sink::Csv(Box::new(CsvWriter::new(out, columns(store, &name, query.clone()).await?)))
            }
            FileForm::Csv => Sink::Csv(Box::new(CsvWriter::new(out, Columns::new(&self.columns)))),
        };
        let mut pages = Pages::new(&store.tables, &name, query);
        let (mut checksum, bar) = (Checksum::default(), progress::rows("exported"));
        let mut rate = self.rate.map(Rate::new);
        while let Some(page) = pages.next().await? {
            if let Some(rate) = &mut rate {
                rate.wait(page.rows.len()).await;
            }
            for entity in page.rows.iter() {
                let entity = TableEntity::from_entity(entity)?;
                checksum.add(&entity);
                match &mut sink {
                    Sink::Csv(csv) => csv.write(&entity)?,
                    Sink::Jsonl(out) => lines::write(*out, &entity)?,
                }
            }
            bar.set_position(checksum.count);
        }
        if let Sink::Csv(csv) = sink {
            csv.finish()?;
        }
        bar.finish_and_clear();
        eprintln!("{} exported, checksum {checksum}", count_of(checksum.count, "row"));
        Ok(if checksum.count == 0 { Exit::Nothing } else { Exit::Done })
    }
}

enum Sink<'a> {
    Csv(Box<CsvWriter<&'a mut (dyn Write + Send)>>),
    Jsonl(&'a mut (dyn Write + Send)),
}

/// Returns the names of all properties, which requires reading the table once, because the header precedes the first row.
async fn columns(store: &Store, table: &table_core::TableName, query: table_core::Query) -> Result<Columns> {
    let mut columns = Columns::default();
    let mut pages = Pages::new(&store.tables, table, query);
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            columns.add(&TableEntity::from_entity(entity)?);
        }
    }
    Ok(columns)
}
