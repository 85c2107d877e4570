//! Tests the macros in a crate that depends only on `table-patterns`, under the name `tables`.
#![deny(missing_docs, warnings)]

use tables::large::{BlobRef, Large};
use tables::wide::Wide;
use tables::{Entity, access_patterns};

/// A person.
#[derive(Debug, Entity)]
#[partition_key(department)]
#[row_key("empid_", digits(6, id))]
#[index(ByEmail, unique, row_key("email_", email))]
pub struct Employee {
    /// The department.
    pub department: String,
    /// The employee number.
    pub id: u32,
    /// The e-mail address.
    pub email: String,
}

/// A person's photo.
#[derive(Debug, Entity, Large)]
#[partition_key(department)]
#[row_key(id)]
pub struct Photo {
    /// The department.
    pub department: String,
    /// The employee number.
    pub id: u32,
    /// The reference to the photo.
    #[blob]
    pub content: Option<BlobRef>,
}

/// A person's counts for one year.
#[derive(Debug, Wide)]
#[partition_key(id)]
#[row_key(year)]
pub struct Year {
    /// The employee number.
    pub id: u32,
    /// The year.
    pub year: u16,
    /// One count per day.
    #[slots("Day", 1..=366)]
    pub days: Vec<Option<i32>>,
}

/// A year without counts.
#[derive(Debug, Wide)]
#[partition_key(id)]
#[row_key(year)]
pub struct EmptyYear {
    /// The employee number.
    pub id: u32,
    /// The year.
    pub year: u16,
}

access_patterns! {
    /// The queries of the office.
    pub Office for Employee {
        /// One employee.
        by_id(department: &str, id: u32) <= point = Employee::key(department, id);
    }
}

#[cfg(test)]
mod tests {
    use super::{Employee, EmptyYear, Entity, Large, Office, Photo, Wide, Year};

    #[test]
    fn the_runtime_is_found_through_the_patterns() {
        let employee = Employee { department: "Sales".into(), id: 7, email: "ada@contoso.com".into() };
        assert_eq!(Office::by_id("Sales", 7).key().ok(), employee.key_of().ok());
    }

    #[test]
    fn the_derives_of_the_patterns_find_the_runtime_through_the_patterns() {
        assert_eq!(Photo::BLOBS.iter().map(tables::large::Blob::property).collect::<Vec<_>>(), ["Content"]);
        assert_eq!((Year::PARTS.len(), EmptyYear::PARTS[0].len()), (2, 0));
    }
}
