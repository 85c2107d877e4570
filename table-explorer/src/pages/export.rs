//! Exports: all rows of a query as JSON lines, sent page by page.

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use table_core::{Continuation, DynTableStore, FromEntity, Query, TableEntity, TableName, TableStore};

use crate::failure::Result;
use crate::pages::Context;
use crate::pages::built::Built;
use crate::response::{self, Body};

/// The number of rows of one request.
const PAGE: usize = 1_000;

/// Answers with a file.
pub(crate) fn answer(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    let built = Built::new(context, table)?;
    let query = Query { top: Some(PAGE), ..built.query };
    let store = context.state.source.tables.clone();
    let mut response = lines(store, table.clone(), query);
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{table}.jsonl\"")) {
        response.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// The position of a stream of pages.
struct Stream {
    store: DynTableStore,
    table: TableName,
    query: Query,
    from: Option<Continuation>,
    is_over: bool,
}

impl Stream {
    /// Reads the next page as JSON lines; `None` after the last one.
    async fn next(&mut self) -> table_core::Result<Option<Bytes>> {
        if self.is_over {
            return Ok(None);
        }
        let page = self.store.query(&self.table, &self.query, self.from.as_ref()).await?;
        self.is_over = page.continuation.is_none();
        self.from = page.continuation;
        let mut text = Vec::new();
        for entity in page.rows.iter() {
            // Writing to memory does not fail, and an entity is always JSON.
            let _ = serde_json::to_writer(&mut text, &TableEntity::from_entity(entity)?);
            text.push(b'\n');
        }
        Ok(Some(text.into()))
    }
}

/// Streams JSON lines with types, from which nothing is lost. An error of the store becomes the last line, which is not an entity.
fn lines(store: DynTableStore, table: TableName, query: Query) -> Response<Body> {
    let begin = Stream { store, table, query, from: None, is_over: false };
    let chunks = stream::unfold(begin, |mut stream| async move {
        match stream.next().await {
            Ok(chunk) => chunk.map(|chunk| (chunk, stream)),
            Err(error) => {
                stream.is_over = true;
                let line = serde_json::json!({ "error": error.to_string() }).to_string() + "\n";
                Some((line.into(), stream))
            }
        }
    });
    response::stream("application/x-ndjson", chunks)
}
