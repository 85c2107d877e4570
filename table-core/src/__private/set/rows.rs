//! Compile-time checks of the index rows of a set's or group's members. Each index row must be distinguishable from entities and from other index rows.

use crate::schema::{self, EntitySchema, IndexSchema, KeyPiece};

use super::super::message::Message;

/// Rows that share a key layout. They are the entities of a type, or the rows of one of its indexes.
#[derive(Clone, Copy)]
struct Rows<'s> {
    of: &'s EntitySchema,
    index: Option<&'s IndexSchema>,
}

impl<'s> Rows<'s> {
    const fn table(self) -> &'s str {
        match self.index {
            Some(IndexSchema { table: Some(table), .. }) => table,
            _ => self.of.table,
        }
    }

    const fn partition_key(self) -> &'s [KeyPiece] {
        match self.index {
            Some(IndexSchema { partition_key: Some(pieces), .. }) => pieces,
            _ => self.of.partition_key,
        }
    }

    const fn row_key(self) -> &'s [KeyPiece] {
        match self.index {
            Some(index) => index.row_key,
            None => self.of.row_key,
        }
    }

    /// Returns `true` if no row of `self` can have the same key as a row of `other`. Also returns `true` for a schema without keys. Its declaration is invalid,
    /// and the derive reports the errors.
    const fn is_apart(self, other: Self) -> bool {
        !self.table().as_bytes().eq_ignore_ascii_case(other.table().as_bytes())
            || self.row_key().is_empty()
            || other.row_key().is_empty()
            || schema::disjoint(self.row_key(), other.row_key())
            || schema::disjoint(self.partition_key(), other.partition_key())
    }
}

/// Panics at compile time if an index row of one type could share a key with an entity or index row of the other.
pub(super) const fn require_apart(one: &EntitySchema, other: &EntitySchema) {
    let mut at = 0;
    while at < one.indexes.len() {
        require_no_entity(one, &one.indexes[at], other);
        let mut other_at = 0;
        while other_at < other.indexes.len() {
            require_no_index_row((one, &one.indexes[at]), (other, &other.indexes[other_at]));
            other_at += 1;
        }
        at += 1;
    }
    at = 0;
    while at < other.indexes.len() {
        require_no_entity(other, &other.indexes[at], one);
        at += 1;
    }
}

/// Panics at compile time if an index row could share a key with an entity of the type `member`.
pub(super) const fn require_no_entity(of: &EntitySchema, index: &IndexSchema, member: &EntitySchema) {
    if (Rows { of, index: Some(index) }).is_apart(Rows { of: member, index: None }) {
        return;
    }
    let message = Message::new().with("[T103] a row of the index `").with(index.name).with("` of `");
    let message = message.with(of.entity).with("` could be mistaken for an entity `").with(member.entity);
    let message = message.with("` in the same table (PAT-HET-1). Start the `row_key` of the index with ");
    panic!("{}", message.with("another literal").as_str());
}

/// Panics at compile time if rows of the two indexes could share a key.
const fn require_no_index_row(
    (of, index): (&EntitySchema, &IndexSchema),
    (other_of, other): (&EntitySchema, &IndexSchema),
) {
    if (Rows { of, index: Some(index) }).is_apart(Rows { of: other_of, index: Some(other) }) {
        return;
    }
    let message = Message::new().with("[T103] rows of the index `").with(index.name).with("` of `");
    let message = message.with(of.entity).with("` and rows of the index `").with(other.name);
    let message =
        message.with("` of `").with(other_of.entity).with("` could have the same key in one table ");
    let message =
        message.with("(PAT-HET-1), so one type would read or replace the rows of the other. Start ");
    panic!("{}", message.with("the `row_key`s of both indexes with different literals").as_str());
}

#[cfg(test)]
mod tests {
    use super::super::require_members;
    use crate::Entity;
    use crate::schema::EntitySchema;

    macro_rules! person {
        ($person:ident, $table:literal, $prefix:literal, $index:literal) => {
            #[derive(Entity)]
            #[entity(table = $table)]
            #[partition_key(department)]
            #[row_key($prefix, id)]
            #[index(ByEmail, unique, row_key($index, email))]
            #[index(Directory, unique, table = "Directory", partition_key($prefix, email), row_key(id))]
            pub(super) struct $person {
                department: String,
                #[digits(6)]
                id: u32,
                email: String,
            }
        };
    }

    person!(Employee, "Staff", "emp_", "email_");
    person!(Contractor, "staff", "con_", "email_");
    person!(Visitor, "Staff", "vis_", "mail_");
    person!(Badge, "Staff", "email_", "badge_");

    mod earlier {
        use crate::Entity;

        person!(Visitor, "Staff", "old_vis_", "old_mail_");
    }

    /// A supplier. Its index shares a table with another index in this module, and the partition keys of the two indexes may be equal.
    #[derive(Entity)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("sup_", id)]
    #[index(Directory, unique, table = "directory", partition_key(email), row_key(id))]
    struct Supplier {
        department: String,
        #[digits(6)]
        id: u32,
        email: String,
    }

    const EMPLOYEE: &EntitySchema = Employee::SCHEMA;

    #[test]
    fn members_whose_index_rows_have_other_keys_are_accepted() {
        require_members(&[EMPLOYEE, Visitor::SCHEMA], &[], "Staff");
        // The versions of one type may share an index.
        require_members(&[EMPLOYEE, Contractor::SCHEMA, Visitor::SCHEMA], &[0, 0, 2], "Staff");
    }

    #[test]
    #[should_panic(
        expected = "[T103] rows of the index `ByEmail` of `Contractor` and rows of the index `ByEmail` of `Employee` could have the same key"
    )]
    fn pat_het_1_indexes_of_two_members_with_the_same_keys_are_refused() {
        require_members(&[Visitor::SCHEMA, Contractor::SCHEMA, EMPLOYEE], &[0, 1, 2], "Staff");
    }

    #[test]
    #[should_panic(
        expected = "rows of the index `Directory` of `Employee` and rows of the index `Directory` of `Supplier`"
    )]
    fn pat_het_1_indexes_in_another_table_are_compared() {
        require_members(&[EMPLOYEE, Supplier::SCHEMA], &[], "Staff");
    }

    #[test]
    #[should_panic(
        expected = "[T103] a row of the index `ByEmail` of `Employee` could be mistaken for an entity `Badge`"
    )]
    fn pat_het_1_an_index_row_with_the_key_of_another_member_is_refused() {
        require_members(&[Badge::SCHEMA, EMPLOYEE], &[], "Staff");
    }

    #[test]
    #[should_panic(
        expected = "[T263] two types of `Staff` have the schema name `Visitor`, but the table `Staff` stores one"
    )]
    fn two_members_with_one_schema_name_are_refused() {
        require_members(&[earlier::Visitor::SCHEMA, Visitor::SCHEMA], &[0, 0], "Staff");
    }
}
