//! Mappings between entities and JSON items in containers created by other programs.

mod fault;
mod format;
mod path;

use table_core::name::check_property_name;
use table_core::schema::EntitySchema;
use table_core::{Error, Result};
use table_hierarchy::level_names;

pub(crate) use fault::MappingFault;
pub use format::Format;
pub(crate) use path::{NotAnObject, Path};

/// The maximum number of levels of a partition key (HPK-42).
const MOST: usize = 3;
/// The names of the levels in the default format.
const LEVELS: [&str; MOST] = ["l1", "l2", "l3"];
/// Members added to items by the service.
const SYSTEM: [&str; 6] = ["id", "_rid", "_self", "_etag", "_attachments", "_ts"];
/// The member of a mapped item that contains this library's own data. It holds the write identifier, and the properties without a path in the mapping.
const OWN: &str = "_tables";
/// The member that contains an item's time to live.
const TTL: &str = "ttl";

/// A mapping between the JSON of a container's items and the entities of a table.
///
/// A mapping specifies the paths of the partition key. For each mapped property, it also specifies a path and a [format](Format). The RowKey is the item's
/// `id`.
///
/// ```
/// use table_core::Entity;
/// use table_cosmos::{Format, Mapping, Options};
///
/// #[derive(Entity)]
/// #[entity(table = "Orders")]
/// #[partition_key(tenant, customer)]
/// #[row_key(number)]
/// struct Order { tenant: String, customer: String, number: String, total: f64, placed_at: chrono::DateTime<chrono::Utc> }
///
/// // {"id": "o-7", "type": "order", "tenantId": "contoso", "customer": {"id": "ada"}, "total": {"amount": 12.5}, "placedAt": 1700000000, …}
/// let mapping = Mapping::new(["/tenantId", "/customer/id"])
///     .property("Total", "/total/amount", Format::Double)
///     .property("PlacedAt", "/placedAt", Format::UnixSeconds)
///     .constant("/type", "order");
/// let options = Options::new().mapping_of::<Order>(mapping)?;
/// assert_eq!(options.level_count("Orders"), 2);
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// # Guarantees
/// - A replace or a merge keeps all unmapped members of an item, and the JSON text of unchanged values.
/// - An item is not an entity if it lacks a constant, a level or a required property, or if a value has a different format. Queries skip and report such an
///   item ([`CosmosTables::skipped_items`](crate::CosmosTables::skipped_items)). A read, replace, merge, upsert or unconditional delete with its key fails with
///   `Corrupted` and changes nothing. An insert fails with `EntityAlreadyExists`.
/// - Writes are conditional on the version that was read. They therefore take effect [at most once](crate::Options::at_most_once_writes), and never undo a
///   change by another program.
///
/// # Limits
/// Levels are strings. Properties without a path, such as the properties of index rows, are stored in the `_tables` member. The identifier of the last write is
/// stored there too.
///
/// If the container has a unique key policy, a write fails with `UniqueViolation` if its unique value is already taken. Such a container cannot store rows
/// added by patterns ([`Difference::UniqueKey`](crate::Difference::UniqueKey)).
///
/// # Changes
/// A later release may add paths. If a value was stored in `_tables` before its property had a path, the value remains readable, and the next write moves it to
/// the path. If a later release removes or changes a path, it does not read the values stored there.
///
/// Before a release with a new path writes for the first time, stop all programs of the earlier release. The earlier release does not read the value at the
/// path. If it writes the property, it stores the value in `_tables`. The later release does not see this value as long as the path has one, and removes it
/// with its next write. In the [standard](Self::standard) format, a write by the earlier release removes the member at the path.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub(crate) levels: Vec<Path>,
    pub(crate) members: Vec<Member>,
    pub(crate) constants: Vec<(Path, String)>,
    pub(crate) own: Own,
    /// `true` for the default format. In this format, only this library defines the content of items, so a replace may discard unknown members.
    pub(crate) is_standard: bool,
    fault: Option<MappingFault>,
}

/// A mapped property.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) path: Path,
    pub(crate) format: Format,
    /// `true` if the property is required. An item written by another program is not an entity without it.
    pub(crate) is_required: bool,
}

/// The paths of members added to items by this library.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    /// The properties without a path in the mapping.
    pub(crate) properties: Path,
    /// The types of the properties without a path, if JSON lacks these types.
    pub(crate) types: Path,
    /// The identifier of the last write.
    pub(crate) write: Path,
}

impl Mapping {
    /// Creates a mapping for a container with the given partition key paths, in level order.
    #[must_use]
    pub fn new<'a>(levels: impl IntoIterator<Item = &'a str>) -> Self {
        let root = Path::own(OWN);
        let own = Own { properties: root.member("p"), types: root.member("t"), write: root.member("o") };
        let mut mapping = Self {
            levels: Vec::new(),
            members: Vec::new(),
            constants: Vec::new(),
            own,
            is_standard: false,
            fault: None,
        };
        for level in levels {
            let path = mapping.path(level);
            mapping.levels.extend(path);
        }
        let count = mapping.levels.len();
        if !(1..=MOST).contains(&count) {
            mapping.fail(MappingFault::Levels(count));
        }
        mapping
    }

    /// Creates the mapping for the standard item format, with 1 to 3 levels. A number outside this range is clamped (HPK-42).
    #[must_use]
    pub fn standard(levels: usize) -> Self {
        let own = Own { properties: Path::own("p"), types: Path::own("t"), write: Path::own("o") };
        let levels = LEVELS.iter().take(levels.clamp(1, MOST)).map(|name| Path::own(name)).collect();
        Self { levels, members: Vec::new(), constants: Vec::new(), own, is_standard: true, fault: None }
    }

    /// Maps a property to a path, for example the property with the stored name `Total` to `/total/amount`.
    ///
    /// If the member at the path is missing or null, the property is absent.
    #[must_use]
    pub fn property(mut self, name: &str, path: &str, format: Format) -> Self {
        if format == Format::TimeToLive {
            self.fail(MappingFault::TimeToLive);
        }
        if let Some(path) = self.path(path) {
            self.add(name, path, format);
        }
        self
    }

    /// Maps an `Edm.Int32` property to an item's time to live.
    ///
    /// Its value is the number of seconds from the last write until the item expires, or -1 if the item never expires. An item without the property uses the
    /// [container's default](crate::Options::time_to_live).
    #[must_use]
    pub fn time_to_live(mut self, name: &str) -> Self {
        self.add(name, Path::own(TTL), Format::TimeToLive);
        self
    }

    /// Declares a constant, which is a string that every item of the table has at a path. For example, `/type` may contain the item type `order`.
    ///
    /// Queries select only items with this string, and written items contain it.
    #[must_use]
    pub fn constant(mut self, path: &str, text: &str) -> Self {
        if let Some(path) = self.path(path) {
            self.constants.push((path, text.to_owned()));
        }
        self
    }

    /// Returns the number of levels of the partition key.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns the mapped property with the given name.
    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Returns `true` if the mapping includes a time to live for items.
    pub(crate) fn expires(&self) -> bool {
        self.members.iter().any(|member| member.format == Format::TimeToLive)
    }

    /// Returns the level names of the default format that this mapping does not use. An item in the default format must not have members with these names.
    ///
    /// For other mappings, the list is empty.
    pub(crate) fn further_levels(&self) -> impl Iterator<Item = &'static str> {
        LEVELS.into_iter().skip(if self.is_standard { self.depth() } else { MOST })
    }

    /// Returns `true` if the root member with the given name belongs to the service.
    pub(crate) fn is_system(name: &str) -> bool {
        SYSTEM.contains(&name)
    }

    /// Validates the mapping without a schema.
    ///
    /// # Errors
    /// `InvalidInput` in these cases:
    /// - The number of levels is wrong.
    /// - A path is invalid or reserved.
    /// - Two paths overlap.
    /// - A name is invalid or repeated.
    pub(crate) fn checked(self) -> Result<Self> {
        match &self.fault {
            Some(fault) => Err(Error::of(fault.clone())),
            None => self.overlap().map_or(Ok(()), |fault| Err(Error::of(fault))).map(|()| self),
        }
    }

    /// Checks the mapping against the schema of an entity.
    ///
    /// # Errors
    /// `InvalidInput` if the number of levels differs, or if a mapped property is unknown or has a different type.
    pub(crate) fn checked_for(mut self, schema: &EntitySchema) -> Result<Self> {
        let (found, expected) = (self.depth(), level_names(schema).len().max(1));
        if found != expected {
            return Err(Error::of(MappingFault::EntityLevels { found, expected }));
        }
        for Member { name, format, is_required, .. } in &mut self.members {
            let Some(property) = schema.properties.iter().find(|property| property.name == name) else {
                return Err(Error::of(MappingFault::NoProperty(name.clone())));
            };
            let (found, expected) = (format.edm_type(), property.edm);
            if found != expected {
                return Err(Error::of(MappingFault::Type { name: name.clone(), found, expected }));
            }
            *is_required = !property.optional;
        }
        self.checked()
    }

    fn add(&mut self, name: &str, path: Path, format: Format) {
        if check_property_name(name).is_err() {
            self.fail(MappingFault::Name(name.to_owned()));
        }
        if self.member(name).is_some() {
            self.fail(MappingFault::Twice(name.to_owned()));
        }
        self.members.push(Member { name: name.to_owned(), path, format, is_required: false });
    }

    /// Parses a path that the user specified. Records an error if the path is invalid or reserved.
    fn path(&mut self, text: &str) -> Option<Path> {
        let Some(path) = Path::parse(text) else {
            self.fail(MappingFault::Path(text.to_owned()));
            return None;
        };
        let is_reserved = SYSTEM.contains(&path.root()) || path.root() == OWN;
        if is_reserved {
            self.fail(MappingFault::Reserved(text.to_owned()));
        }
        if path.root() == TTL {
            self.fail(MappingFault::TimeToLive);
        }
        Some(path)
    }

    /// Records an error, unless one has already been recorded.
    fn fail(&mut self, fault: MappingFault) {
        self.fault.get_or_insert(fault);
    }

    /// Returns an error if any two paths of the mapping overlap.
    fn overlap(&self) -> Option<MappingFault> {
        let members = self.members.iter().map(|member| &member.path);
        let constants = self.constants.iter().map(|(path, _)| path);
        let own = [&self.own.properties, &self.own.types, &self.own.write];
        // An item with a member named like an unused level is not an entity of this mapping. No path may create such a member.
        let further: Vec<Path> = self.further_levels().map(Path::own).collect();
        let paths = self.levels.iter().chain(members).chain(constants).chain(own).chain(&further);
        let paths: Vec<&Path> = paths.collect();
        paths.iter().enumerate().find_map(|(at, path)| {
            let other = paths.iter().take(at).find(|other| path.overlaps(other))?;
            Some(MappingFault::Overlap(other.to_string(), path.to_string()))
        })
    }
}

#[cfg(test)]
mod tests;
