//! Pages for inserting, editing and deleting entities. Edits and deletions are conditional on the `ETag` shown to the user. After a conflict, the page shows
//! both versions.

mod form;

use http::{Response, StatusCode};
use maud::{Markup, html};
use table_core::{
    ETag, EntityKey, IfMatch, Operation, OperationKind, PartitionKey, TableEntity, TableName, TableStore,
    Transaction,
};
use table_inspect::{derived, value};

use crate::failure::{Failure, Result};
use crate::form_text::returned;
use crate::frame::Frame;
use crate::internal::is_internal;
use crate::link;
use crate::pages::{Context, entity};
use crate::response::{self, Body};
use crate::show;

/// Checks that changes are enabled and that plain writes would not make derived rows inconsistent.
pub(crate) async fn permit(context: &Context<'_>, table: &TableName) -> Result<()> {
    if !context.state.is_writable {
        let text = "changes are off; start the explorer with `--write` to edit entities";
        return Err(Failure::Refused(text.to_owned()));
    }
    without_options(derived::refuse_plain_writes(&context.reader.shared(), table, false).await)
}

/// Checks operations on one partition and groups them into units, each to be sent in one transaction. Operations on sequences and parts of wide entities become
/// conditional on the versions that were read.
///
/// # Errors
/// `Refused` if the operations would change the library's internal rows, delete only some parts of a wide entity, or rewind a sequence.
pub(super) async fn admit(
    context: &Context<'_>,
    table: &TableName,
    partition_key: &PartitionKey,
    operations: Vec<Operation>,
) -> Result<Vec<Vec<Operation>>> {
    if let Some(internal) = operations.iter().find(|operation| is_internal(operation.row_key.as_str())) {
        let text = format!(
            "the row ('{partition_key}', '{}') is an internal row of the library, such as recorded work or an entry of a feed; only programs change it",
            internal.row_key
        );
        return Err(Failure::Refused(text));
    }
    let store = context.reader.shared();
    without_options(derived::guard_writes(&store, table, partition_key, operations).await)
}

/// Replaces the end of a message about derived rows, because it mentions options of the `tables` command that the explorer does not have.
fn without_options<T>(outcome: table_inspect::error::Result<T>) -> Result<T> {
    let help = "; plain rows would leave these wrong. Change them through a program with the declaration";
    match outcome {
        Err(table_inspect::Error::Derived(text)) => {
            let fact = text.split("; plain rows").next().unwrap_or(&text).to_owned();
            Err(Failure::Refused(fact + help))
        }
        outcome => Ok(outcome?),
    }
}

/// Shows the form for editing an entity.
pub(crate) async fn edit(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    permit(context, table).await?;
    let row = entity::read(context, table, &entity::key(context)?).await?;
    let main = html! {
        h1 { "Edit " span.part { (show::raw_key(row.key().row_key.as_str())) } }
        (form::edit(context, table, &row))
    };
    Ok(frame(context, table, row.key(), "Edit", main))
}

/// Shows the form for a new entity.
pub(crate) async fn new(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    permit(context, table).await?;
    let frame = Frame {
        title: "Insert".to_owned(),
        crumbs: vec![(table.as_str().to_owned(), link::table(table, ""))],
        table: Some(table),
        main: html! { h1 { "Insert into " (table) } (form::new(context, table)) },
        ..Frame::default()
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

fn frame(context: &Context<'_>, table: &TableName, key: &EntityKey, title: &str, main: Markup) -> Markup {
    let partition_key = key.partition_key.as_str();
    let frame = Frame {
        title: title.to_owned(),
        crumbs: vec![
            (table.as_str().to_owned(), link::table(table, "")),
            (partition_key.to_owned(), link::partition(table, partition_key)),
            (key.row_key.as_str().to_owned(), link::entity(table, key)),
        ],
        table: Some(table),
        partition: Some(partition_key),
        main,
        ..Frame::default()
    };
    frame.render(context.state, &context.known, context.reader.cost())
}

/// Returns the key entered in the form.
fn key(context: &Context<'_>) -> Result<EntityKey> {
    let field = |name| context.request.field(name).unwrap_or_default();
    Ok(EntityKey::new(field("pk"), field("rk"))?)
}

/// Returns the `ETag` of the version on which the form was based.
fn etag(context: &Context<'_>) -> Result<ETag> {
    let text =
        context.request.field("etag").ok_or_else(|| Failure::Input("the form has no ETag".to_owned()))?;
    Ok(ETag::parse(text)?)
}

/// Returns the entity submitted in the form. Properties unchanged or absent in the form keep their stored values.
fn submitted(context: &Context<'_>, key: &EntityKey, stored: Option<&TableEntity>) -> Result<TableEntity> {
    let (names, types, texts) =
        (context.request.fields("name"), context.request.fields("type"), context.request.fields("value"));
    if names.len() != types.len() || names.len() != texts.len() {
        let text =
            "the form is incomplete: each property has a name, a type and a value; load the page again";
        return Err(Failure::Input(text.to_owned()));
    }
    let removed = context.request.fields("remove");
    let mut row = TableEntity::from(key.clone());
    for name in context.request.fields("kept") {
        if let Some(found) = stored.and_then(|stored| stored.get(name)) {
            row.insert(name, found.clone());
        }
    }
    for (at, ((name, edm), text)) in names.iter().zip(&types).zip(&texts).enumerate() {
        if name.is_empty() || removed.contains(&at.to_string().as_str()) {
            continue;
        }
        let unknown = || Failure::Input(format!("`{edm}` is not a type"));
        let edm = value::type_of(edm).ok_or_else(unknown)?;
        let text = returned(text);
        let before = stored.and_then(|stored| stored.get(name)).filter(|before| before.edm_type() == edm);
        let is_same = |before: &&table_core::Value| returned(&value::show(before)) == text;
        let found = match before.filter(is_same) {
            Some(before) => before.clone(),
            None => value::read(edm, &text).map_err(|expected| {
                Failure::Input(format!("property `{name}`: `{text}` is not {edm}; expected {expected}"))
            })?,
        };
        if row.insert(*name, found).is_some() {
            return Err(Failure::Input(format!("property `{name}` is given twice; remove one")));
        }
    }
    Ok(row)
}

async fn submit(
    context: &Context<'_>,
    table: &TableName,
    key: &EntityKey,
    kind: OperationKind,
) -> Result<()> {
    let store = context.reader.store();
    let operation = Operation { row_key: key.row_key.clone(), kind };
    let operations = admit(context, table, &key.partition_key, vec![operation]).await?.concat();
    let transaction = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
    store.submit(table, transaction.with_operations(operations)?).await?;
    Ok(())
}

/// Saves an edited entity unless it has changed since the form was created.
pub(crate) async fn save(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    permit(context, table).await?;
    let (key, etag) = (key(context)?, etag(context)?);
    let stored = entity::read(context, table, &key).await?;
    let row = submitted(context, &key, Some(&stored))?;
    if stored.etag() != Some(&etag) {
        return Ok(conflict(context, table, &row, &stored));
    }
    match submit(context, table, &key, OperationKind::Replace(row.to_row()?, IfMatch::ETag(etag))).await {
        Err(Failure::Store(error)) if error.is_precondition_failed() => {
            let stored = entity::read(context, table, &key).await?;
            Ok(conflict(context, table, &row, &stored))
        }
        outcome => outcome.map(|()| response::see_other(&link::entity(table, &key))),
    }
}

/// Shows both values of each differing property, with a form for overwriting the stored version.
fn conflict(
    context: &Context<'_>,
    table: &TableName,
    own: &TableEntity,
    stored: &TableEntity,
) -> Response<Body> {
    let main = html! {
        h1 { "Conflict" }
        div.report role="alert" { p { "The entity was changed after this form was opened. Nothing was saved." } }
        (form::comparison(own, stored))
        (form::overwrite(context, table, own, stored))
    };
    response::page(StatusCode::CONFLICT, frame(context, table, stored.key(), "Conflict", main))
}

/// Inserts a new entity.
pub(crate) async fn insert(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    permit(context, table).await?;
    let key = key(context)?;
    let row = submitted(context, &key, None)?;
    submit(context, table, &key, OperationKind::Insert(row.to_row()?)).await?;
    Ok(response::see_other(&link::entity(table, &key)))
}

/// Deletes an entity unless it has changed since the form was created.
pub(crate) async fn delete(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    permit(context, table).await?;
    let (key, etag) = (key(context)?, etag(context)?);
    if context.request.field("sure").is_none() {
        return Err(Failure::Input("mark the box next to the button to delete the entity".to_owned()));
    }
    submit(context, table, &key, OperationKind::Delete(IfMatch::ETag(etag))).await?;
    Ok(response::see_other(&link::partition(table, key.partition_key.as_str())))
}
