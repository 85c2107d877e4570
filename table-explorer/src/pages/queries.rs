//! The page for saved and recent queries, with links to their results.

use http::Response;
use maud::{Markup, html};
use table_core::{TableName, ticks};

use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::link;
use crate::notebook::Noted;
use crate::pages::{Context, form_query};
use crate::response::{self, Body};
use crate::selection::Selection;
use crate::show;

/// The maximum length of a saved query's name, in characters.
const NAME: usize = 100;

fn noted(context: &Context<'_>, table: &TableName, query: String, name: Option<String>) -> Noted {
    let (store, table) = (context.state.source.names().identity, table.as_str().to_owned());
    Noted { store, table, query, name, at: ticks::now() }
}

/// Adds the requested query to the recent queries.
pub(crate) async fn record(context: &Context<'_>, table: &TableName, selection: &Selection) -> Result<()> {
    let query = selection.text();
    if query.is_empty() {
        return Ok(());
    }
    context.state.notebook.add(noted(context, table, query, None)).await
}

/// Saves a query under a name.
pub(crate) async fn keep(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    let field = |name| context.request.field(name).unwrap_or_default();
    let name = field("name").trim();
    if name.is_empty() || name.chars().count() > NAME {
        return Err(Failure::Input(format!("the name of a saved query has 1 to {NAME} characters")));
    }
    let query = form_query::with_entity(context, table, Selection::parse(field("query"))).text();
    context.state.notebook.add(noted(context, table, query, Some(name.to_owned()))).await?;
    Ok(response::see_other("/queries"))
}

/// Removes a saved query, or a query in the history.
pub(crate) async fn forget(context: &Context<'_>) -> Result<Response<Body>> {
    let field = |name| context.request.field(name).unwrap_or_default();
    let name = Some(field("name").to_owned()).filter(|name| !name.is_empty());
    let table = TableName::new(field("table"))?;
    let noted = noted(context, &table, field("query").to_owned(), name);
    context.state.notebook.remove(context.state.source.names(), noted).await?;
    Ok(response::see_other("/queries"))
}

/// Returns the form that saves the requested query.
pub(crate) fn form(context: &Context<'_>, table: &TableName, selection: &Selection) -> Markup {
    html! {
        form.row.keep method="post" action=(link::table(table, "keep")) aria-label="Save the query" {
            input type="hidden" name="csrf" value=(context.state.session.form_token());
            input type="hidden" name="query" value=(selection.text());
            span.fld { label for="save-name" { "name" } input #save-name name="name" required maxlength=(NAME) autocomplete="off" placeholder="of the query"; }
            button.btn type="submit" { "Save the query" }
        }
    }
}

pub(crate) async fn page(context: &Context<'_>) -> Result<Markup> {
    let all = context.state.notebook.of(context.state.source.names()).await?;
    let (saved, history): (Vec<_>, Vec<_>) = all.into_iter().partition(|noted| noted.name.is_some());
    let main = html! {
        h1 { "Saved queries" }
        @if saved.is_empty() { p.empty { "No query is saved. The page of a query saves it under a name." } }
        @else { (list(context, &saved, "Saved queries", "Saved")) }
        section aria-label="History" {
            h2 { "History" }
            @if history.is_empty() { p.empty { "No query has run." } } @else { (list(context, &history, "History", "Last run")) }
        }
    };
    let frame = Frame { title: "Saved queries".to_owned(), here: "/queries", main, ..Frame::default() };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

fn list(context: &Context<'_>, queries: &[Noted], label: &str, time: &str) -> Markup {
    html! {
        div.wrap tabindex="0" role="region" aria-label=(label) {
            table.grid.list {
                thead { tr { th scope="col" { "Query" } th scope="col" { "Table" } th scope="col" { (time) } th scope="col" { span.hidden { "Remove" } } } }
                tbody { @for noted in queries { @if let Ok(table) = TableName::new(&noted.table) { (row(context, &table, noted)) } } }
            }
        }
    }
}

fn row(context: &Context<'_>, table: &TableName, noted: &Noted) -> Markup {
    let address = format!("{}?{}", link::table(table, "q"), noted.query);
    let label = Selection::parse(&noted.query).words();
    html! {
        tr {
            td.long { a.key href=(address) { @match &noted.name { Some(name) => { b { (show::stored(name)) } span.raw { (show::stored(&label)) } }, None => span.mono { (show::stored(&label)) } } } }
            td { (table) }
            td { (show::instant(noted.at)) }
            td.num {
                form method="post" action="/queries/forget" {
                    input type="hidden" name="csrf" value=(context.state.session.form_token());
                    input type="hidden" name="table" value=(table);
                    input type="hidden" name="query" value=(noted.query);
                    input type="hidden" name="name" value=(noted.name.as_deref().unwrap_or_default());
                    button.btn type="submit" { "Remove" }
                }
            }
        }
    }
}
