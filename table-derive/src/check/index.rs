//! Rules of the indexes.

use syn::ext::IdentExt;
use syn::{LitInt, LitStr};

use crate::ctxt::Ctxt;
use crate::model::index::Index;
use crate::model::key::Key;
use crate::model::property::pascal_case;
use crate::model::{Entity, resolve};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    name_twice(ctxt, entity);
    missing_row_key(ctxt, entity);
    keep_is_stored(ctxt, entity);
    keep_twice(ctxt, entity);
    unique_list(ctxt, entity);
    unbounded_list(ctxt, entity);
    own_key_left_out(ctxt, entity);
    mixed_rows(ctxt, entity);
    reserved_method(ctxt, entity);
    type_of_a_field(ctxt, entity);
}

/// Two indexes have two names.
fn name_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (at, index) in entity.indexes.iter().enumerate() {
        let name = &index.attr.name;
        if entity.is_index_twice(at) {
            ctxt.error("T061", name, format!("duplicate index `{name}`"), "each index has a name of its own");
        }
    }
}

/// An index says what its copies are found by.
fn missing_row_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let is_told =
        |index: &Index| index.attr.broken || index.partition_key.as_ref().is_some_and(|key| key.broken);
    for index in entity.indexes.iter().filter(|index| index.row_key.is_none() && !is_told(index)) {
        let name = &index.attr.name;
        let word = if index.attr.list { "index_entity" } else { "index" };
        let help = if entity.fields.iter().any(|field| field.ident == name) {
            format!(
                "an index begins with a name, and a field stands in its key: `#[{word}(By{}, row_key({name}))]`",
                pascal_case(&name.unraw().to_string())
            )
        } else {
            format!("say what its rows are found by: `#[{word}({name}, row_key(field))]`")
        };
        ctxt.error("T060", name, format!("the index `{name}` has no `row_key`"), help);
    }
}

/// What a copy keeps is a property that its key does not say: key fields can be read from the copy in any case (PAT-INTRA-6).
fn keep_is_stored(ctxt: &Ctxt, entity: &Entity<'_>) {
    // After a mistake in the list it is not known which fields it was to hold.
    for index in entity.indexes.iter().filter(|index| !index.attr.broken) {
        for name in index.attr.keep.iter().flatten() {
            let Some(at) = resolve(ctxt, &entity.fields, name) else { continue };
            if entity.key_gives(at) {
                let wrong = format!("`{name}` is part of the entity's key, which every copy keeps");
                ctxt.error(
                    "T062",
                    name,
                    wrong,
                    "remove it here: a projection of the copies may have it in any case",
                );
            } else if index.gives(entity, at) {
                let wrong =
                    format!("`{name}` is part of the key of `{}`, from which it is read", index.attr.name);
                ctxt.error("T062", name, wrong, "remove it here: a copy does not store what its key says");
            }
        }
    }
}

/// `keep` names a field once.
fn keep_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    for keep in entity.indexes.iter().filter_map(|index| index.attr.keep.as_ref()) {
        for (at, name) in keep.iter().enumerate() {
            if keep.iter().take(at).any(|earlier| earlier == name) {
                ctxt.error("T063", name, format!("`{name}` is kept twice"), "remove it here");
            }
        }
    }
}

/// A list is of all that have a value (PAT-IX); a value that one has is what copies are for.
fn unique_list(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in entity.indexes.iter().filter(|index| index.attr.list) {
        if let Some(word) = &index.attr.unique {
            let name = &index.attr.name;
            let help = format!(
                "remove it, or keep a copy instead, which one request reads: `#[index({name}, unique, …)]`"
            );
            ctxt.error(
                "T064",
                word,
                format!("`{name}` is a list of all entities of a value, and cannot be unique"),
                help,
            );
        }
    }
}

/// A list has a bound: it grows with every entity of its value, and one entity holds it (PAT-ANTI-3, PAT-IX-4).
fn unbounded_list(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in entity.indexes.iter().filter(|index| index.attr.list && !index.is_broken(entity)) {
        let name = &index.attr.name;
        let is_zero = |bound: &LitInt| !bound.base10_parse::<u32>().is_ok_and(|bound| bound > 0);
        match &index.attr.at_most {
            None => {
                let help = format!(
                    "say how many keys a list may hold: `#[index_entity({name}, at_most = 100, …)]`; or keep copies, which \
                     have no bound: `#[index({name}, …)]`"
                );
                let wrong = format!(
                    "`{name}` is a list without a bound: one entity holds all keys of a value, and at most 1 MiB (PAT-IX-4)"
                );
                ctxt.error("T068", name, wrong, help);
            }
            Some(bound) if is_zero(bound) => {
                let wrong = format!("a list cannot be bounded by `{bound}`");
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

/// Two entities of one value have two copies: their key says which entity it is of, or there can be one only (PAT-INTRA-5).
fn own_key_left_out(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in &entity.indexes {
        if index.attr.list || index.attr.unique.is_some() || index.is_broken(entity) {
            continue;
        }
        let left_out = entity.fields.iter().enumerate().filter(|(at, _)| index.stores_key_field(entity, *at));
        let left_out: Vec<String> = left_out.map(|(_, field)| field.ident.to_string()).collect();
        if left_out.is_empty() {
            continue;
        }
        let name = &index.attr.name;
        let wrong = format!(
            "`{name}` is not unique and leaves `{}` of the entity's key out: two entities of one value would have one copy \
             (PAT-INTRA-5)",
            left_out.join("`, `")
        );
        let help = format!(
            "end its `row_key` with {}: `row_key(…, \"_\", {})`; or, if one entity at most has a value, declare it: `#[index({name}, \
             unique, …)]`",
            if left_out.len() == 1 { "it" } else { "them" },
            left_out.join(", \"_\", "),
        );
        ctxt.error("T065", name, wrong, help);
    }
}

/// Rows of one kind are distinguished from rows of another, and read without them, by the text that their `RowKey`s begin with
/// (PAT-HET-2).
fn mixed_rows(ctxt: &Ctxt, entity: &Entity<'_>) {
    let (Some(partition_key), Some(row_key)) = (&entity.partition_key, &entity.row_key) else { return };
    let begin = |key: &Key| key.literal_from(0);
    let mut kinds = vec![(
        "the entity itself".to_owned(),
        entity.table.0.to_ascii_lowercase(),
        begin(partition_key),
        begin(row_key),
    )];
    for index in entity.indexes.iter().filter(|index| !index.is_broken(entity)) {
        let name = &index.attr.name;
        let Some(row_key) = &index.row_key else { continue };
        let table = index.attr.table.as_ref().map_or_else(|| entity.table.0.clone(), LitStr::value);
        let table = table.to_ascii_lowercase();
        let partition = begin(index.partition_key.as_ref().unwrap_or(partition_key));
        let row = begin(row_key);
        let mixed = kinds.iter().find(|(_, other_table, other_partition, other_row)| {
            *other_table == table
                && *other_partition == partition
                && (other_row.starts_with(&row) || row.starts_with(other_row))
        });
        if let Some((other, .., other_row)) = mixed {
            let wrong = format!(
                "the rows of `{name}` would mix with those of {other} in one partition: their RowKeys begin with {row:?} and \
                 {other_row:?}"
            );
            let help = format!(
                "begin each with a text of its own: `row_key(\"{}_\", …)`; or give `{name}` partitions of its own, \
                 `partition_key(\"{}_\", …)`, or a table: `table = \"…\"`",
                index.method(),
                index.method(),
            );
            ctxt.error("T066", name, wrong, help);
        }
        kinds.push((format!("`{name}`"), table, partition, row));
    }
}

/// The types made for an index are not those that fields have.
fn type_of_a_field(ctxt: &Ctxt, entity: &Entity<'_>) {
    for index in &entity.indexes {
        if let Some((made, field)) = entity.type_made_twice(index) {
            let name = &index.attr.name;
            let wrong = format!("`{name}` would make a type `{made}`, which the field `{field}` has");
            let help = "give the index another name: the type is called as the entity and the index, `EmployeeByEmail`";
            ctxt.error("T073", name, wrong, help);
        }
    }
}

/// The functions made for an index have names of their own.
fn reserved_method(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (at, index) in entity.indexes.iter().enumerate() {
        if let Some(name) = entity.method_made_twice(at) {
            let name_of = &index.attr.name;
            let wrong = format!("`{name_of}` would make a function `{name}`, which is made already");
            ctxt.error("T067", name_of, wrong, "give the index another name: `ByEmail` makes `by_email`");
        }
    }
}
