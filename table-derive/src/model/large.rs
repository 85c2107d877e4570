//! Entities with blobs: the fields that contain blob addresses.

use quote::format_ident;
use syn::ext::IdentExt;
use syn::{DeriveInput, Ident, Path, Type, Visibility};

use crate::attr::keyed::Keyed;
use crate::attr::{field, large};
use crate::casing::upper_case;
use crate::ctxt::Ctxt;
use crate::model::generics::Parameters;
use crate::model::property::Property;
use crate::model::shape;

/// The declaration of an entity with blobs.
pub(crate) struct Large<'a> {
    /// The struct as declared.
    pub(crate) original: &'a DeriveInput,
    /// The generic parameters of the struct.
    pub(crate) parameters: Parameters,
    /// The path of the runtime crate, `table-patterns`.
    pub(crate) runtime: Path,
    /// The blobs, in declaration order.
    pub(crate) blobs: Vec<Blob<'a>>,
}

/// A field that contains the address of a blob.
pub(crate) struct Blob<'a> {
    /// The name of the field.
    pub(crate) ident: &'a Ident,
    /// The type of the field.
    pub(crate) ty: &'a Type,
    /// The visibility of the field.
    pub(crate) vis: &'a Visibility,
    /// The name of the property that stores the field.
    pub(crate) property: String,
    /// The name of the generated constant for the blob.
    pub(crate) constant: Ident,
}

impl<'a> Large<'a> {
    /// Reads a declaration. Reports the reason and returns `None` if it cannot have blobs.
    pub(crate) fn read(ctxt: &Ctxt, input: &'a DeriveInput, runtime: impl FnOnce() -> Path) -> Option<Self> {
        let named = large::parse(ctxt, &input.attrs);
        let help = "its blobs are fields: `#[blob] photo: Option<BlobRef>`";
        let fields = shape::named_fields(ctxt, input, "an entity with blobs", help)?;
        let parameters = Parameters::read(ctxt, &input.generics, fields)?;
        let blobs = fields.named.iter().filter(|field| large::is_blob(ctxt, &field.attrs));
        let blobs = blobs.filter_map(|field| {
            let ident = field.ident.as_ref()?;
            let constant = format_ident!("{}_BLOB", upper_case(&ident.unraw().to_string()));
            Some(Blob { ident, ty: &field.ty, vis: &field.vis, property: property(field, ident), constant })
        });
        let blobs: Vec<_> = blobs.collect();
        if blobs.is_empty() {
            let help = "mark the fields that hold addresses: `#[blob] photo: Option<BlobRef>`; without blobs remove `Large`";
            ctxt.error("T141", &input.ident, format!("`{}` has no `#[blob]`", input.ident), help);
        }
        Some(Self { original: input, parameters, runtime: named.unwrap_or_else(runtime), blobs })
    }
}

/// Returns the property name that `derive(Entity)` uses for a field. `derive(Entity)` also reports the errors in the field's attributes.
fn property(field: &syn::Field, ident: &Ident) -> String {
    let elsewhere = Ctxt::new();
    let name = Property::of(ident, &field::parse(&elsewhere, field, &Keyed::default())).name;
    let _ = elsewhere.check();
    name
}
