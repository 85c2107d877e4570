//! Checks the declarations of wide entities.

use std::collections::BTreeMap;

use syn::{Attribute, Data, DeriveInput, LitStr};

use crate::check::{hot, key, level, part_type, property, table};
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::wide::{MOST_PARTS, ROOM, Wide};
use crate::symbol::SLOTS;

/// Checks the declaration of a wide entity against every rule.
pub(crate) fn check(ctxt: &Ctxt, wide: &Wide<'_>) {
    let entity = &wide.entity;
    table::check(ctxt, entity);
    key::check(ctxt, entity);
    level::check(ctxt, entity);
    hot::check(ctxt, entity);
    part_type::check(ctxt, entity);
    property::check_names(ctxt, entity);
    slot_range(ctxt, wide);
    name_twice(ctxt, wide);
    // The parts contain all fields outside the key, so they can be checked only if the key is known.
    if [&entity.partition_key, &entity.row_key].into_iter().flatten().any(|key| key.broken) {
        return;
    }
    parts_in_order(ctxt, wide);
    too_many_parts(ctxt, wide);
    full_part(ctxt, wide);
}

/// Reports `#[slots("Day", 1..=366)]` in a struct that derives `Entity`, and returns `true` if the struct has such an attribute. `slots` attributes with
/// different arguments belong to other libraries.
pub(crate) fn is_wide(ctxt: &Ctxt, input: &DeriveInput) -> bool {
    let Data::Struct(data) = &input.data else { return false };
    let is_slots = |attr: &&Attribute| {
        let mut tokens = grammar::arguments(attr).into_iter();
        let is_name = tokens.next().is_some_and(|token| syn::parse2::<LitStr>(token.into()).is_ok());
        attr.path() == &SLOTS && is_name && tokens.any(|token| token.to_string() == ".")
    };
    let Some(attr) = data.fields.iter().flat_map(|field| &field.attrs).find(is_slots) else { return false };
    let help = "write `#[derive(Wide)]` in place of `#[derive(Entity)]`, with `use table_patterns::wide::Wide;`: it declares the keys and the rows of the entity";
    ctxt.error("T159", attr, "only a wide entity has slots", help);
    true
}

/// Reports a slot range that is empty or too long.
fn slot_range(ctxt: &Ctxt, wide: &Wide<'_>) {
    for slots in wide.stored.iter().filter_map(|stored| stored.slots.as_ref()) {
        if slots.first > slots.last {
            let wrong = format!("the first slot, {}, is after the last, {}", slots.first, slots.last);
            ctxt.error(
                "T154",
                &slots.original,
                wrong,
                "write the first number, then the last: `#[slots(\"Day\", 1..=366)]`",
            );
        } else if slots.count() == 0 {
            let count = (slots.last - slots.first).saturating_add(1);
            let wrong = format!("{count} slots do not fit {MOST_PARTS} parts");
            ctxt.error("T151", &slots.original, wrong, help_of_size());
        }
        property::slot_name(ctxt, &slots.word);
    }
}

/// Reports duplicate property names, including slots, stored key fields and the pattern's own `WriteId` property (PROP-6).
fn name_twice(ctxt: &Ctxt, wide: &Wide<'_>) {
    let in_key = (0..).zip(&wide.entity.fields).filter(|(at, _)| wide.entity.key_needs(*at));
    let in_key = in_key.filter_map(|(_, field)| {
        let property = field.property.as_ref()?;
        Some((field.ident, vec![property.name.clone()], property.span))
    });
    let outside = wide.stored.iter().filter_map(|stored| {
        let (names, span) = match (&stored.slots, wide.property(stored)) {
            (Some(slots), _) => (slots.names().collect(), slots.word.span()),
            (None, property) => property.map(|property| (vec![property.name.clone()], property.span))?,
        };
        Some((wide.ident(stored)?, names, span))
    });
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for (field, names, span) in in_key.chain(outside) {
        for name in names {
            if name == "WriteId" {
                let wrong =
                    format!("`{field}` is stored as `WriteId`, which every part of a wide entity has");
                ctxt.error_at("T158", span, wrong, "store it under another name: `#[property(\"Name\")]`");
                break;
            }
            if let Some(first) = seen.get(&name) {
                let wrong = format!("`{first}` and `{field}` are both stored as `{name}`");
                ctxt.error_at(
                    "T054",
                    span,
                    wrong,
                    "give one of them another name: another slot prefix, or `#[property(\"Name\")]`",
                );
                break;
            }
            seen.insert(name, field.to_string());
        }
    }
}

/// Reports parts that are not numbered from 1 in field order.
fn parts_in_order(ctxt: &Ctxt, wide: &Wide<'_>) {
    let mut current = 1;
    for (at, stored) in wide.stored.iter().enumerate() {
        let Some(begins) = &stored.begins else { continue };
        let expected = if at == 0 { 1 } else { current + 1 };
        if begins.number == expected {
            current = expected;
            continue;
        }
        let wrong = format!("part {} cannot follow part {current}", begins.number);
        let help = format!("number parts in the order of their fields; this one is `#[part({expected})]`");
        ctxt.error("T153", &begins.original, wrong, help);
        current = expected;
    }
}

/// Reports too many parts: part numbers have two digits, and one transaction writes all parts (EGT-2).
fn too_many_parts(ctxt: &Ctxt, wide: &Wide<'_>) {
    let Some(first) = wide.parts.get(MOST_PARTS).and_then(|part| part.runs.first()) else { return };
    let Some(field) = wide.stored.get(first.stored).and_then(|stored| wide.ident(stored)) else { return };
    let wrong =
        format!("this needs {} parts; a wide entity has at most {MOST_PARTS} (EGT-2)", wide.parts.len());
    ctxt.error("T151", field, wrong, help_of_size());
}

/// Reports a declared part that has more properties than a row can have (ENT-2).
fn full_part(ctxt: &Ctxt, wide: &Wide<'_>) {
    for (number, part) in (1..).zip(&wide.parts) {
        let room = if number == 1 { wide.entity.first_room() } else { ROOM };
        if part.count() <= room {
            continue;
        }
        let mut left = room;
        let over = part.runs.iter().find(|run| {
            let fits = run.count <= left;
            left = left.saturating_sub(run.count);
            !fits
        });
        let field = over.and_then(|run| wide.stored.get(run.stored)).and_then(|stored| wide.ident(stored));
        if let Some(field) = field {
            let wrong =
                format!("part {number} has {} properties; a part has room for {room} (ENT-2)", part.count());
            let help = format!(
                "start part {} earlier, and split slots into two fields; or remove every `#[part(…)]`, and full parts are split \
                 automatically",
                number + 1
            );
            ctxt.error("T152", field, wrong, help);
        }
    }
}

fn help_of_size() -> String {
    format!(
        "at most {MOST_PARTS} parts of {ROOM} properties, 4 MiB in total; move data that is read separately into another entity, or a blob"
    )
}
