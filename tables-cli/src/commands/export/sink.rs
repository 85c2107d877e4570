//! The output file of an export, in any supported format.

use std::io::Write;

use table_core::{FromEntity, TableEntity};
use table_inspect::csv::{Columns, CsvWriter};
use table_inspect::{lines, record};

use crate::commands::export::FileForm;
use crate::failure::Result;
use crate::incomplete::Incomplete;
#[cfg(feature = "parquet")]
use crate::parquet::{self, ParquetWriter, Survey};
use crate::rows::Pages;
use crate::transfer::checksum::Checksum;

/// A file that receives entities.
pub(super) enum Sink<'a> {
    Csv(Box<CsvWriter<&'a mut (dyn Write + Send)>>),
    Jsonl(&'a mut (dyn Write + Send)),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<&'a mut (dyn Write + Send)>>),
}

impl<'a> Sink<'a> {
    /// Creates the file. If the format's header depends on all rows, reads all rows once beforehand.
    pub(super) async fn open<'p>(
        form: FileForm,
        out: &'a mut (dyn Write + Send),
        names: &[String],
        pages: impl Fn() -> Pages<'p>,
    ) -> Result<Self> {
        Ok(match form {
            FileForm::Jsonl => Self::Jsonl(out),
            FileForm::Csv if names.is_empty() => {
                let mut columns = Columns::default();
                let add = |entity: &TableEntity| {
                    columns.add(entity);
                    columns.check()
                };
                each(pages(), add).await?;
                Self::Csv(Box::new(CsvWriter::new(out, columns)))
            }
            FileForm::Csv => Self::Csv(Box::new(CsvWriter::new(out, Columns::new(names)))),
            #[cfg(feature = "parquet")]
            FileForm::Parquet => {
                let mut survey = Survey::default();
                each(pages(), |entity| survey.add(entity)).await?;
                Self::Parquet(Box::new(ParquetWriter::new(out, survey.layout())?))
            }
            // `FileForm::of` rejects this format, so it is never used here.
            #[cfg(not(feature = "parquet"))]
            FileForm::Parquet => Self::Jsonl(out),
        })
    }

    /// Adds an entity.
    pub(super) fn write(&mut self, entity: &TableEntity) -> Result<()> {
        match self {
            Self::Csv(csv) => csv.write(entity)?,
            Self::Jsonl(out) => lines::write(*out, entity)?,
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.write(entity)?,
        }
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Csv(csv) => csv.finish().map(drop)?,
            Self::Jsonl(_) => {}
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.finish().map(drop)?,
        }
        Ok(())
    }
}

/// Calls a function for each entity on each remaining page, up to its first error.
async fn each(mut pages: Pages<'_>, mut call: impl FnMut(&TableEntity) -> record::Result<()>) -> Result<()> {
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            call(&TableEntity::from_entity(entity)?)?;
        }
    }
    Ok(())
}

/// If the format has checksums, reads the finished file and compares it with the exported rows. Returns a note for the report, which may be empty.
#[cfg_attr(
    not(feature = "parquet"),
    expect(unused_variables, clippy::unnecessary_wraps, reason = "only Parquet has checksums")
)]
pub(super) fn verify(form: FileForm, file: &Incomplete, exported: &Checksum) -> Result<&'static str> {
    #[cfg(feature = "parquet")]
    if form == FileForm::Parquet && file.can_be_read() {
        use crate::failure::Failure;

        // On some systems, only the handle that locked the file, or a duplicate of it, can read the file.
        let (path, handle) = (file.path().display(), file.file().try_clone());
        if parquet::verify(handle.map_err(Failure::file(&path))?, &path)? != *exported {
            let help = "export it again";
            return Err(Failure::Refused(format!("{path} differs from the exported rows; {help}")));
        }
        return Ok(", verified");
    }
    Ok("")
}
