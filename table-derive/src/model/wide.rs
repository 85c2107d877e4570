//! Wide entities: their key, properties and slots, and the assignment of properties to parts.

use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Fields, Ident, Path};

use crate::attr::field::FieldAttrs;
use crate::attr::wide::{self, PartAttr, SlotsAttr};
use crate::ctxt::Ctxt;
use crate::model::property::Property;
use crate::model::{Entity, shape};
use crate::symbol::{ENTITY, PARTITION_KEY, ROW_KEY};

/// The maximum number of properties in one part: a row can have 252 (ENT-2), one of which the pattern uses.
pub(crate) const ROOM: usize = 251;
/// The maximum number of parts of a wide entity. A part number has two digits.
pub(crate) const MOST_PARTS: usize = 99;

/// The declaration of a wide entity.
pub(crate) struct Wide<'a> {
    /// The declaration, parsed as an entity. In this entity, a field with slots has no property.
    pub(crate) entity: Entity<'a>,
    /// The fields outside the key, in declaration order.
    pub(crate) stored: Vec<Stored>,
    /// The parts, in order.
    pub(crate) parts: Vec<Part>,
}

/// A field outside the key.
pub(crate) struct Stored {
    /// The index of the field in the struct.
    pub(crate) field: usize,
    /// The slots of the field, or `None` for a single property.
    pub(crate) slots: Option<SlotsAttr>,
    /// The `#[part(…)]` attribute, if a new part starts at this field.
    pub(crate) begins: Option<PartAttr>,
}

/// One part of a wide entity, stored as one row.
#[derive(Default)]
pub(crate) struct Part {
    /// The runs of properties in the part, in order.
    pub(crate) runs: Vec<Run>,
}

/// Consecutive properties that belong to one field.
pub(crate) struct Run {
    /// The index of the field among the stored fields.
    pub(crate) stored: usize,
    /// The zero-based index of the field's first property in this run.
    pub(crate) from: usize,
    /// The number of properties in this run.
    pub(crate) count: usize,
}

impl Part {
    pub(crate) fn count(&self) -> usize {
        self.runs.iter().map(|run| run.count).sum()
    }
}

impl Stored {
    /// Returns the number of properties that store the field.
    pub(crate) fn count(&self) -> usize {
        self.slots.as_ref().map_or(1, SlotsAttr::count)
    }
}

impl SlotsAttr {
    /// Returns the number of slots, or 0 for an invalid range, which the checks report.
    pub(crate) fn count(&self) -> usize {
        let count = self.last.saturating_add(1).saturating_sub(self.first);
        if count > MOST_PARTS * ROOM { 0 } else { count }
    }

    /// Returns the names of all slots, as `slot_names!` generates them.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        let (word, width) = (self.word.value(), self.last.to_string().len());
        (self.first..self.first + self.count()).map(move |number| format!("{word}{number:0width$}"))
    }
}

impl<'a> Wide<'a> {
    /// Reads a declaration. Reports the reason and returns `None` if it cannot be a wide entity.
    pub(crate) fn read(ctxt: &Ctxt, input: &'a DeriveInput, runtime: impl FnOnce() -> Path) -> Option<Self> {
        shape::no_parameters(ctxt, input, "a wide entity", "write one struct for each concrete type")?;
        let mut entity = Entity::read(ctxt, input, runtime)?;
        for index in entity.indexes.drain(..) {
            let help = "index a separate entity, and write both in one unit with `put_wide`";
            ctxt.error("T159", &index.attr.original, "a wide entity cannot have indexes", help);
        }
        refuse_derived_rows(ctxt, &entity);
        let mut stored = Vec::new();
        for at in 0..entity.fields.len() {
            let in_key = entity.key_needs(at);
            let Some(field) = entity.fields.get_mut(at) else { continue };
            let place = wide::parse(ctxt, &field.original.attrs);
            misplaced(ctxt, field.ident, in_key, &place);
            let FieldAttrs { also, rest, chunks, .. } = &field.attrs;
            if let Some(word) = [also, rest, chunks].into_iter().flatten().next() {
                let help = "remove it; the parts of a wide entity hold one property for each field or slot";
                ctxt.error("T177", word, format!("`{word}` cannot be used in a wide entity"), help);
            }
            if place.slots.is_some() {
                field.property = None;
                let name = field.attrs.name.take().map(|name| name.span());
                if let Some(span) = name.or(field.attrs.json.take().map(|json| json.span())) {
                    let help = "remove `#[property(…)]`; slots are named by their attribute";
                    ctxt.error_at("T157", span, "slots cannot have another name or form", help);
                }
            }
            if !in_key {
                stored.push(Stored { field: at, slots: place.slots, begins: place.part });
            }
        }
        let parts = if stored.iter().any(|stored| stored.begins.is_some()) {
            declared_parts(&stored)
        } else {
            filled_parts(&stored, entity.first_room())
        };
        Some(Self { entity, stored, parts })
    }

    /// Returns the declaration of the header: an entity that contains only the key.
    pub(crate) fn header_input(&self) -> DeriveInput {
        let mut header = self.entity.original.clone();
        header.ident = format_ident!("{}Key", self.entity.original.ident.unraw());
        let is_design =
            |attr: &Attribute| [ENTITY, PARTITION_KEY, ROW_KEY].iter().any(|word| attr.path() == word);
        header.attrs.retain(is_design);
        if let Data::Struct(data) = &mut header.data
            && let Fields::Named(named) = &mut data.fields
        {
            let fields = std::mem::take(&mut named.named).into_iter().enumerate();
            named.named =
                fields.filter(|(at, _)| self.entity.key_needs(*at)).map(|(_, field)| field).collect();
        }
        header
    }

    /// Reads the header: the entity that contains only the key. All errors have already been reported.
    pub(crate) fn header<'h>(&self, input: &'h DeriveInput) -> Option<Entity<'h>> {
        let ignored = Ctxt::new();
        let header = Entity::read(&ignored, input, || self.entity.runtime.clone());
        let _ = ignored.check();
        header.map(|header| Entity {
            name: self.entity.name.clone(),
            table: self.entity.table.clone(),
            ..header
        })
    }

    /// Returns the property of a stored field, or `None` for slots.
    pub(crate) fn property(&self, stored: &Stored) -> Option<&Property> {
        self.entity.fields.get(stored.field)?.property.as_ref()
    }

    /// Returns the name of a stored field.
    pub(crate) fn ident(&self, stored: &Stored) -> Option<&Ident> {
        self.entity.fields.get(stored.field).map(|field| field.ident)
    }
}

impl Entity<'_> {
    /// Returns the number of properties that fit into the first part. That part also stores the kind, and the key
    /// fields that cannot be decoded from the key.
    pub(crate) fn first_room(&self) -> usize {
        let others =
            (0..self.fields.len()).filter(|at| self.key_needs(*at) && !self.key_can_decode(*at)).count();
        ROOM.saturating_sub(others + usize::from(self.kind.is_some()))
    }
}

/// Reports the words of `#[entity(…)]` that are supported only for entities in a single row.
fn refuse_derived_rows(ctxt: &Ctxt, entity: &Entity<'_>) {
    let help = "declare it on a separate entity, and write both in one unit with `put_wide`";
    if let Some(word) = &entity.feed {
        ctxt.error("T159", word, "a wide entity cannot have a feed", help);
    }
    for relation in entity.copied_by.iter().chain(&entity.copies_from) {
        ctxt.error("T159", relation, "a wide entity cannot be part of a relation of copies", help);
    }
    if let Some(set) = &entity.set {
        let help = "remove `set = …`; readers of a set could not assign the parts of a wide entity to a type";
        ctxt.error("T159", set, "a wide entity cannot be part of a set", help);
    }
}

/// Reports a `part` or `slots` attribute on a key field.
fn misplaced(ctxt: &Ctxt, ident: &Ident, in_key: bool, place: &wide::PlaceAttrs) {
    let attrs =
        place.slots.iter().map(|slots| &slots.original).chain(place.part.iter().map(|part| &part.original));
    for attr in attrs.filter(|_| in_key) {
        let wrong = format!("`{ident}` is part of the key, which all parts share");
        ctxt.error("T157", attr, wrong, "remove it; only fields outside of the key have parts and slots");
    }
}

/// Returns the parts as declared, without splitting parts that are too large.
fn declared_parts(stored: &[Stored]) -> Vec<Part> {
    let mut parts = vec![Part::default()];
    for (at, stored) in stored.iter().enumerate() {
        if stored.begins.is_some() && parts.last().is_some_and(|part| !part.runs.is_empty()) {
            parts.push(Part::default());
        }
        let run = Run { stored: at, from: 0, count: stored.count() };
        if let Some(part) = parts.last_mut() {
            part.runs.push(run);
        }
    }
    parts
}

/// Assigns the properties to parts, starting a new part when one is full.
fn filled_parts(stored: &[Stored], first_room: usize) -> Vec<Part> {
    let mut parts = vec![Part::default()];
    let mut room = first_room;
    for (at, stored) in stored.iter().enumerate() {
        let (mut from, mut left) = (0, stored.count());
        while left > 0 {
            if room == 0 {
                parts.push(Part::default());
                room = ROOM;
            }
            let count = left.min(room);
            if let Some(part) = parts.last_mut() {
                part.runs.push(Run { stored: at, from, count });
            }
            (from, left, room) = (from + count, left - count, room - count);
        }
    }
    parts
}
