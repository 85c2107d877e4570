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
        let of = attrs.of.or(attrs.suggested);
        for field in &named.named {
            stored_name(ctxt, field, of.as_ref());
        }
        let fields = named.named.iter().filter_map(|field| {
            let ident = field.ident.as_ref()?;
            let column = Ident::new(&upper_case(&ident.unraw().to_string()), ident.span());
            Some(Field { ident, ty: &field.ty, column })
        });
        let fields = fields.collect();
        Some(Self { original: input, runtime: attrs.runtime.unwrap_or_else(runtime), of, fields })
    }
}

/// Reports `#[property(…)]`, which belongs on the field of the entity. The field of a projection has the same name.
fn stored_name(ctxt: &Ctxt, field: &syn::Field, of: Option<&Path>) {
    let of = of.and_then(|of| of.segments.last());
    let entity = of.map_or_else(|| "the entity".to_owned(), |of| format!("`{}`", of.ident));
    let own = field.ident.as_ref().map(|own| own.unraw().to_string()).unwrap_or_default();
    for attr in field.attrs.iter().filter(|attr| attr.path() == &PROPERTY) {
        let stored = grammar::arguments(attr).into_iter().next();
        let stored = stored.and_then(|stored| samples::name_in(&stored.to_string()));
        let name = stored.map(|name| snake_case(&name)).filter(|name| syn::parse_str::<Ident>(name).is_ok());
        let other = name.filter(|name| *name != own).map(|name| {
            format!("; if its field is `{name}`, write `{name}: {}`", grammar::type_text(&field.ty))
        });
        let help = format!(
            "remove it: `{own}` is read from the property of the field `{own}` of {entity}, under its stored name{}",
            other.unwrap_or_default()
        );
        ctxt.error("T003", attr, format!("`property` belongs on the field of {entity}"), help);
    }
}
