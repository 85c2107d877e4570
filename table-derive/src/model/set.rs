//! Entity sets: enums whose variants are the entity types of one table.

use quote::ToTokens;
use syn::{Data, DeriveInput, Fields, Ident, Path, Type};

use crate::attr::member::{self, MemberAttrs};
use crate::ctxt::Ctxt;
use crate::model::shape;
use crate::runtime;

/// The declaration of an entity set: an enum into which any row of a table can be read.
pub(crate) struct EntitySet<'a> {
    /// The enum as declared.
    pub(crate) original: &'a DeriveInput,
    /// The path of the runtime crate.
    pub(crate) runtime: Path,
    /// The variants that contain entities.
    pub(crate) members: Vec<Member<'a>>,
    /// The variant for rows of other types, or `None` if the set has no such variant.
    pub(crate) other: Option<(&'a Ident, &'a Type)>,
}

/// A variant that contains an entity.
pub(crate) struct Member<'a> {
    /// The name of the variant.
    pub(crate) ident: &'a Ident,
    /// The type of the entity.
    pub(crate) ty: &'a Type,
    /// Earlier versions of the entity type, converted on read.
    pub(crate) upgrades: Vec<Path>,
}

impl<'a> EntitySet<'a> {
    /// Reads a declaration. Reports the reason and returns `None` if it cannot be a set.
    pub(crate) fn read(ctxt: &Ctxt, input: &'a DeriveInput, runtime: impl FnOnce() -> Path) -> Option<Self> {
        let attrs = member::parse_set(ctxt, &input.attrs);
        let Data::Enum(data) = &input.data else {
            let help = format!(
                "write one variant for each type: `enum {0} {{ Employee(Employee), #[other] Other({1}::TableEntity) }}`",
                input.ident,
                runtime::name()
            );
            ctxt.error("T010", &input.ident, "an entity set must be an enum", help);
            return None;
        };
        shape::no_parameters(ctxt, input, "an entity set", "write one enum for each table")?;
        let (mut members, mut other) = (Vec::new(), None);
        let (mut lacks_member, mut lacks_other) = (true, true);
        for variant in &data.variants {
            let ident = &variant.ident;
            let MemberAttrs { other: is_other, upgrades } = member::parse_member(ctxt, &variant.attrs);
            let lacks = if is_other.is_some() { &mut lacks_other } else { &mut lacks_member };
            *lacks = false;
            let ty = match &variant.fields {
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    fields.unnamed.first().map(|it| &it.ty)
                }
                _ => None,
            };
            let Some(ty) = ty else {
                // If the last variant has no fields, it is probably meant for rows of other types.
                let is_last = data.variants.last().is_some_and(|last| last.ident == *ident);
                let is_meant = lacks_other && is_last && matches!(variant.fields, Fields::Unit);
                lacks_other &= !is_meant;
                let what = if is_other.is_some() { "bag" } else { "entity" };
                let help = if is_other.is_some() {
                    format!("write the {what} it holds: `{ident}({}::TableEntity)`", runtime::name())
                } else if is_meant {
                    format!(
                        "write `#[other] {ident}({}::TableEntity)` for the rows of other types",
                        runtime::name()
                    )
                } else if matches!(variant.fields, Fields::Named(_)) {
                    format!(
                        "declare the fields in a struct `{ident}` that derives `Entity`, and write `{ident}({ident})`"
                    )
                } else {
                    format!("write the {what} it holds: `{ident}({ident})`")
                };
                ctxt.error("T101", ident, format!("the variant `{ident}` does not hold one {what}"), help);
                continue;
            };
            let Some(attr) = is_other else {
                let upgrades = upgrades.into_iter().map(|(_, from)| from).collect();
                members.push(Member { ident, ty, upgrades });
                continue;
            };
            if let Some((upgrade, _)) = upgrades.first() {
                let wrong = "`upgrade` cannot be on `#[other]`: rows of unknown type have no earlier version";
                ctxt.error(
                    "T112",
                    upgrade,
                    wrong,
                    "write `#[upgrade(…)]` above the variant of the new version",
                );
            }
            if other.is_some() {
                ctxt.error("T002", attr, "duplicate `other`", "one variant collects all rows of other types");
            } else {
                other = Some((ident, ty));
            }
        }
        let set = Self { original: input, runtime: attrs.runtime.unwrap_or_else(runtime), members, other };
        set.check(ctxt, lacks_member, lacks_other);
        Some(set)
    }

    /// Returns the types of the members and of their earlier versions, in the order in which they are tried.
    pub(crate) fn types(&self) -> impl Iterator<Item = &dyn ToTokens> {
        self.members.iter().flat_map(|member| {
            let upgrades = member.upgrades.iter().map(|from| from as &dyn ToTokens);
            std::iter::once(member.ty as &dyn ToTokens).chain(upgrades)
        })
    }

    fn check(&self, ctxt: &Ctxt, lacks_member: bool, lacks_other: bool) {
        let ident = &self.original.ident;
        if lacks_other {
            let help = format!("add a variant for them: `#[other] Other({}::TableEntity)`", runtime::name());
            let wrong = format!("`{ident}` has no variant for entities of unknown type (PAT-HET-6)");
            ctxt.error("T100", ident, wrong, help);
        }
        if lacks_member {
            let help = "add a variant for each type: `Employee(Employee)`";
            ctxt.error("T111", ident, format!("`{ident}` has no members"), help);
        }
        let types: Vec<_> = self.types().map(|ty| (ty, ty.to_token_stream().to_string())).collect();
        for (at, (ty, text)) in types.iter().enumerate() {
            if types.iter().take(at).any(|(_, earlier)| earlier == text) {
                ctxt.error("T102", ty, format!("`{text}` is in this set twice"), "each type has one variant");
            }
        }
    }
}
