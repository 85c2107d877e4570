//! Projections: structs with a subset of an entity's properties.

use syn::ext::IdentExt;
use syn::{DeriveInput, Ident, Path, Type};

use crate::attr::projection;
use crate::casing::{snake_case, upper_case};
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::shape;
use crate::samples;
use crate::symbol::PROPERTY;

/// The declaration of a projection: a struct into which an entity can be read.
pub(crate) struct Projection<'a> {
    /// The struct as declared.
    pub(crate) original: &'a DeriveInput,
    /// The path of the runtime crate.
    pub(crate) runtime: Path,
    /// The entity type, or `None` if it is missing. A missing type has been reported.
    pub(crate) of: Option<Path>,
    /// The fields of the projection.
    pub(crate) fields: Vec<Field<'a>>,
}

/// A field of the projection. It corresponds to a column of the entity.
pub(crate) struct Field<'a> {
    /// The name of the field.
    pub(crate) ident: &'a Ident,
    /// The type of the field.
    pub(crate) ty: &'a Type,
    /// The name of the column.
    pub(crate) column: Ident,
}

impl<'a> Projection<'a> {
    /// Reads a declaration. Reports the reason and returns `None` if it cannot be a projection.
    pub(crate) fn read(ctxt: &Ctxt, input: &'a DeriveInput, runtime: impl FnOnce() -> Path) -> Option<Self> {
        let attrs = projection::parse(ctxt, input);
        if attrs.of.is_none() && !attrs.broken {
            let help = "name the entity: `#[projection(of = Employee)]`";
            ctxt.error("T120", &input.ident, format!("`{}` does not name its entity", input.ident), help);
        }
        let what = "a projection";
        let help = "each field has the name and type of a field of the entity";
        let named = shape::named_fields(ctxt, input, what, help)?;
        shape::no_parameters(ctxt, input, what, "write one struct for each concrete type")?;
        for field in &named.named {
            stored_name(ctxt, field);
        }
        let fields = named.named.iter().filter_map(|field| {
            let ident = field.ident.as_ref()?;
            let column = Ident::new(&upper_case(&ident.unraw().to_string()), ident.span());
            Some(Field { ident, ty: &field.ty, column })
        });
        let fields = fields.collect();
        Some(Self {
            original: input,
            runtime: attrs.runtime.unwrap_or_else(runtime),
            of: attrs.of.or(attrs.suggested),
            fields,
        })
    }
}

/// Reports `#[property("FirstName")]`, which only an entity has. The field of a projection has the name of the entity's field.
fn stored_name(ctxt: &Ctxt, field: &syn::Field) {
    for attr in field.attrs.iter().filter(|attr| attr.path() == &PROPERTY) {
        let stored = samples::key_fields(&grammar::arguments(attr)).into_iter().next();
        let name = stored.map(|name| snake_case(&name)).filter(|name| syn::parse_str::<Ident>(name).is_ok());
        let help = match name {
            Some(name) => format!(
                "write `{name}: {}`: a field of a projection has the name of the entity's field",
                grammar::type_text(&field.ty)
            ),
            None => "remove it: a field of a projection has the name of the entity's field".to_owned(),
        };
        ctxt.error("T009", attr, "`property` is not an attribute of projections", help);
    }
}
