//! Compares the properties of two schemas.

use table_store::EdmType;

use crate::schema::evolution::change::Change;
use crate::schema::evolution::rules::{self, Rule};
use crate::schema::stored::{StoredProperty, StoredSchema};

pub(super) fn changes(old: &StoredSchema, new: &StoredSchema, changes: &mut Vec<Change>) {
    let found = |schema: &'_ StoredSchema, name: &str| {
        schema.properties.iter().position(|property| property.name == name)
    };
    for property in old.properties.iter().filter(|property| found(new, &property.name).is_none()) {
        changes.push(Change::new(&rules::REMOVED, format!("property `{}` is removed", property.name)));
    }
    for property in &new.properties {
        match found(old, &property.name).and_then(|at| old.properties.get(at)) {
            None => changes.push(added(property)),
            Some(before) => changed(before, property, changes),
        }
    }
}

fn added(property: &StoredProperty) -> Change {
    let StoredProperty { name, edm, optional } = property;
    if *optional {
        Change::new(&rules::OPTIONAL_ADDED, format!("property `{name}`: {edm}, may be absent"))
    } else {
        Change::new(&rules::REQUIRED_ADDED, format!("property `{name}`: {edm}"))
    }
}

fn changed(old: &StoredProperty, new: &StoredProperty, changes: &mut Vec<Change>) {
    let name = &new.name;
    if old.edm != new.edm {
        let what = format!("property `{name}`: {} becomes {}", old.edm, new.edm);
        let rule = conversion(old.edm, new.edm);
        let is_widened = *rule == rules::WIDENED;
        changes.push(Change { rule, what, pending: is_widened.then(|| format!("property {name}")) });
    }
    match (old.optional, new.optional) {
        (false, true) => {
            changes.push(Change::new(&rules::MADE_OPTIONAL, format!("property `{name}` may be absent")));
        }
        (true, false) => {
            changes.push(Change::new(&rules::MADE_REQUIRED, format!("property `{name}` becomes required")));
        }
        _ => {}
    }
}

fn conversion(old: EdmType, new: EdmType) -> &'static Rule {
    use EdmType::{Double, Int32, Int64};
    match (old, new) {
        (Int32, Int64 | Double) => &rules::WIDENED,
        (Int32 | Int64 | Double, Int32 | Int64 | Double) => &rules::CONVERTED,
        _ => &rules::RETYPED,
    }
}
