//! Export of a query's rows as JSON lines or CSV, streamed page by page.

use std::io;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use table_core::query::Select;
use table_core::{Continuation, DynTableStore, FromEntity, Query, TableEntity, TableName};
use table_inspect::TypeSelection;
use table_inspect::csv::{Columns, CsvWriter};

use crate::failure::Result;
use crate::pages::Context;
use crate::pages::form_query::{self, FormQuery};
use crate::reader;
use crate::response::{self, Body};

/// The number of rows per request.
const PAGE: usize = 1_000;

/// Responds with a file. If the format is CSV and no columns are selected, the entire result is first read to find the column names.
pub(crate) async fn answer(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    let built = FormQuery::new(context, table, &form_query::selection(context, table))?;
    let (query, entities) = (Query { top: Some(PAGE), ..built.query }, built.entities);
    let is_csv = context.request.query("as") == Some("csv");
    let (store, table) = (context.reader.shared(), table.clone());
    let form = match (is_csv, &query.select) {
        (false, _) => Form::Lines,
        (true, Select::Names(names)) => Form::Csv(Columns::new(names.iter().map(AsRef::<str>::as_ref))),
        (true, Select::All) => Form::Csv(columns(&store, &table, &query, entities.as_ref()).await?),
    };
    let (media_type, extension) = form.kind();
    let begin = Stream {
        store,
        table: table.clone(),
        query,
        entities,
        form,
        from: None,
        is_begun: false,
        is_over: false,
    };
    let mut response = response::stream(media_type, chunks(begin));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{table}.{extension}\"")) {
        response.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// Returns the columns of a query result. The entire result is read, because the CSV header must also contain properties that occur only in later rows.
async fn columns(
    store: &DynTableStore,
    table: &TableName,
    query: &Query,
    entities: Option<&TypeSelection>,
) -> Result<Columns> {
    let (mut columns, mut from) = (Columns::default(), None);
    loop {
        let (page, _) = reader::request(store, table, query, entities, from.as_ref()).await?;
        for entity in page.rows.iter() {
            columns.add(&TableEntity::from_entity(entity)?);
        }
        columns.check()?;
        from = page.continuation;
        if from.is_none() {
            return Ok(columns);
        }
    }
}

/// The format of an exported file.
enum Form {
    /// JSON lines with type annotations, which preserve every value.
    Lines,
    /// CSV with type columns, in the format of `tables export` and `tables import`.
    Csv(Columns),
}

impl Form {
    const fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::Lines => ("application/x-ndjson", "jsonl"),
            Self::Csv(_) => ("text/csv; charset=utf-8", "csv"),
        }
    }

    /// Returns a page of rows as text. The text of the first page includes the header.
    fn text(&self, rows: &[TableEntity], is_first: bool) -> Result<Vec<u8>> {
        match self {
            Self::Lines => Ok(rows.iter().fold(Vec::new(), |mut text, entity| {
                // An entity can always be converted to JSON.
                text.extend(serde_json::to_vec(entity).unwrap_or_default());
                text.push(b'\n');
                text
            })),
            Self::Csv(columns) => {
                let mut csv = if is_first {
                    CsvWriter::new(Vec::new(), columns.clone())
                } else {
                    CsvWriter::continuing(Vec::new(), columns.clone())
                };
                rows.iter().try_for_each(|entity| csv.write(entity))?;
                Ok(csv.finish()?)
            }
        }
    }
}

/// A stream of pages and its current state.
struct Stream {
    store: DynTableStore,
    table: TableName,
    query: Query,
    entities: Option<TypeSelection>,
    form: Form,
    from: Option<Continuation>,
    is_begun: bool,
    is_over: bool,
}

impl Stream {
    /// Returns the next page as text, or `None` after the last page.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.is_over {
            return Ok(None);
        }
        let (page, _) = reader::request(
            &self.store,
            &self.table,
            &self.query,
            self.entities.as_ref(),
            self.from.as_ref(),
        )
        .await?;
        self.is_over = page.continuation.is_none();
        self.from = page.continuation;
        let rows = page.rows.iter().map(TableEntity::from_entity).collect::<table_core::Result<Vec<_>>>()?;
        let text = self.form.text(&rows, !std::mem::replace(&mut self.is_begun, true))?;
        Ok(Some(text.into()))
    }
}

/// Streams the pages. A store error ends the stream with an error, so that the client notices the incomplete file.
fn chunks(begin: Stream) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::unfold(begin, |mut stream| async move {
        match stream.next().await {
            Ok(chunk) => chunk.map(|chunk| (Ok(chunk), stream)),
            Err(error) => {
                stream.is_over = true;
                Some((Err(io::Error::other(error.to_string())), stream))
            }
        }
    })
}
