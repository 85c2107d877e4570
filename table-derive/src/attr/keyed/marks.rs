//! Attributes of fields that declare a key. All of them are reported as one error, which shows the keys above the struct.

use syn::ext::IdentExt;
use syn::{Attribute, Field, Ident};

use crate::attr::foreign_keys::{key_of_library, names_key};
use crate::attr::keyed::Keyed;
use crate::attr::settings;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::role::{self, Role};
use crate::symbol::{ENTITY, PARTITION_KEY, ROW_KEY};

/// An attribute of a field that declares a key, such as `#[row_key]` or `#[hash_key]`.
pub(super) struct Mark<'a> {
    pub(super) attr: &'a Attribute,
    field: String,
    /// `true` if the attribute may declare the `PartitionKey`.
    is_partition_key: bool,
    /// `true` if the attribute may declare the `RowKey`.
    is_row_key: bool,
}

impl Keyed<'_> {
    /// Reports the attributes of fields that declare keys, as one error at the first. Returns `true` if `attr` is one of them.
    pub(crate) fn refuse_mark(&self, ctxt: &Ctxt, attr: &Attribute) -> bool {
        let Some(at) = self.marks.iter().position(|mark| std::ptr::eq(mark.attr, attr)) else { return false };
        if at == 0 {
            let is_own = |mark: &Mark<'_>| mark.attr.path() == &PARTITION_KEY || mark.attr.path() == &ROW_KEY;
            let mut words: Vec<String> =
                self.marks.iter().map(|mark| format!("`{}`", mark.shown())).collect();
            words.dedup();
            let (be, an) = if words.len() == 1 { ("is", "an attribute") } else { ("are", "attributes") };
            let s = if words.len() == 1 { "s" } else { "" };
            let words = words.join(" and ");
            let (number, wrong) = if self.marks.iter().all(is_own) {
                ("T003", format!("{words} belong{s} on the struct"))
            } else {
                ("T009", format!("{words} {be} not {an} of entities"))
            };
            ctxt.error(number, attr, wrong, self.keys_of_marks());
        }
        true
    }

    /// Returns the help text for the attributes of fields that declare keys.
    fn keys_of_marks(&self) -> String {
        let (has_partition, has_row) =
            (self.declared(PARTITION_KEY).is_some(), self.declared(ROW_KEY).is_some());
        let removed = match self.marks.as_slice() {
            [_] => "remove the attribute",
            [_, _] => "remove both attributes",
            _ => "remove these attributes",
        };
        if has_partition && has_row {
            return format!("{removed}: both keys are declared above the struct");
        }
        let fields = |is_meant: fn(&Mark<'_>) -> bool| -> Vec<String> {
            let mut fields: Vec<String> =
                self.marks.iter().filter(|mark| is_meant(mark)).map(|mark| mark.field.clone()).collect();
            fields.dedup();
            fields
        };
        let mut partition = fields(|mark| !mark.is_row_key);
        let mut row = fields(|mark| !mark.is_partition_key);
        let mut either = fields(|mark| mark.is_partition_key && mark.is_row_key);
        let is_single =
            partition.is_empty() && row.is_empty() && either.len() == 1 && !has_row && !has_partition;
        if !has_partition && partition.is_empty() && !either.is_empty() {
            partition = vec![either.remove(0)];
        }
        if !has_partition && partition.is_empty() {
            partition.extend(self.shared(&row));
        }
        row.extend(either);
        let written = self.marks.iter().filter(|mark| mark.attr.path() == &ROW_KEY);
        let written =
            written.map(|mark| grammar::source(&grammar::arguments(mark.attr))).find(|it| !it.is_empty());
        let pieces = match written {
            Some(written) => Some(written),
            None if !row.is_empty() => Some(self.joined(&row)),
            None if has_row => None,
            None => Some("\"\"".to_owned()),
        };
        let is_empty = pieces.as_deref() == Some("\"\"");
        let keys = self.keys(if has_partition { &[] } else { &partition }, pieces.filter(|_| !has_row));
        let more = if is_single || is_empty {
            "; if several entities share a partition, name the field that identifies an entity in it in place of `\"\"`"
        } else {
            ": a key lists its pieces in order"
        };
        format!("write `{keys}` above the struct, and {removed} from the field{}{more}", self.plural())
    }

    /// Returns a field that may be shared by the entities of a partition: a text outside the `RowKey`, if possible one that is named like an owner.
    fn shared(&self, row: &[String]) -> Option<String> {
        let of_row = self.fields_of(ROW_KEY);
        let texts = self.fields().filter(|field| grammar::type_text(&field.ty) == "String");
        let names = texts.filter_map(|field| Some(field.ident.as_ref()?.unraw().to_string()));
        let is_proposed = |name: &String| {
            !row.contains(name)
                && !of_row.contains(name)
                && !matches!(role::of(name), Role::Time | Role::Value)
        };
        names.filter(is_proposed).min_by_key(|name| !role::is_owner(name))
    }

    fn plural(&self) -> &'static str {
        if self.marks.iter().all(|mark| Some(&mark.field) == self.marks.first().map(|first| &first.field)) {
            ""
        } else {
            "s"
        }
    }
}

impl<'a> Mark<'a> {
    pub(super) fn of(attr: &'a Attribute, field: &Field) -> Option<Self> {
        let is_partition_key = names_key(attr, PARTITION_KEY);
        let is_row_key = names_key(attr, ROW_KEY);
        let is_key = (is_partition_key || is_row_key) && attr.path() != &ENTITY;
        let field = field.ident.as_ref().filter(|_| is_key)?.unraw().to_string();
        Some(Self { attr, field, is_partition_key, is_row_key })
    }

    /// Returns the attribute as shown in a message: `hash_key`, or `sea_orm(primary_key)`.
    fn shown(&self) -> String {
        let name = self.attr.path().get_ident().map(Ident::to_string).unwrap_or_default();
        let Some(setting) = key_of_library(self.attr) else { return name };
        let own = settings::of(self.attr).into_iter().find(|own| own.word == PARTITION_KEY.0);
        format!("{name}({})", own.unwrap_or(setting).word)
    }
}
