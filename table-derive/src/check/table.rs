//! Checks table names and stored schema names.

use proc_macro2::Span;

use crate::check::property::is_identifier;
use crate::ctxt::Ctxt;
use crate::model::Entity;

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    let (name, span) = &entity.table;
    let help = |name: &str| {
        format!("name the table: `#[entity(table = {name:?})]`; the default is the name of the struct")
    };
    table_name(ctxt, name, *span, help);
    if let Some(name) = &entity.schema_name
        && !is_identifier(&name.value())
    {
        let fact = format!("the schema name `{}` is not the name of a type", name.value());
        let help = "write the earlier name of the struct: `#[entity(schema_name = \"Employee\")]`";
        ctxt.error_and_expand("T012", name.span(), fact, help);
    }
    for table in entity.indexes.iter().filter_map(|index| index.attr.table.as_ref()) {
        let help = |name: &str| {
            format!("name another table: `table = {name:?}`; the default is the table of the entity")
        };
        table_name(ctxt, &table.value(), table.span(), help);
    }
}

/// Checks a table name: 3 to 63 ASCII letters and digits, starting with a letter, and not `tables` (TBL-1, TBL-3). The service's metrics tables, whose names
/// start with `$Metrics`, are allowed.
fn table_name(ctxt: &Ctxt, name: &str, span: Span, help: impl FnOnce(&str) -> String) {
    let name = name.strip_prefix('$').filter(|rest| rest.starts_with("Metrics")).unwrap_or(name);
    let wrong = if !name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        || name.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
    {
        "must consist of ASCII letters and digits and start with a letter (TBL-1)"
    } else if !(3..=63).contains(&name.len()) {
        "must have 3 to 63 characters (TBL-1)"
    } else if name.eq_ignore_ascii_case("tables") {
        "is reserved (TBL-3)"
    } else {
        return;
    };
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let right = letters.trim_start_matches(|first: char| first.is_ascii_digit());
    let is_name = (3..=63).contains(&right.len()) && !right.eq_ignore_ascii_case("tables");
    let help = help(if is_name { right } else { "Company" });
    ctxt.error_and_expand("T012", span, format!("the table name `{name}` {wrong}"), help);
}
