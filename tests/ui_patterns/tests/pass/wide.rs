//! Wide entities compile under the strictest lints, with private fields, raw names, keys of every kind, and no property that needs a prelude.
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused_qualifications, warnings)]
#![no_implicit_prelude]

/// The patterns under another path.
pub mod tables {
    pub use ::table_patterns as runtime;
}

/// The entities with counts.
pub mod counts {
    use ::std::clone::Clone;
    use ::std::option::Option;
    use ::std::string::String;
    use ::std::vec::Vec;
    use ::table_patterns::wide::Wide;

    /// A year.
    #[derive(Clone, Debug, Wide)]
    #[entity(table = "MessageCounts", kind = "Year", crate = crate::wide::tables::runtime)]
    #[partition_key(escaped(team), employee)]
    #[row_key("year_", r#type, "_", year)]
    pub struct YearOfCounts {
        /// The team.
        pub team: String,
        /// The employee.
        #[digits(6)]
        pub employee: u32,
        /// The year.
        pub year: u16,
        r#type: bool,
        /// The count of each day.
        #[slots("Day", 1..=366)]
        pub days: [Option<i32>; 366],
        #[slots("Hour", 0..=23)]
        hours: Vec<Option<i32>>,
    }

    /// Uses the private fields.
    #[must_use]
    pub fn hours(year: &YearOfCounts) -> (bool, &[Option<i32>]) {
        (year.r#type, &year.hours)
    }
}

/// Uses the declarations.
pub fn main() {
    use counts::YearOfCounts;
    use tables::runtime::wide::Wide;

    ::std::assert_eq!(YearOfCounts::PARTS[0].len(), 250);
    ::std::assert_eq!(YearOfCounts::DAYS.at(7).name(), "Day007");
    let key = YearOfCounts::key("a", 7, true, 2014).key().unwrap();
    ::std::assert_eq!(key.row_key.as_str(), "year_1_02014");
}
