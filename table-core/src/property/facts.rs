//! The metadata of a property type. Generated code reads it from one constant.

use table_store::EdmType;

/// The metadata of a property type needed by generated code.
#[derive(Clone, Copy, Debug)]
pub struct PropertyFacts {
    /// The Edm type of the stored value.
    pub edm: EdmType,
    /// `true` if the value may be absent.
    pub optional: bool,
    /// `true` for a nested `Option`. Generated code rejects it, because a store cannot distinguish two kinds of absence.
    pub is_option_twice: bool,
}
