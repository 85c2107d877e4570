//! The format of an index's list entities: the properties that contain the members, and their encoding (PAT-IX-4).

use std::collections::BTreeSet;

use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::row::{Row, RowView, RowWriter, entity_bytes};
use table_core::schema::{EntitySchema, IndexSchema, KeyPiece};
use table_core::{Error, Result, ValueRef};

use crate::blob::BlobRef;
use crate::index::list::fault::ListFault;

/// One member of a list: the parts of the entity's key that are not in the list's key, starting with the parts of the `RowKey`.
pub(crate) type Member = Vec<String>;

/// The storage format of an index's lists.
#[derive(Clone, Debug)]
pub(crate) struct ListForm {
    index: &'static IndexSchema,
    /// The name of the first property: `EmployeeIDs` if one string identifies a member, `EmployeeDetails` if several strings identify it.
    property: String,
    /// The names of the key parts that identify a member, in the order of [`Member`].
    names: Vec<&'static str>,
}

impl ListForm {
    pub(crate) fn new(entity: &EntitySchema, index: &'static IndexSchema) -> Self {
        let in_partition_key = |field: &str| {
            let is_it =
                |piece: &KeyPiece| matches!(piece, KeyPiece::Field { field: name, .. } if *name == field);
            entity.partition_key.iter().any(is_it)
        };
        let mut parts: Vec<_> = index.properties.iter().collect();
        parts.sort_by_key(|part| in_partition_key(part.field));
        let what = if parts.len() == 1 { "IDs" } else { "Details" };
        let property = format!("{}{what}", entity.entity);
        Self { index, property, names: parts.into_iter().map(|part| part.name).collect() }
    }

    pub(crate) const fn index(&self) -> &'static IndexSchema {
        self.index
    }

    /// Returns the name of the property that refers to the blob of a list, such as `EmployeeIDsBlob`.
    fn blob_name(&self) -> String {
        format!("{}Blob", self.property)
    }

    /// Returns the address of the blob that contains a list; `None` if the list is stored in the entity itself.
    ///
    /// # Errors
    /// `EntityMismatch` if the property is not a blob address.
    pub(crate) fn blob(&self, list: RowView<'_>) -> Result<Option<BlobRef>> {
        let name = self.blob_name();
        match list.find(&name, &mut 0)? {
            None => Ok(None),
            Some(ValueRef::String(text)) if list.len() == 1 => {
                text.parse().map(Some).map_err(|error: Error| self.broken(&name).with_source(error))
            }
            Some(_) => Err(self.broken(&name)),
        }
    }

    /// Returns the row of an entity whose list is stored in `blob`.
    pub(crate) fn pointer(&self, blob: &BlobRef) -> Row {
        let mut row = RowWriter::with_capacity(1);
        row.property(&self.blob_name(), ValueRef::String(&blob.to_string()));
        row.finish()
    }

    fn name(&self, piece: usize) -> String {
        if piece == 0 { self.property.clone() } else { format!("{}{piece}", self.property) }
    }

    /// Converts an index entry to a list member.
    pub(crate) fn member(&self, row: &Row) -> Result<Member> {
        let mut hint = 0;
        let text = |name: &&str| match row.view().find(name, &mut hint)? {
            Some(ValueRef::String(text)) => Ok(text.to_owned()),
            _ => Err(self.broken(name)),
        };
        self.names.iter().map(text).collect()
    }

    /// Converts a list member to the properties of an index entry.
    pub(crate) fn row(&self, member: &Member) -> Row {
        let mut row = RowWriter::with_capacity(member.len());
        for (name, text) in self.names.iter().zip(member) {
            row.property(name, ValueRef::String(text));
        }
        row.finish()
    }

    /// Returns the members of a list that is stored in an entity.
    ///
    /// # Errors
    /// `EntityMismatch` if the row is not a list of this index.
    pub(crate) fn read(&self, list: RowView<'_>) -> Result<BTreeSet<Member>> {
        let mut members = BTreeSet::new();
        // Every property must be a piece: an unexpected property indicates that a piece is missing.
        for piece in 0..list.len().max(1) {
            let name = self.name(piece);
            let Some(ValueRef::String(text)) = list.find(&name, &mut { piece })? else {
                return Err(self.broken(&name));
            };
            if self.names.len() == 1 {
                let ids: Vec<String> = serde_json::from_str(text).map_err(|_| self.broken(&name))?;
                members.extend(ids.into_iter().map(|id| vec![id]));
            } else {
                let details: Vec<Member> = serde_json::from_str(text).map_err(|_| self.broken(&name))?;
                if details.iter().any(|member| member.len() != self.names.len()) {
                    return Err(self.broken(&name));
                }
                members.extend(details);
            }
        }
        Ok(members)
    }

    /// Returns an error if a list that has grown exceeds its declared bound. Do not call this for a list that shrinks: the bound may have been lowered since.
    ///
    /// # Errors
    /// `IndexListFull` (PAT-IX-4).
    pub(crate) fn check_bound(&self, members: usize) -> Result<()> {
        match self.index.at_most {
            Some(most) if members > usize::try_from(most).unwrap_or(usize::MAX) => {
                Err(Error::of(ListFault::Bound { index: self.index.name, most }))
            }
            _ => Ok(()),
        }
    }

    /// Returns the row of an entity with the list, spread over as many properties as needed.
    ///
    /// # Errors
    /// `IndexListFull` if the members do not fit into one entity (PAT-IX-4).
    pub(crate) fn write(&self, key: &EntityKey, members: &BTreeSet<Member>, limits: &Limits) -> Result<Row> {
        let count = members.len();
        let mut row = RowWriter::new();
        let (mut text, mut units, mut piece) = (String::from("["), 2, 0);
        for member in members {
            let json = match &member[..] {
                [id] => serde_json::to_string(id),
                details => serde_json::to_string(details),
            };
            let json = json.map_err(|error| self.broken(&self.property).with_source(error))?;
            let more = json.encode_utf16().count() + 1;
            if units + more > limits.string_units && text.len() > 1 {
                text.push(']');
                row.property(&self.name(piece), ValueRef::String(&text));
                (text, units, piece) = (String::from("["), 2, piece + 1);
            }
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&json);
            units += more;
        }
        text.push(']');
        row.property(&self.name(piece), ValueRef::String(&text));
        let row = row.finish();
        let bytes = entity_bytes(key.partition_key.as_str(), key.row_key.as_str(), Some(&row));
        if row.view().len() > limits.properties || limits.check_entity_bytes(bytes).is_err() {
            return Err(Error::of(ListFault::Full { index: self.index.name, keys: count }));
        }
        Ok(row)
    }

    /// Returns the error for a list that needs a blob, if the handle has no blob store.
    pub(crate) fn without_blobs(&self) -> Error {
        Error::of(ListFault::WithoutBlobs(self.index.name))
    }

    /// Returns the error for a list with members that do not determine a valid entity key.
    pub(crate) fn astray(&self) -> Error {
        self.broken(&self.property)
    }

    fn broken(&self, name: &str) -> Error {
        Error::of(ListFault::Broken(self.index.name)).with_property(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use table_core::entity::Entity;

    use table_core::ErrorCode;

    use super::*;
    use crate::index::fixture::Employee;

    fn form(name: &str) -> ListForm {
        let index = Employee::SCHEMA.indexes.iter().find(|index| index.name == name).unwrap();
        ListForm::new(Employee::SCHEMA, index)
    }

    fn jones() -> EntityKey {
        EntityKey::new("Sales", "lastname_Jones").unwrap()
    }

    fn text(row: &Row, name: &str) -> String {
        match row.view().find(name, &mut 0).unwrap() {
            Some(ValueRef::String(text)) => text.to_owned(),
            other => panic!("{name} is {other:?}"),
        }
    }

    #[test]
    fn pat_ix_the_properties_are_named_and_filled_as_in_the_catalogue() {
        let ids = BTreeSet::from([vec!["000223".to_owned()], vec!["000152".to_owned()]]);
        let row = form("ByLastName").write(&jones(), &ids, &Limits::PORTABLE).unwrap();
        assert_eq!(text(&row, "EmployeeIDs"), r#"["000152","000223"]"#);
        let details = BTreeSet::from([vec!["000152".to_owned(), "Sales".to_owned()]]);
        let row = form("Namesakes").write(&jones(), &details, &Limits::PORTABLE).unwrap();
        assert_eq!(text(&row, "EmployeeDetails"), r#"[["000152","Sales"]]"#);
    }

    #[test]
    fn pat_ix_4_a_list_spreads_over_properties_and_is_never_truncated() {
        let form = form("ByLastName");
        let members: BTreeSet<Member> = (0..9_000).map(|id| vec![format!("{id:06}")]).collect();
        let error = form.check_bound(members.len()).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::IndexListFull, Some("PAT-IX-4")));
        let row = form.write(&jones(), &members, &Limits::PORTABLE).unwrap();
        assert_eq!(row.view().len(), 3, "9,000 members of 9 units each");
        for property in row.view().properties() {
            let ValueRef::String(text) = property.unwrap().value else { panic!("a text") };
            assert!(text.len() <= 32_768);
        }
        assert_eq!(form.read(row.view()).unwrap(), members);
        // The members take 1 MiB by the published formula, with two bytes per UTF-16 code unit.
        let members: BTreeSet<Member> = (0..60_000).map(|id| vec![format!("{id:06}")]).collect();
        let error = form.write(&jones(), &members, &Limits::PORTABLE).unwrap_err();
        assert_eq!(error.code(), ErrorCode::IndexListFull);
        assert!(error.to_string().contains("with_list_blobs"), "{error}");
    }

    #[test]
    fn pat_ix_4_an_entity_names_the_blob_of_its_list() {
        let form = form("Namesakes");
        let blob: BlobRef = "x/lists/names/jones/all/0635338512000000000_5f0c 47 1b2e4c6d".parse().unwrap();
        let row = form.pointer(&blob);
        assert_eq!(text(&row, "EmployeeDetailsBlob"), blob.to_string());
        assert_eq!(form.blob(row.view()).unwrap(), Some(blob));
        assert_eq!(
            form.read(row.view()).unwrap_err().code(),
            ErrorCode::EntityMismatch,
            "and is no list itself"
        );
        let ids = form
            .write(&jones(), &BTreeSet::from([vec!["1".to_owned(), "2".to_owned()]]), &Limits::PORTABLE)
            .unwrap();
        assert_eq!(form.blob(ids.view()).unwrap(), None);
        let mut both = RowWriter::new();
        both.property("EmployeeDetailsBlob", ValueRef::String("somewhere"));
        assert_eq!(form.blob(both.finish().view()).unwrap_err().code(), ErrorCode::EntityMismatch);
    }

    #[test]
    fn an_invalid_list_is_an_error() {
        let form = form("Namesakes");
        for text in ["", "[", "{}", "[1]", r#"["000152"]"#, r#"[["000152"]]"#] {
            let mut row = RowWriter::new();
            row.property("EmployeeDetails", ValueRef::String(text));
            assert_eq!(
                form.read(row.finish().view()).unwrap_err().code(),
                ErrorCode::EntityMismatch,
                "{text}"
            );
        }
        assert_eq!(
            form.read(RowWriter::new().finish().view()).unwrap_err().code(),
            ErrorCode::EntityMismatch
        );
    }

    proptest! {
        #[test]
        fn any_members_round_trip(
            members in prop::collection::btree_set(("[\\PC\"\\\\,\\[]{0,6}", ".{0,6}"), 0..40),
            units in 40_usize..200,
        ) {
            let form = form("Namesakes");
            let members: BTreeSet<Member> = members.into_iter().map(|(id, department)| vec![id, department]).collect();
            let mut limits = Limits::PORTABLE;
            limits.string_units = units;
            let row = form.write(&jones(), &members, &limits).unwrap();
            prop_assert_eq!(form.read(row.view()).unwrap(), members.clone());
            for member in &members {
                prop_assert_eq!(&form.member(&form.row(member)).unwrap(), member);
            }
        }
    }
}
