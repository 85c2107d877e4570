//! The numbered rules of the specifications, and the tests that demonstrate them.
//!
//! - [`FAMILIES`]: all rules, grouped into families.
//! - [`UNSHOWN`]: the rules that no test can demonstrate, with the reasons.
//! - [`cases`]: the tests of the workspace, and the rules that each test cites.
//! - [`pages`]: the text of each rule, followed by its tests.

mod cases;
mod families;
mod page;
mod unshown;
mod words;

pub use cases::{Case, Place, cases};
pub use families::{FAMILIES, Family, Rule, rules};
pub use page::{Page, UPDATE, pages};
pub use unshown::{UNSHOWN, Unshown, reason};
