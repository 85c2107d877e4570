//! Names of the constants generated for fields.

use syn::ext::IdentExt;

use crate::casing::upper_case;
use crate::model::{Entity, Field};

impl<'a> Entity<'a> {
    /// Returns a field whose generated constant has the same name as the constant of the field at `at`. It is either an earlier field with a column, or any
    /// field with a blob.
    pub(crate) fn same_constant(&self, at: usize) -> Option<&Field<'a>> {
        let constant = |field: &Field<'_>| {
            let has_column = field.attrs.rest.is_none() && field.attrs.chunks.is_none();
            has_column.then(|| upper_case(&field.ident.unraw().to_string()))
        };
        let own = constant(self.fields.get(at)?)?;
        let is_blob =
            |field: &Field<'_>| field.original.attrs.iter().any(|attr| attr.path().is_ident("blob"));
        let mut others = self.fields.iter().enumerate().filter(|(other, _)| *other != at);
        let is_same = |(other, field): &(usize, &Field<'_>)| {
            let is_column = *other < at && constant(field).as_ref() == Some(&own);
            is_column
                || is_blob(field) && own == format!("{}_BLOB", upper_case(&field.ident.unraw().to_string()))
        };
        others.find(is_same).map(|(_, field)| field)
    }
}
