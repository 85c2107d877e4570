//! The page for one entity: its key, properties, version and derived rows.

use maud::{Markup, html};
use table_core::query::QueryClass;
use table_core::{EntityKey, TableEntity, TableName};
use table_inspect::kind::{self, Kind};

use crate::columns;
use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::grid;
use crate::internal::is_internal;
use crate::keyed::{self, Keyed};
use crate::link;
use crate::pages::Context;
use crate::show;

/// The maximum size of an entity (ENT-1).
const LIMIT: &str = "1 MiB";

/// Returns the entity key given in the URL.
pub(crate) fn key(context: &Context<'_>) -> Result<EntityKey> {
    Ok(EntityKey::new(context.request.required("pk")?, context.request.required("rk")?)?)
}

/// Reads the entity with the given key. Returns `NotFound` if it does not exist.
pub(crate) async fn read(context: &Context<'_>, table: &TableName, key: &EntityKey) -> Result<TableEntity> {
    let missing = || Failure::NotFound(format!("table {table} has no such entity; it may have been deleted"));
    context.reader.get(table, key).await?.ok_or_else(missing)
}

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let entity = read(context, table, &key(context)?).await?;
    let keyed = Keyed::new(table.as_str(), &entity, context.known.of_rows(table));
    let key = entity.key();
    let declared = context.declared(table);
    let main = html! {
        h1 { span.kind { (grid::kind_label(&keyed.kind)) } " " (title(&keyed)) }
        p.sub {
            "In partition " a href=(link::partition(table, key.partition_key.as_str())) { (keyed.partition_key()) }
            @if context.state.is_writable {
                @if is_internal(key.row_key.as_str()) { " · not edited here: an internal row of the library" }
                @else if declared.is_empty() { " · " a.edit href=(link::entity_page(table, "edit", key)) { "Edit" } }
                @else { " · not edited here: the table declares " (show::text(&declared.join(", "))) }
            }
        }
        (properties(table, &entity))
    };
    let frame = Frame {
        title: if key.row_key.as_str().is_empty() {
            "(empty)".to_owned()
        } else {
            key.row_key.as_str().to_owned()
        },
        crumbs: vec![
            (table.as_str().to_owned(), link::table(table, "")),
            (key.partition_key.as_str().to_owned(), link::partition(table, key.partition_key.as_str())),
        ],
        table: Some(table),
        partition: Some(key.partition_key.as_str()),
        here: "",
        main,
        aside: Some(detail(context, table, &keyed)),
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

fn properties(table: &TableName, entity: &TableEntity) -> Markup {
    let later = columns::later_pieces(entity);
    let shown = entity.iter().filter(|(name, _)| !later.contains(*name));
    html! {
        @if entity.is_empty() { p.empty { "The entity has no properties." } }
        @else {
            div.wrap tabindex="0" role="region" aria-label="Properties" {
                table.grid.facts {
                    thead { tr { th scope="col" { "Property" } th scope="col" { "Type" } th scope="col" { "Value" } } }
                    tbody { @for (name, value) in shown {
                        @let whole = columns::joined(entity, name).filter(|(_, pieces)| *pieces > 1);
                        @let address = link::value(table, entity.key(), name, "text");
                        tr {
                            th scope="row" { (show::stored(name)) }
                            td.faint { (show::type_name(value.edm_type())) }
                            td {
                                @match &whole {
                                    Some((whole, pieces)) => { (show::cell(whole, &address)) " " span.faint { "in " (pieces) " pieces" } }
                                    None => (show::cell(value, &address)),
                                }
                            }
                        }
                    } }
                }
            }
        }
    }
}

/// Returns an entity's `RowKey` parts as markup, or the raw `RowKey` if it matches no schema.
fn title(keyed: &Keyed<'_>) -> Markup {
    let parts: Vec<_> = keyed.row_parts().collect();
    html! {
        @if parts.is_empty() { span.part { (keyed.row_key()) } }
        @for (at, (name, value)) in parts.iter().enumerate() { @if at > 0 { " · " } span class=(keyed::colour(&keyed.kind, name)) { (show::part(value)) } }
    }
}

/// Returns the detail pane for the selected row on a partition's page: its key, version, size and derived rows.
pub(crate) fn detail(context: &Context<'_>, table: &TableName, keyed: &Keyed<'_>) -> Markup {
    let (entity, key) = (keyed.row, keyed.row.key());
    let bytes = entity.to_row().map(|row| {
        table_core::row::entity_bytes(key.partition_key.as_str(), key.row_key.as_str(), Some(&row))
    });
    html! {
        section #detail aria-label="Selected row" {
        h2.row-title { (grid::kind_label(&keyed.kind)) " " (title(keyed)) }
        dl {
            dt { "PartitionKey" } dd { code { (keyed.partition_key()) } }
            dt { "RowKey" } dd { code { (keyed.row_key()) } }
            @if let Some(at) = entity.timestamp() { dt { "Timestamp" } dd { (show::instant(at)) } }
            @if let Some(etag) = entity.etag() { dt { "ETag" } dd { code { (show::text(&etag.to_string())) } } }
            @if let Ok(bytes) = bytes { dt { "Size" } dd { (show::size(bytes)) " of " (LIMIT) } }
        }
        @match &keyed.kind {
            Kind::Entity(_) => (follows(context, table, keyed)),
            Kind::Index(schema, index) => {
                h2 { "Belongs to" }
                @match kind::owner(schema, index, entity).zip(TableName::new(&schema.table).ok()) {
                    Some((owner, table)) => ul.linked { li { a href=(link::entity(&table, &owner)) { span { (show::text(&schema.entity)) } span { (show::text(owner.row_key.as_str())) } } } },
                    None => p.note { "The entities whose keys the row lists." },
                }
            }
            _ => {}
        }
        }
    }
}

/// Returns links to an entity's derived rows.
fn follows(context: &Context<'_>, table: &TableName, keyed: &Keyed<'_>) -> Markup {
    let Kind::Entity(schema) = &keyed.kind else { return html! {} };
    let rows = kind::index_rows(schema, keyed.row);
    let feed = schema.keeps.iter().any(|word| word == "feed");
    let partition_key = keyed.row.key().partition_key.as_str();
    let beneath = format!("{}_", keyed.row.key().row_key.as_str());
    let has_parts = context.known.of(table).any(|other| {
        other.entity != schema.entity
            && other.row_key.len() > schema.row_key.len()
            && other.row_key.first() == schema.row_key.first()
    });
    html! {
        h2 { "Derived rows" }
        @if rows.is_empty() && !feed && !has_parts { p.note { "None: no index, copy or feed is declared." } }
        ul.linked {
            @for row in &rows { (index_row(row)) }
            @if has_parts { li { a href=(link::to(&link::table(table, "p"), &[("pk", partition_key), ("under", &beneath)])) { span { "Entities beneath it" } span.lit { (show::text(&beneath)) } } } }
            @if feed { li { a href=(link::to(&link::table(table, "feed"), &[("pk", partition_key)])) { span { "Change feed" } span { "of the partition" } } } }
        }
    }
}

fn index_row(row: &kind::IndexRow<'_>) -> Markup {
    let Ok(table) = TableName::new(row.table) else { return html! {} };
    let (partition_key, row_key) = (row.keys.partition_key.single(), row.keys.row_key.single());
    let prefix = match &row.keys.row_key.lower {
        std::ops::Bound::Included(text) => text.as_str(),
        _ => "",
    };
    let address = match (row.keys.class(), partition_key, row_key) {
        (QueryClass::Point, Some(partition_key), Some(row_key)) => {
            EntityKey::new(partition_key, row_key).ok().map(|key| link::entity(&table, &key))
        }
        (_, Some(partition_key), _) => {
            Some(link::to(&link::table(&table, "p"), &[("pk", partition_key), ("under", prefix)]))
        }
        _ => None,
    };
    html! {
        @if let Some(address) = address {
            li { a href=(address) { span { (show::text(&row.index.name)) @if row.index.unique { ", unique" } } span { (show::text(row_key.unwrap_or(prefix))) } } }
        }
    }
}
