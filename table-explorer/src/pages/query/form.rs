//! The query form.

use maud::{Markup, html};
use table_core::TableName;
use table_core::filter::Comparison;
use table_core::schema::StoredSchema;
use table_inspect::kind::Kind;

use crate::keyed;
use crate::link;
use crate::pages::{Context, form_query};
use crate::selection::{Condition, PART, Selection};
use crate::show;

/// Returns the symbol that represents a comparison operator.
const fn sign(operator: Comparison) -> &'static str {
    match operator {
        Comparison::Eq => "=",
        Comparison::Ne => "≠",
        Comparison::Gt => ">",
        Comparison::Ge => "≥",
        Comparison::Lt => "<",
        Comparison::Le => "≤",
    }
}

/// Returns the form, filled in from a selection and followed by the plan.
pub(crate) fn render(
    context: &Context<'_>,
    table: &TableName,
    selection: &Selection,
    plan: &Markup,
) -> Markup {
    let entities: Vec<&str> = context.known.of(table).map(|schema| schema.entity.as_str()).collect();
    let schema = form_query::schema(context, table, selection).ok().flatten();
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    html! {
        form.query #query action=(link::table(table, "q")) data-plan=(link::table(table, "plan")) aria-label="Query" {
            div.row {
                (entity(&entities, selection))
                (parts(selection, schema))
                (keys(selection, schema))
                (conditions(selection, schema))
                span.grow {}
                button.go type="submit" name="run" value="1" { "Run" }
            }
            details.more open[selection.filter.is_some() || selection.select.is_some()] {
                summary { "Filter, properties, rows" }
                div.row {
                    label.wide { span { "$filter" } input name="filter" value=(text(&selection.filter)) placeholder="Age ge 30 and Active eq true" spellcheck="false"; }
                    label { span { "$select" } input name="select" value=(text(&selection.select)) placeholder="all properties" spellcheck="false"; }
                    label { span { "rows a page" } input.short name="top" type="number" min="1" max="1000" value=(selection.top); }
                }
            }
            (plan)
        }
    }
}

/// Returns the field for the entity type. An unknown type stays selected until the user picks another one.
fn entity(known: &[&str], selection: &Selection) -> Markup {
    let chosen = selection.entity.as_deref();
    let unknown = chosen.filter(|chosen| !known.contains(chosen));
    html! {
        @if !known.is_empty() || unknown.is_some() {
            span.fld {
                label for="entity" { "entity" }
                select #entity name="entity" {
                    option value="" selected[chosen.is_none()] { "all rows" }
                    @if let Some(name) = unknown { option value=(name) selected { (show::text(name)) } }
                    @for name in known { option value=(name) selected[chosen == Some(*name)] { (show::text(name)) } }
                }
            }
        }
    }
}

/// Returns the fields for key parts, followed by fields for parts in the selection but not in the key.
fn parts(selection: &Selection, schema: Option<&StoredSchema>) -> Markup {
    let known = schema.map(keyed::part_labels).unwrap_or_default();
    let field = |name: &str, class: &str, values: &str| {
        let id = format!("{PART}{name}");
        html! {
            span.fld {
                label class=(class) for=(id) { (show::text(name)) }
                input #(id) name=(id) value=(values) placeholder="any" autocomplete="off" spellcheck="false" title="One value, a range such as 100..199, a beginning such as ada*, or = and one value";
            }
        }
    };
    let is_other = |name: &str| !known.iter().any(|known| known.eq_ignore_ascii_case(name));
    html! {
        @if let Some(schema) = schema {
            @let kind = Kind::Entity(schema);
            @for name in &known { (field(name, keyed::colour(&kind, name), selection.part(name).unwrap_or_default())) }
        }
        @for (name, values) in selection.parts.iter().filter(|(name, _)| is_other(name)) { (field(name, "", values)) }
    }
}

/// Returns the fields for the complete `PartitionKey` and `RowKey`. If the table has a schema, a field is shown only if the selection has a value for it.
fn keys(selection: &Selection, schema: Option<&StoredSchema>) -> Markup {
    html! {
        @for (id, label, given) in [("partition", "PartitionKey", &selection.partition), ("row", "RowKey", &selection.row)] {
            @if schema.is_none() || given.is_some() {
                span.fld {
                    label for=(id) { (label) }
                    input #(id) name=(id) value=(given.as_deref().unwrap_or_default()) placeholder="any" autocomplete="off" spellcheck="false" title="One key, a range such as A..B, a beginning such as A*, or = and one key";
                }
            }
        }
    }
}

/// Returns the fields for the selection's conditions, followed by empty fields for a new condition.
fn conditions(selection: &Selection, schema: Option<&StoredSchema>) -> Markup {
    let empty = Condition { property: String::new(), operator: Comparison::Eq, value: String::new() };
    html! {
        datalist #properties { @if let Some(schema) = schema { @for property in &schema.properties { option value=(property.name) { (show::type_name(property.edm)) } } } }
        @for (at, condition) in selection.conditions.iter().chain([&empty]).enumerate() {
            div.condition {
                span.fld {
                    label for={ "property" (at) } { "property" }
                    input #{ "property" (at) } name="property" list="properties" value=(condition.property) placeholder="none" autocomplete="off" spellcheck="false";
                }
                select name="is" aria-label="Comparison" { @for operator in Comparison::ALL { option value=(operator.as_str()) selected[operator == condition.operator] { (sign(operator)) } } }
                input.value name="value" aria-label="Value" value=(condition.value) placeholder="value" autocomplete="off" spellcheck="false";
            }
        }
    }
}
