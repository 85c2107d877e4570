//! Checks the declarations of indexes.

use syn::ext::IdentExt;
use syn::{Ident, LitInt};

use crate::attr::keyed::Keyed;
use crate::casing::pascal_case;
use crate::check::ended;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::index::Index;
use crate::model::key::Key;
use crate::model::{Entity, Field, kind_of_type, resolve};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    name_twice(ctxt, entity);
    missing_row_key(ctxt, entity);
    included_from_key(ctxt, entity);
    included_twice(ctxt, entity);
    unique_list(ctxt, entity);
    unbounded_list(ctxt, entity);
    own_key_left_out(ctxt, entity);
    reserved_method(ctxt, entity);
    type_of_a_field(ctxt, entity);
}

/// Reports duplicate index names.
fn name_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (at, index) in entity.indexes.iter().enumerate() {
        let name = &index.attr.name;
        if entity.is_index_twice(at) {
            let help = format!("give each index a different name, such as `{name}2`");
            ctxt.error("T061", name, format!("duplicate index `{name}`"), help);
        }
    }
}

/// Reports an index without a `row_key`.
fn missing_row_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let is_reported =
        |index: &Index| index.attr.broken || index.partition_key.as_ref().is_some_and(|key| key.broken);
    for index in entity.indexes.iter().filter(|index| index.row_key.is_none() && !is_reported(index)) {
        let name = &index.attr.name;
        let word = if index.attr.list { "index_entity" } else { "index" };
        let is_field = |field: &Field<'_>| field.ident == name && ended::may_be_indexed(field);
        let help = if entity.fields.iter().any(is_field) {
            let field = name.unraw().to_string();
            let unique = if index.attr.unique.is_some() { "unique, " } else { "" };
            let at_most = if index.attr.list { "at_most = 100, " } else { "" };
            let own = entity.row_key.iter().flat_map(Key::parts).map(|part| &part.name);
            let own: Vec<_> = own.filter(|own| *own != name).collect();
            let is_whole = index.attr.unique.is_some() || index.attr.list || own.is_empty();
            let pieces = if is_whole {
                vec![name.to_string()]
            } else {
                ended::field(entity, name).into_iter().chain(ended::fields(entity, own)).collect()
            };
            let form = format!(
                "#[{word}(By{}, {unique}{at_most}row_key(\"{field}_\", {}))]",
                pascal_case(&field),
                pieces.join(", ")
            );
            with_own_key(
                entity,
                index,
                &form,
                "an index starts with a name, and a field belongs in its key: ",
            )
        } else if let Some(pieces) = row_key_of_name(entity, index) {
            let own = grammar::source(&grammar::arguments(&index.attr.original));
            let form = format!("#[{word}({own}, row_key({pieces}))]");
            with_own_key(entity, index, &form, "name the fields to look up by: ")
        } else {
            format!("name the fields to look up by: `#[{word}({name}, row_key(field))]`")
        };
        ctxt.error("T060", name, format!("the index `{name}` has no `row_key`"), help);
    }
}

/// Returns the help text that shows an index. If its rows are in the partitions of the entities, whose `RowKey` has no literal, the text also shows that key
/// with a literal.
fn with_own_key(entity: &Entity<'_>, index: &Index, form: &str, why: &str) -> String {
    let Some(named) = kind_of_type::fields(entity.original) else { return format!("{why}`{form}`") };
    let is_here = index.partition_key.is_none() && index.attr.table.is_none();
    let keyed = Keyed::of(entity.original, named);
    match keyed.row_key_with_literal().filter(|_| is_here) {
        Some((own, before)) => format!(
            "{why}write `{own} {form}` above the struct, in place of `{before}`: both kinds of rows are in one partition, so each starts with another literal"
        ),
        None => format!("{why}`{form}`"),
    }
}

/// Suggests the missing `RowKey` of a unique index: a literal if the index has a `PartitionKey` with a field, and otherwise the field after which the index is
/// named.
fn row_key_of_name(entity: &Entity<'_>, index: &Index) -> Option<String> {
    let is_unique = index.attr.unique.is_some();
    if let Some(part) = index.partition_key.as_ref().and_then(|key| key.parts().next()) {
        return is_unique.then(|| format!("{:?}", part.name.unraw().to_string()));
    }
    let method = index.method();
    let field = method.strip_prefix("by_").unwrap_or(&method);
    let is_field = entity.fields.iter().any(|it| it.ident == field && ended::may_be_indexed(it));
    (is_field && is_unique).then(|| format!("\"{field}_\", {field}"))
}

/// Reports a field in `include(…)` that the copy's key already contains (PAT-INTRA-6).
fn included_from_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    // If the list contains errors, the intended fields are unknown.
    for index in entity.indexes.iter().filter(|index| !index.attr.broken) {
        for name in index.attr.include.iter().flatten() {
            let Some(at) = resolve(ctxt, &entity.fields, name, None) else { continue };
            if entity.key_can_decode(at) {
                let wrong = format!("`{name}` is part of the entity's key, which every copy includes");
                ctxt.error(
                    "T062",
                    name,
                    wrong,
                    "remove it here; a projection of the copies can use it in any case",
                );
            } else if index.can_decode(entity, at) {
                let wrong =
                    format!("`{name}` is part of the key of `{}` and is read from it", index.attr.name);
                ctxt.error(
                    "T062",
                    name,
                    wrong,
                    "remove it here; a copy does not store the fields of its key",
                );
            }
        }
    }
}

/// Reports a field that occurs twice in `include(…)`.
fn included_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    for keep in entity.indexes.iter().filter_map(|index| index.attr.include.as_ref()) {
        for (at, name) in keep.iter().enumerate() {
            if keep.iter().take(at).any(|earlier| earlier == name) {
                ctxt.error("T063", name, format!("`{name}` is included twice"), "remove it here");
            }
        }
    }
}

/// Reports `unique` on a list index (PAT-IX). A list contains the keys of all entities that share a value, so its values are not meant to be unique.
fn unique_list(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in entity.indexes.iter().filter(|index| index.attr.list) {
        if let Some(word) = &index.attr.unique {
            let name = &index.attr.name;
            let help = format!(
                "remove it, or use an index of copies, which one request reads: `#[index({name}, unique, …)]`"
            );
            ctxt.error(
                "T064",
                word,
                format!("`{name}` lists all entities of a value, so it cannot be unique"),
                help,
            );
        }
    }
}

/// Reports a list index without a limit. One row contains all keys for a value, so it could grow without bound (PAT-ANTI-3, PAT-IX-4).
fn unbounded_list(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in entity.indexes.iter().filter(|index| index.attr.list && !index.is_broken(entity)) {
        let name = &index.attr.name;
        let is_zero = |bound: &LitInt| !bound.base10_parse::<u32>().is_ok_and(|bound| bound > 0);
        match &index.attr.at_most {
            None => {
                let help = format!(
                    "declare the maximum number of keys: `#[index_entity({name}, at_most = 100, …)]`; or use copies, which \
                     have no limit: `#[index({name}, …)]`"
                );
                let wrong = format!(
                    "`{name}` is a list without a limit; one entity of at most 1 MiB holds all keys of a value (PAT-IX-4)"
                );
                ctxt.error("T068", name, wrong, help);
            }
            Some(bound) if is_zero(bound) => {
                let wrong = format!("`{bound}` cannot be the limit of a list");
                ctxt.error(
                    "T068",
                    bound,
                    wrong,
                    "`at_most` takes a number from 1 to 4294967295, such as `at_most = 100`",
                );
            }
            Some(_) => {}
        }
    }
}

/// Reports a non-unique index whose key omits a part of the entity's key. The copies of two entities could then have the same key (PAT-INTRA-5).
fn own_key_left_out(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in &entity.indexes {
        if index.attr.list || index.attr.unique.is_some() || index.is_broken(entity) {
            continue;
        }
        let left_out: Vec<_> = index.undetermined(entity).collect();
        if left_out.is_empty() {
            continue;
        }
        let is_read = left_out.iter().all(|part| part.codec.is_decodable());
        let mut left_out: Vec<&Ident> = left_out.iter().map(|part| &part.name).collect();
        left_out.dedup();
        let name = &index.attr.name;
        let names: Vec<String> = left_out.iter().map(ToString::to_string).collect();
        let wrong = format!(
            "`{name}` is not unique and its key leaves out `{}` of the entity's key, so two entities with one value would share one copy \
             (PAT-INTRA-5)",
            names.join("`, `")
        );
        let more = if is_read {
            let them = if left_out.len() == 1 { "it" } else { "them" };
            let pieces = [ended::row_key(entity, index), ended::fields(entity, left_out)].concat();
            format!("end its `row_key` with {them}: `row_key({})`", pieces.join(", "))
        } else {
            "end its `row_key` with the parts of the entity's key, in the same form".to_owned()
        };
        let help = format!(
            "{more}; or, if at most one entity has each value, declare that: `#[index({name}, unique, …)]`"
        );
        ctxt.error("T065", name, wrong, help);
    }
}

/// Reports an index whose generated type would have the same name as a field's type.
fn type_of_a_field(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in &entity.indexes {
        if let Some((made, field)) = entity.type_made_twice(index) {
            let name = &index.attr.name;
            let wrong = format!("`{name}` would generate a type `{made}`, which the field `{field}` has");
            let help = "give the index another name; the type is named after the entity and the index, `EmployeeByEmail`";
            ctxt.error("T073", name, wrong, help);
        }
    }
}

/// Reports an index whose generated function name is already taken.
fn reserved_method(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (at, index) in entity.indexes.iter().enumerate() {
        if let Some(name) = entity.method_made_twice(at) {
            let name_of = &index.attr.name;
            let wrong = format!("`{name_of}` would generate a function `{name}`, which exists already");
            ctxt.error("T067", name_of, wrong, "give the index another name; `ByEmail` generates `by_email`");
        }
    }
}
