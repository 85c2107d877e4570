//! Forms for changing entities.

use maud::{Markup, html};
use table_core::{EdmType, TableEntity, TableName, Value};
use table_inspect::value;

use crate::keyed;
use crate::link;
use crate::pages::Context;
use crate::show;
use table_inspect::kind::Kind;

/// The maximum size, in bytes, of a value editable in the form. Longer stored values are kept unchanged.
const EDITABLE: usize = 8_000;
/// The number of empty lines for additional properties.
const FURTHER: usize = 2;

/// Returns the form for editing an entity, with fields for its properties and a delete button.
pub(super) fn edit(context: &Context<'_>, table: &TableName, row: &TableEntity) -> Markup {
    html! {
        form.edit method="post" action=(link::table(table, "save")) {
            (hidden(context, row))
            (properties(row, row))
            div.row.end { a.btn href=(link::entity(table, row.key())) { "Cancel" } span.grow {} button.go type="submit" { "Save" } }
        }
        form.edit.danger method="post" action=(link::table(table, "delete")) {
            (hidden(context, row))
            div.row.end { label { input type="checkbox" name="sure" value="1" required; " delete this entity" } span.grow {} button.btn type="submit" { "Delete" } }
        }
    }
}

/// Returns the form for a new entity.
pub(super) fn new(context: &Context<'_>, table: &TableName) -> Markup {
    let schema = context.known.of(table).next();
    html! {
        form.edit method="post" action=(link::table(table, "insert")) {
            input type="hidden" name="csrf" value=(context.state.session.form_token());
            @if let Some(schema) = schema {
                p.note { "Keys of " (show::text(&schema.entity)) ": " code { (keyed::pattern(&Kind::Entity(schema), &schema.partition_key)) } " / " code { (keyed::pattern(&Kind::Entity(schema), &schema.row_key)) } }
            }
            div.row {
                @for (name, label) in [("pk", "PartitionKey"), ("rk", "RowKey")] {
                    span.fld { label for=(name) { (label) } input #(name) name=(name) autocomplete="off" spellcheck="false" maxlength="512"; }
                }
            }
            @for at in 0..FURTHER + 2 { (property(at, "", EdmType::String, "", true)) }
            div.row.end { a.btn href=(link::table(table, "")) { "Cancel" } span.grow {} button.go type="submit" { "Insert" } }
        }
    }
}

fn hidden(context: &Context<'_>, row: &TableEntity) -> Markup {
    html! {
        input type="hidden" name="csrf" value=(context.state.session.form_token());
        input type="hidden" name="pk" value=(row.key().partition_key.as_str());
        input type="hidden" name="rk" value=(row.key().row_key.as_str());
        @if let Some(etag) = row.etag() { input type="hidden" name="etag" value=(etag); }
    }
}

/// Returns fields for the properties of `row`. For a long stored value, the form contains only the property name.
fn properties(row: &TableEntity, stored: &TableEntity) -> Markup {
    let is_kept = |(name, value): &(&str, &Value)| {
        value::show(value).len() > EDITABLE && stored.get(name) == Some(*value)
    };
    let (kept, edited): (Vec<_>, Vec<_>) = row.iter().partition(is_kept);
    html! {
        @for (at, (name, found)) in edited.iter().enumerate() { (property(at, name, found.edm_type(), &value::show(found), false)) }
        @for (name, found) in &kept {
            div.row { input type="hidden" name="kept" value=(name); code { (show::text(name)) } span.faint { (show::size(value::show(found).len())) ", kept as it is" } }
        }
        @for at in 0..FURTHER { (property(edited.len() + at, "", EdmType::String, "", true)) }
    }
}

/// Returns the fields for one property. `at` is its index among the edited properties.
fn property(at: usize, name: &str, edm: EdmType, text: &str, is_new: bool) -> Markup {
    html! {
        div.row.property {
            @if is_new { input.name name="name" aria-label="Name of an additional property" placeholder="additional property" maxlength="255" autocomplete="off" spellcheck="false"; }
            @else { input type="hidden" name="name" value=(name); label.name for={ "value" (at) } { (show::stored(name)) } }
            select name="type" aria-label={ "Type of " (if is_new { "the additional property" } else { name }) } {
                @for other in EdmType::ALL { option value=(show::type_name(other)) data-pattern=[pattern(other)] selected[other == edm] { (show::type_name(other)) } }
            }
            @if edm == EdmType::String { textarea.value #{ "value" (at) } name="value" rows=(text.lines().count().clamp(1, 8)) aria-label={ "Value of " (if is_new { "the additional property" } else { name }) } spellcheck="false" { "\n" (text) } }
            @else { input.value #{ "value" (at) } name="value" value=(text) inputmode=(mode(edm)) autocomplete="off" spellcheck="false"; }
            @if !is_new { label.remove { input type="checkbox" name="remove" value=(at); " remove" } }
        }
    }
}

const fn mode(edm: EdmType) -> &'static str {
    match edm {
        EdmType::Int32 | EdmType::Int64 => "numeric",
        EdmType::Double => "decimal",
        _ => "text",
    }
}

/// Returns a regular expression for values of a type. The script uses it to let the browser validate a value against the selected type.
const fn pattern(edm: EdmType) -> Option<&'static str> {
    match edm {
        EdmType::Int32 => Some("-?[0-9]{1,10}"),
        EdmType::Int64 => Some("-?[0-9]{1,19}"),
        EdmType::Boolean => Some("true|false"),
        EdmType::Guid => Some("[0-9a-fA-F\\-]{32,36}"),
        _ => None,
    }
}

/// Returns a two-column comparison of the properties that differ between two versions.
pub(super) fn comparison(own: &TableEntity, stored: &TableEntity) -> Markup {
    let mut names: Vec<&str> = own.iter().chain(stored.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| own.get(name) != stored.get(name));
    let cell = |found: Option<&Value>| {
        html! { @if let Some(found) = found { (show::stored(&value::show(found))) } @else { span.faint { "absent" } } }
    };
    html! {
        @if names.is_empty() { p.note { "Both versions have the same properties; only the ETag differs." } }
        @else {
            div.wrap tabindex="0" role="region" aria-label="Differences" {
                table.grid {
                    thead { tr { th scope="col" { "Property" } th scope="col" { "Yours" } th scope="col" { "Stored now" } } }
                    tbody { @for name in names { tr { th scope="row" { (show::stored(name)) } td { (cell(own.get(name))) } td { (cell(stored.get(name))) } } } }
                }
            }
        }
    }
}

/// Returns the form for overwriting the stored version with the user's values.
pub(super) fn overwrite(
    context: &Context<'_>,
    table: &TableName,
    own: &TableEntity,
    stored: &TableEntity,
) -> Markup {
    html! {
        form.edit method="post" action=(link::table(table, "save")) {
            (hidden(context, stored))
            (properties(own, stored))
            div.row.end { a.btn href=(link::entity(table, stored.key())) { "Keep the stored version" } span.grow {} button.go type="submit" { "Overwrite with my values" } }
        }
    }
}
