//! Rules of wide entities.

use std::collections::BTreeMap;

use crate::check::{float, hot, key, level, property, table};
use crate::ctxt::Ctxt;
use crate::model::wide::{MOST_PARTS, ROOM, Wide};

/// Checks every rule.
pub(crate) fn check(ctxt: &Ctxt, wide: &Wide<'_>) {
    let entity = &wide.entity;
    table::check(ctxt, entity);
    key::check(ctxt, entity);
    level::check(ctxt, entity);
    hot::check(ctxt, entity);
    float::check(ctxt, entity);
    property::check_names(ctxt, entity);
    slot_range(ctxt, wide);
    name_twice(ctxt, wide);
    // What is in the parts is what is not in the key.
    if [&entity.partition_key, &entity.row_key].into_iter().flatten().any(|key| key.broken) {
        return;
    }
    parts_in_order(ctxt, wide);
    too_many_parts(ctxt, wide);
    full_part(ctxt, wide);
}

/// A range of slots has a first one, and not more than there is room for.
fn slot_range(ctxt: &Ctxt, wide: &Wide<'_>) {
    for slots in wide.stored.iter().filter_map(|stored| stored.slots.as_ref()) {
        if slots.first > slots.last {
            let wrong = format!("the first slot, {}, is after the last, {}", slots.first, slots.last);
            ctxt.error(
                "T154",
                &slots.original,
                wrong,
                "the first number, then the last: `#[slots(\"Day\", 1..=366)]`",
            );
        } else if slots.count() == 0 {
            let count = (slots.last - slots.first).saturating_add(1);
            let wrong = format!("{count} slots do not fit {MOST_PARTS} parts");
            ctxt.error("T151", &slots.original, wrong, help_of_size());
        }
        property::slot_name(ctxt, &slots.word);
    }
}

/// Two properties have two names, slots too, and none is the pattern's own (PROP-6).
fn name_twice(ctxt: &Ctxt, wide: &Wide<'_>) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for stored in &wide.stored {
        let Some(field) = wide.ident(stored) else { continue };
        let (names, span): (Vec<String>, _) = match (&stored.slots, wide.property(stored)) {
            (Some(slots), _) => (slots.names().collect(), slots.word.span()),
            (None, Some(property)) => (vec![property.name.clone()], property.span),
            (None, None) => continue,
        };
        for name in names {
            if name == "WriteId" {
                let wrong = format!("`{field}` is stored as `WriteId`, which all parts of one write share");
                ctxt.error_at("T158", span, wrong, "store it under another name: `#[property(\"Name\")]`");
                break;
            }
            if let Some(first) = seen.get(&name) {
                let wrong = format!("`{first}` and `{field}` are both stored as `{name}`");
                ctxt.error_at(
                    "T054",
                    span,
                    wrong,
                    "give one of them other names: another word for the slots, or `#[property(\"Name\")]`",
                );
                break;
            }
            seen.insert(name, field.to_string());
        }
    }
}

/// Parts are numbered from 1, in the order they are declared.
fn parts_in_order(ctxt: &Ctxt, wide: &Wide<'_>) {
    let mut current = 1;
    for (at, stored) in wide.stored.iter().enumerate() {
        let Some(begins) = &stored.begins else { continue };
        let expected = if at == 0 { 1 } else { current + 1 };
        if begins.number == expected {
            current = expected;
            continue;
        }
        let wrong = format!("part {} does not follow part {current}", begins.number);
        let help =
            format!("parts are numbered in the order of their fields: here begins `#[part({expected})]`");
        ctxt.error("T153", &begins.original, wrong, help);
        current = expected;
    }
}

/// The `RowKey`s of parts end with two digits, and all of them are one transaction (EGT-2).
fn too_many_parts(ctxt: &Ctxt, wide: &Wide<'_>) {
    let Some(first) = wide.parts.get(MOST_PARTS).and_then(|part| part.runs.first()) else { return };
    let Some(field) = wide.stored.get(first.stored).and_then(|stored| wide.ident(stored)) else { return };
    let wrong =
        format!("this needs {} parts; a wide entity has at most {MOST_PARTS} (EGT-2)", wide.parts.len());
    ctxt.error("T151", field, wrong, help_of_size());
}

/// A part that the declaration begins holds what it declares (ENT-2).
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
                "begin part {} before it is full, and split slots into two fields; or leave every `#[part(…)]` out, and parts are cut where \
                 they are full",
                number + 1
            );
            ctxt.error("T152", field, wrong, help);
        }
    }
}

fn help_of_size() -> String {
    format!(
        "at most {MOST_PARTS} parts of {ROOM} properties, 4 MiB together: put what is read apart into an entity of its own, or a blob"
    )
}
