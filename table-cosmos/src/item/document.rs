//! Converts between entities and JSON documents according to a mapping.

use serde_json::{Map, Value as Json};
use table_core::limits::Limits;
use table_core::row::{RowView, RowWriter};
use table_core::{Error, PartitionKey, Result, RowKey, Value, ValueRef, ticks};

use crate::item::fault::{Foreign, ForeignItem};
use crate::item::value::{read_value, write_value};
use crate::item::{Item, etag, written_by};
use crate::key;
use crate::mapping::{Mapping, MappingFault, Member, NotAnObject, Path};

/// The key of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemKey<'a> {
    pub(crate) levels: &'a [String],
    pub(crate) row_key: &'a str,
}

/// Returns the document that stores an entity.
///
/// `stored` is the document to replace. With a mapping, the new document keeps its unmapped members, and the JSON text of unchanged values.
///
/// # Errors
/// - `InvalidInput` if the format of a property cannot represent its value.
/// - `Corrupted` if the mapping's paths do not fit the stored document.
pub(crate) fn write(
    mapping: &Mapping,
    key: ItemKey<'_>,
    row: RowView<'_>,
    write: &str,
    stored: Option<&Json>,
) -> Result<Json> {
    let stored = stored.filter(|_| !mapping.is_standard);
    let mut item: Map<String, Json> = stored.and_then(Json::as_object).cloned().unwrap_or_default();
    item.retain(|name, _| !Mapping::is_system(name));
    let blocked = |_: NotAnObject| {
        let what =
            Foreign::Shape("a path of the mapping leads through a value that is not an object".to_owned());
        foreign(key.row_key, what).with_key(key::join(key.levels), key.row_key)
    };
    item.insert("id".into(), key::id(key.row_key).into());
    for (path, level) in mapping.levels.iter().zip(key.levels) {
        path.set(&mut item, level.as_str().into()).map_err(blocked)?;
    }
    for (path, text) in &mapping.constants {
        path.set(&mut item, text.as_str().into()).map_err(blocked)?;
    }
    let (mut properties, mut types) = (Map::new(), Map::new());
    let mut written = vec![false; mapping.members.len()];
    for property in row.properties() {
        let property = property?;
        let mapped =
            mapping.members.iter().zip(&mut written).find(|(member, _)| member.name == property.name);
        if let Some((member, written)) = mapped {
            *written = true;
            let json = member.format.write(property.value);
            let json = json.ok_or_else(|| Error::of(MappingFault::Value(property.name.to_owned())))?;
            let old = stored.and_then(|stored| member.path.find(stored).ok().flatten());
            let old = old.and_then(|old| member.format.read(old));
            if !old.is_some_and(|old| is_same(&old, property.value)) {
                member.path.set(&mut item, json).map_err(blocked)?;
            }
        } else {
            let (json, edm) = write_value(property.value);
            properties.insert(property.name.to_owned(), json);
            if let Some(edm) = edm {
                types.insert(property.name.to_owned(), edm.into());
            }
        }
    }
    for (member, _) in mapping.members.iter().zip(written).filter(|(_, written)| !written) {
        // A null member also means that the property is absent, so the member remains null.
        if stored.is_some_and(|stored| member.path.find(stored).is_ok_and(|found| found.is_some())) {
            member.path.remove(&mut item);
        }
    }
    let own = &mapping.own;
    for (path, members, is_kept) in
        [(&own.properties, properties, mapping.is_standard), (&own.types, types, false)]
    {
        if is_kept || !members.is_empty() {
            path.set(&mut item, members.into()).map_err(blocked)?;
        } else {
            path.remove(&mut item);
        }
    }
    own.write.set(&mut item, write.into()).map_err(blocked)?;
    Ok(item.into())
}

/// Returns `true` if a stored value equals a property value. Doubles are compared bitwise.
fn is_same(stored: &Value, value: ValueRef<'_>) -> bool {
    match (stored, value) {
        (Value::Double(left), ValueRef::Double(right)) => left.to_bits() == right.to_bits(),
        (left, right) => left.as_ref() == right,
    }
}

/// Returns the entity in a document.
///
/// # Errors
/// `Corrupted` if the document is not an entity of the mapping. The error contains the readable part of the key. The document may:
/// - lack a level, or have an extra one (WIRE-6),
/// - have an invalid key,
/// - lack a constant, or
/// - contain a value with the wrong type or format.
pub(crate) fn read(json: &Json, mapping: &Mapping) -> Result<Item> {
    parse(json, mapping).map_err(|what| {
        let id = json.get("id").and_then(Json::as_str).unwrap_or_default();
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let level = |path: &Path| path.find(json).ok().flatten().and_then(text);
        let levels: Vec<String> = mapping.levels.iter().map_while(level).collect();
        foreign(id, what).with_key(key::join(&levels), key::row_key(id))
    })
}

fn foreign(id: &str, what: Foreign) -> Error {
    Error::of(ForeignItem { id: id.to_owned(), what })
}

pub(super) fn parse(json: &Json, mapping: &Mapping) -> Result<Item, Foreign> {
    let (levels, partition_key, row_key) = read_key(json, mapping)?;
    for (path, text) in &mapping.constants {
        let found = path.find(json).ok().flatten().and_then(Json::as_str);
        if found != Some(text) {
            return Err(Foreign::Shape(format!("its `{path}` is not `{text}`")));
        }
    }
    let unmapped = Unmapped::find(json, mapping)?;
    let mut writer = RowWriter::new();
    // Rows added by patterns, such as index rows, lack some of the entity's properties.
    let is_own = written_by(json, mapping).is_some();
    for Member { name, path, format, is_required } in &mapping.members {
        let invalid = || Foreign::Value(name.clone());
        let value = match path.find(json).map_err(|NotAnObject| invalid())? {
            Some(value) => Some(format.read(value).ok_or_else(invalid)?),
            // An earlier release, whose mapping had no path for the property, may have stored the value.
            None => unmapped.value(name)?,
        };
        match value {
            Some(value) if value.edm_type() != format.edm_type() => return Err(invalid()),
            Some(value) => writer.property(name, value.as_ref()),
            None if *is_required && !is_own => return Err(Foreign::Shape(format!("it has no `{path}`"))),
            None => {}
        }
    }
    for name in unmapped.names().filter(|name| mapping.member(name).is_none()) {
        if let Some(value) = unmapped.value(name)? {
            writer.property(name, value.as_ref());
        }
    }
    let row = writer.finish();
    Limits::PORTABLE.check_row(row.view()).map_err(|_| Foreign::Properties)?;
    let row = row.with_timestamp(timestamp(json)?);
    let etag = json.get("_etag").and_then(Json::as_str).and_then(|tag| etag(tag).ok());
    Ok(Item { partition_key, levels, row_key, row, etag: etag.ok_or(Foreign::System)? })
}

/// Returns the levels, the PartitionKey and the RowKey of a document.
fn read_key(json: &Json, mapping: &Mapping) -> Result<(Vec<String>, String, String), Foreign> {
    let id = json.get("id").and_then(Json::as_str).ok_or(Foreign::Id)?;
    let row_key = key::row_key(id);
    if key::id(row_key) != id || RowKey::new(row_key).is_err() || key::check_id(row_key).is_err() {
        return Err(Foreign::Id);
    }
    let depth = mapping.depth();
    let mut levels = Vec::with_capacity(depth);
    for path in &mapping.levels {
        match path.find(json) {
            Ok(Some(Json::String(level))) => levels.push(level.clone()),
            found => return Err(Foreign::Level(path.to_string(), kind(found.ok().flatten()))),
        }
    }
    if mapping.further_levels().any(|name| json.get(name).is_some()) {
        return Err(Foreign::Levels(depth));
    }
    let partition_key = key::join(&levels);
    // A level that contains the terminator `!` would be read as two levels.
    if key::levels(&partition_key, depth).as_ref() != Some(&levels)
        || PartitionKey::new(&*partition_key).is_err()
    {
        return Err(Foreign::Levels(depth));
    }
    Ok((levels, partition_key, row_key.to_owned()))
}

/// Returns the JSON type of a value that is not a string, for use in messages.
const fn kind(value: Option<&Json>) -> &'static str {
    match value {
        None | Some(Json::Null) => "missing or null",
        Some(Json::Number(_)) => "a number",
        Some(Json::Bool(_)) => "`true` or `false`",
        Some(_) => "an object or an array",
    }
}

/// The properties that have no path in the mapping, with their types. An item written by another program has none, unless it uses the default format.
#[derive(Clone, Copy)]
struct Unmapped<'a> {
    properties: Option<&'a Map<String, Json>>,
    types: Option<&'a Json>,
}

impl<'a> Unmapped<'a> {
    fn find(json: &'a Json, mapping: &Mapping) -> Result<Self, Foreign> {
        let own = &mapping.own;
        let properties = match own.properties.find(json) {
            Ok(Some(properties)) => Some(properties.as_object().ok_or(Foreign::Properties)?),
            Ok(None) if !mapping.is_standard => None,
            _ => return Err(Foreign::Properties),
        };
        Ok(Self { properties, types: own.types.find(json).ok().flatten() })
    }

    fn names(self) -> impl Iterator<Item = &'a str> {
        self.properties.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Returns the value of a property, or `None` if the property is absent.
    fn value(self, name: &str) -> Result<Option<Value>, Foreign> {
        let Some(json) = self.properties.and_then(|properties| properties.get(name)) else { return Ok(None) };
        let edm = self.types.and_then(|types| types.get(name)).map(|edm| edm.as_str().unwrap_or_default());
        read_value(json, edm).map(Some).ok_or_else(|| Foreign::Value(name.to_owned()))
    }
}

/// Returns the time of the last write, in ticks.
fn timestamp(json: &Json) -> Result<u64, Foreign> {
    let of_seconds = |seconds: u64| ticks::UNIX_EPOCH.checked_add(seconds.checked_mul(10_000_000)?);
    let time = json.get("_ts").and_then(Json::as_u64).and_then(of_seconds);
    time.filter(|time| *time <= ticks::MAX).ok_or(Foreign::System)
}

/// Returns `true` if two documents have equal members. The members added by the service are ignored.
pub(super) fn is_version_of(found: &Json, written: &Json) -> bool {
    let (Some(found), Some(written)) = (found.as_object(), written.as_object()) else { return false };
    let count = found.keys().filter(|name| *name == "id" || !Mapping::is_system(name)).count();
    count == written.len()
        && written.iter().all(|(name, value)| found.get(name).is_some_and(|other| equals(other, value)))
}

/// Compares two JSON values. The service stores numbers as doubles, so equal numbers may have different texts.
fn equals(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equals(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| equals(left, right)))
        }
        (left, right) => left == right,
    }
}
