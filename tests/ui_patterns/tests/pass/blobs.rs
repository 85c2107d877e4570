//! Blob declarations compile under the strictest lints, with private fields, raw names, type parameters, and the library under another path.
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused_qualifications, warnings)]

/// The patterns under another path.
pub mod tables {
    pub use table_patterns as runtime;
}

/// The employees.
pub mod staff {
    use table_patterns::large::{BlobRef, Large};
    use table_patterns::{Entity, Property};

    /// An employee.
    #[derive(Clone, Debug, Entity, Large)]
    #[large(crate = crate::blobs::tables::runtime)]
    #[partition_key(department)]
    #[row_key(id)]
    pub struct Employee<T: Property> {
        /// The department.
        pub department: String,
        /// The number of the employee.
        pub id: u32,
        /// The photo.
        #[blob]
        pub photo: Option<BlobRef>,
        #[blob]
        #[property("Kind")]
        r#type: Option<BlobRef>,
        /// A property of a generic type.
        pub more: T,
    }

    /// Uses the private field.
    pub fn kind<T: Property>(employee: &Employee<T>) -> Option<&BlobRef> {
        employee.r#type.as_ref()
    }
}

/// Uses the declarations.
pub fn main() {
    use staff::Employee;
    use table_patterns::large::Large;

    let names = Employee::<i32>::BLOBS.iter().map(|blob| blob.property());
    assert_eq!(names.collect::<Vec<_>>(), ["Photo", "Kind"]);
}
