//! The form for a query.

use maud::{Markup, html};
use table_core::TableName;
use table_core::schema::StoredSchema;
use table_inspect::kind::Kind;

use crate::keyed;
use crate::link;
use crate::pages::Context;
use crate::pages::form_query::{self, Condition, PART};
use crate::show;

const OPERATORS: [(&str, &str); 6] =
    [("eq", "="), ("ne", "≠"), ("gt", ">"), ("ge", "≥"), ("lt", "<"), ("le", "≤")];

/// Returns the form filled with the requested conditions, followed by a plan.
pub(crate) fn render(context: &Context<'_>, table: &TableName, plan: &Markup) -> Markup {
    let schemas: Vec<&StoredSchema> = context.known.of(table).collect();
    let schema = form_query::schema(context, table);
    html! {
        form.query #query action=(link::table(table, "q")) data-plan=(link::table(table, "plan")) aria-label="Query" {
            div.row {
                @if schemas.len() > 1 { (entity(&schemas, schema)) }
                @if let Some(schema) = schema { (parts(context, schema)) } @else { (raw(context)) }
                (conditions(context, schema))
                span.grow {}
                button.go type="submit" name="run" value="1" { "Run" }
            }
            details.more open[context.request.query("filter").is_some() || context.request.query("select").is_some()] {
                summary { "Filter, properties, rows" }
                div.row {
                    label.wide { span { "$filter" } input name="filter" value=(context.request.query("filter").unwrap_or_default()) placeholder="Age ge 30 and Active eq true" spellcheck="false"; }
                    label { span { "$select" } input name="select" value=(context.request.query("select").unwrap_or_default()) placeholder="all properties" spellcheck="false"; }
                    label { span { "rows a page" } input.short name="top" type="number" min="1" max="1000" value=(context.request.query("top").map_or_else(|| form_query::ROWS.to_string(), str::to_owned)); }
                }
            }
            (plan)
        }
    }
}

fn entity(schemas: &[&StoredSchema], chosen: Option<&StoredSchema>) -> Markup {
    html! {
        span.fld {
            label for="entity" { "entity" }
            select #entity name="entity" {
                @for schema in schemas { option value=(schema.entity) selected[chosen == Some(schema)] { (show::text(&schema.entity)) } }
            }
        }
    }
}

fn parts(context: &Context<'_>, schema: &StoredSchema) -> Markup {
    let kind = Kind::Entity(schema);
    html! {
        @for name in keyed::part_names(schema) {
            @let id = format!("{PART}{name}");
            span.fld {
                label class=(keyed::colour(&kind, name)) for=(id) { (show::text(name)) }
                input #(id) name=(id) value=(form_query::part(context, name).unwrap_or_default()) placeholder="any" autocomplete="off" spellcheck="false" title="One value, a range such as 100..199, or a beginning such as ada*";
            }
        }
        @if let Some(partition) = context.request.query("partition") {
            span.fld { label for="partition" { "PartitionKey" } input #partition name="partition" value=(partition); }
        }
    }
}

fn raw(context: &Context<'_>) -> Markup {
    html! {
        @for (id, label) in [("partition", "PartitionKey"), ("row", "RowKey")] {
            span.fld {
                label for=(id) { (label) }
                input #(id) name=(id) value=(context.request.query(id).unwrap_or_default()) placeholder="any" autocomplete="off" spellcheck="false" title="One key, a range such as A..B, or a beginning such as A*";
            }
        }
    }
}

/// Returns the fields for the given conditions, followed by an empty condition.
fn conditions(context: &Context<'_>, schema: Option<&StoredSchema>) -> Markup {
    let given = form_query::conditions(context);
    let empty = Condition { property: "", operator: "eq", value: "" };
    html! {
        datalist #properties { @if let Some(schema) = schema { @for property in &schema.properties { option value=(property.name) { (show::type_name(property.edm)) } } } }
        @for (at, condition) in given.iter().chain([&empty]).enumerate() {
            div.condition {
                span.fld {
                    label for={ "property" (at) } { "property" }
                    input #{ "property" (at) } name="property" list="properties" value=(condition.property) placeholder="none" autocomplete="off" spellcheck="false";
                }
                select name="is" aria-label="Comparison" { @for (word, sign) in OPERATORS { option value=(word) selected[word == condition.operator] { (sign) } } }
                input.value name="value" aria-label="Value" value=(condition.value) placeholder="value" autocomplete="off" spellcheck="false";
            }
        }
    }
}
