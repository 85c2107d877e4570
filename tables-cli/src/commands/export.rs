//! `tables export`: writes the entities of a table, or the results of a query, to a file.

mod sink;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use table_core::{FromEntity, TableEntity};

use crate::commands::{Context, count_of, omitted_part, table};
use crate::failure::{Exit, Failure, Result};
use crate::incomplete::{Incomplete, refuse_existing, remove_remains};
use crate::progress;
use crate::rate::Rate;
use crate::rows::{self, Pages, Selection};
use crate::schemas::{self, Schemas};
use crate::store::{Purpose, Store};
use crate::terminal;
use crate::transfer::checksum::Checksum;
use sink::Sink;
use table_inspect::derived;

/// The format of a file of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FileForm {
    /// JSON lines with types, which preserve every value.
    Jsonl,
    /// CSV with typed columns.
    Csv,
    /// Parquet with typed columns.
    Parquet,
}

impl FileForm {
    /// Returns the given format, or the format implied by the file's extension if `given` is `None`.
    ///
    /// # Errors
    /// `Usage` if this build does not support the format.
    pub(super) fn of(given: Option<Self>, path: &Path) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let form = given.unwrap_or(match extension.as_deref() {
            Some("csv") => Self::Csv,
            Some("parquet") => Self::Parquet,
            _ => Self::Jsonl,
        });
        if form == Self::Parquet && !cfg!(feature = "parquet") {
            let help = "install it with `cargo install --path tables-cli --features parquet`";
            return Err(Failure::Usage(format!("this program was built without Parquet; {help}")));
        }
        Ok(form)
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
    /// The format [default: by the extension of the file: csv or parquet, otherwise jsonl]
    #[arg(long, value_enum)]
    format: Option<FileForm>,
    /// Export only these properties, separated by commas; CSV columns have this order, and the table need not be scanned for names
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Read at most ROWS rows per second
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
}

impl Export {
    pub(super) async fn run(&self, context: &Context, out: &mut (dyn Write + Send)) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        let form = FileForm::of(self.format, &self.file)?;
        // The schemas are read first. If reading them failed later, the command would fail although the file is complete.
        let schemas = schemas::of_table(&store.tables, &table(&self.table)?).await?;
        if self.file == Path::new("-") {
            let exit = report(self.write(&store, form, out).await?, "");
            self.note(schemas);
            return Ok(exit);
        }
        refuse_existing(&self.file, self.force)?;
        remove_remains(&self.file);
        // The file receives its final name only after it is complete.
        let part = Incomplete::create(&self.file)?;
        let mut file = BufWriter::with_capacity(1 << 20, part.file());
        let (checksum, omitted) = self.write(&store, form, &mut file).await?;
        file.flush().map_err(Failure::file(part.path().display()))?;
        drop(file);
        let verified = sink::verify(form, &part, &checksum)?;
        part.complete(self.force)?;
        let exit = report((checksum, omitted), verified);
        self.note(schemas);
        Ok(exit)
    }

    /// Prints a note for each entity type whose schema declares derived rows, because the exported file does not contain the schema.
    fn note(&self, schemas: Schemas) {
        let name = &self.table;
        for schema in schemas.noted() {
            let declared = derived::declared(&schema).join(", ");
            if !declared.is_empty() {
                let (entity, help) = (&schema.entity, "`tables copy` and `tables backup` keep it");
                terminal::print_line(format_args!(
                    "note: {entity} of {name} declares {declared}; the file does not contain its schema, {help}"
                ));
            }
        }
    }

    /// Writes the rows. Returns their checksum, and the number of rows that the store omitted.
    async fn write(
        &self,
        store: &Store,
        form: FileForm,
        out: &mut (dyn Write + Send),
    ) -> Result<(Checksum, u64)> {
        let name = table(&self.table)?;
        let selected = self.selection.rows(&store.tables, &name).await?;
        let selected = selected.with_select(rows::select(&self.columns));
        let rate = self.rate.map(Rate::new);
        let pages = || Pages::new(&store.tables, &name, selected.clone()).at_rate(rate.as_ref());
        let mut sink = Sink::open(form, out, &self.columns, pages).await?;
        let mut pages = pages();
        let (mut checksum, bar) = (Checksum::default(), progress::rows("exported"));
        while let Some(page) = pages.next().await? {
            for entity in page.rows.iter() {
                let entity = TableEntity::from_entity(entity)?;
                checksum.add(&entity);
                sink.write(&entity)?;
            }
            bar.set_position(checksum.count);
        }
        sink.finish()?;
        bar.finish_and_clear();
        Ok((checksum, pages.omitted()))
    }
}

/// Reports the number of exported rows. Returns the exit code.
fn report((checksum, omitted): (Checksum, u64), verified: &str) -> Exit {
    let (rows, left) = (count_of(checksum.count, "row"), omitted_part(omitted));
    terminal::print_line(format_args!("{rows} exported{left}, checksum {checksum}{verified}"));
    if checksum.count == 0 { Exit::Nothing } else { Exit::Done }.after_omitting(omitted)
}
