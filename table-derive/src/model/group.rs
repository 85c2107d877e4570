//! Entity groups: structs of related entities, read by a single range query.

use syn::{DeriveInput, GenericArgument, Ident, Path, PathArguments, PathSegment, Type};

use crate::attr::member;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::shape;

/// A struct whose fields contain entities.
pub(crate) struct EntityGroup<'a> {
    /// The struct as declared.
    pub(crate) original: &'a DeriveInput,
    /// The path of the runtime crate.
    pub(crate) runtime: Path,
    /// The entity whose key is a prefix of all keys in the group, or `None` if the group is an entire partition.
    pub(crate) under: Option<Path>,
    /// The fields that contain entities.
    pub(crate) members: Vec<Member<'a>>,
    /// The field that collects rows of other types.
    pub(crate) other: Option<&'a syn::Field>,
}

/// A field that contains entities.
pub(crate) struct Member<'a> {
    /// The name of the field.
    pub(crate) ident: &'a Ident,
    /// The type of the field, such as `One<Employee>`.
    pub(crate) ty: &'a Type,
    /// The entity type inside the field's type: `Employee` for `One<Employee>`.
    pub(crate) entity: &'a Type,
}

impl<'a> EntityGroup<'a> {
    /// Reads a declaration. Reports the reason and returns `None` if it cannot be a group.
    pub(crate) fn read(ctxt: &Ctxt, input: &'a DeriveInput, runtime: impl FnOnce() -> Path) -> Option<Self> {
        let attrs = member::parse_group(ctxt, &input.attrs);
        let what = "an entity group";
        let help = "write one field for each type: `employee: One<Employee>, reviews: Many<Review>`";
        let named = shape::named_fields(ctxt, input, what, help)?;
        shape::no_parameters(ctxt, input, what, "write one struct for each group")?;
        let (mut members, mut other) = (Vec::new(), None);
        for field in &named.named {
            let Some(ident) = &field.ident else { continue };
            let parsed = member::parse_member(ctxt, &field.attrs);
            if let Some((upgrade, _)) = parsed.upgrades.first() {
                let help = "declare an entity set of the versions, and read the range as that set";
                ctxt.error("T112", upgrade, "a field of a group has one version of an entity", help);
            }
            match parsed.other {
                None => {
                    list(ctxt, &field.ty);
                    members.push(Member { ident, ty: &field.ty, entity: entity(&field.ty) });
                }
                Some(_) if other.is_none() => {
                    not_a_list(ctxt, &field.ty);
                    other = Some(field);
                }
                Some(attr) => {
                    ctxt.error(
                        "T002",
                        attr,
                        "duplicate `other`",
                        "one field collects all rows of other types",
                    );
                }
            }
        }
        let runtime = attrs.runtime.unwrap_or_else(runtime);
        let group = Self { original: input, runtime, under: attrs.under, members, other };
        group.check(ctxt);
        Some(group)
    }

    fn check(&self, ctxt: &Ctxt) {
        if self.members.is_empty() {
            let wrong = format!("`{}` has no members", self.original.ident);
            ctxt.error(
                "T111",
                &self.original.ident,
                wrong,
                "add a field for each type: `employee: One<Employee>`",
            );
        }
        let types: Vec<_> = self.members.iter().map(|it| (it.ty, grammar::type_text(it.entity))).collect();
        for (at, (ty, text)) in types.iter().enumerate() {
            if types.iter().take(at).any(|(_, earlier)| earlier == text) {
                let help = "one field collects all entities of a type: `Many<_>`";
                ctxt.error("T102", ty, format!("`{text}` is in this group twice"), help);
            }
        }
    }
}

/// Reports a member whose type is a standard-library list or `Option`. The compiler rejects every other unsupported type.
fn list(ctxt: &Ctxt, ty: &Type) {
    let Some(last) = last_segment(ty) else { return };
    let (inner, text) = (grammar::type_text(entity(ty)), grammar::type_text(ty));
    let right = match last.ident.to_string().as_str() {
        "Vec" => format!("Many<{inner}>"),
        "Option" if argument(last).is_some_and(|value| !is_member(value)) => format!("Option<One<{inner}>>"),
        _ => return,
    };
    let wrong = format!(
        "`{text}` cannot be a field of a group, because the field would lose the versions of the entities"
    );
    let help =
        format!("write `{right}`, with `use table_patterns::group::{{Many, One}};`, or of `table_core`");
    ctxt.error("T107", ty, wrong, help);
}

/// Reports a map, a set, an `Option`, `One`, `Many` or a bare `TableEntity` as the type of the field for other rows. The compiler rejects every other
/// unsupported type.
fn not_a_list(ctxt: &Ctxt, ty: &Type) {
    const WRONG: [&str; 8] =
        ["HashMap", "BTreeMap", "HashSet", "BTreeSet", "Option", "One", "Many", "TableEntity"];
    if last_segment(ty).is_some_and(|last| WRONG.iter().any(|wrong| last.ident == wrong)) {
        let wrong = format!("`{}` cannot collect the rows of other types", grammar::type_text(ty));
        ctxt.error(
            "T251",
            ty,
            wrong,
            "write `Vec<TableEntity>`: a `TableEntity` has the keys and all properties of a row",
        );
    }
}

/// Returns `true` if a type is named `One` or `Many`.
fn is_member(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|last| last.ident == "One" || last.ident == "Many")
}

/// Returns the first type argument of a path segment.
fn argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns the last path segment of a type, ignoring parentheses and macro groups around it.
fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// Returns the type argument of a field's type: `Event<f64>` for `Many<Event<f64>>` and for `Option<One<Event<f64>>>`.
fn entity(ty: &Type) -> &Type {
    let Some((last, inner)) = last_segment(ty).and_then(|last| Some((last, argument(last)?))) else {
        return ty;
    };
    if last.ident == "Option" && is_member(inner) { entity(inner) } else { inner }
}
