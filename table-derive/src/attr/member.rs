//! The attributes of sets and groups: `#[entity_set(crate = …)]`, `#[entity_group(under = Employee)]`, `#[other]`,
//! `#[upgrade(from = OldEmployee)]`.

use syn::{Attribute, Path};

use crate::attr::Slot;
use crate::ctxt::Ctxt;
use crate::grammar::{self, Words};
use crate::symbol::{CRATE, ENTITY_GROUP, ENTITY_SET, FROM, OTHER, Symbol, UNDER, UPGRADE};

/// The parsed attributes of a set or group.
pub(crate) struct ContainerAttrs {
    /// The entity type in `under = Employee`.
    pub(crate) under: Option<Path>,
    /// The path in `crate = …`.
    pub(crate) runtime: Option<Path>,
}

/// The parsed attributes of a variant or field.
pub(crate) struct MemberAttrs {
    /// The `#[other]` attribute, which marks the variant or field for rows of all other types.
    pub(crate) other: Option<Attribute>,
    /// The paths in `#[upgrade(from = OldEmployee)]`, in order.
    pub(crate) upgrades: Vec<(Attribute, Path)>,
}

/// The words accepted by `#[entity_set(…)]`.
const SET: Words = Words {
    of: ENTITY_SET,
    form: "#[entity_set(crate = path::to::table_core)]",
    known: &[(CRATE, "crate = path::to::table_core")],
    suggested: &[
        ("tag", "declare the kind on each entity: `#[entity(kind = \"Employee\")]`"),
        ("table", "remove it: the table of a set is that of its members"),
        ("of", "remove it: the members are the variants, `Employee(Employee)`"),
    ],
};

/// The words accepted by `#[entity_group(…)]`.
const GROUP: Words = Words {
    of: ENTITY_GROUP,
    form: "#[entity_group(under = Employee)]",
    known: &[(UNDER, "under = Employee"), (CRATE, "crate = path::to::table_core")],
    suggested: &[
        ("owner", "write `under = Employee`"),
        ("of", "write `under = Employee`"),
        ("parent", "write `under = Employee`"),
    ],
};

/// The words accepted by `#[upgrade(…)]`.
const UPGRADED: Words = Words {
    of: UPGRADE,
    form: "#[upgrade(from = OldEmployee)]",
    known: &[(FROM, "from = OldEmployee")],
    suggested: &[("of", "write `from = OldEmployee`")],
};

/// Parses the attributes of a set.
pub(crate) fn parse_set(ctxt: &Ctxt, attrs: &[Attribute]) -> ContainerAttrs {
    let mut runtime = Slot::empty(CRATE.0);
    for attr in attrs {
        if attr.path() == &ENTITY_SET {
            paths(ctxt, attr, &SET, &mut [(CRATE, &mut runtime)]);
        }
        refuse_member_attribute(ctxt, attr, "its variant");
    }
    ContainerAttrs { under: None, runtime: runtime.take() }
}

/// Parses the attributes of a group.
pub(crate) fn parse_group(ctxt: &Ctxt, attrs: &[Attribute]) -> ContainerAttrs {
    let (mut under, mut runtime) = (Slot::empty(UNDER.0), Slot::empty(CRATE.0));
    for attr in attrs {
        if attr.path() == &ENTITY_GROUP {
            paths(ctxt, attr, &GROUP, &mut [(UNDER, &mut under), (CRATE, &mut runtime)]);
        }
        refuse_member_attribute(ctxt, attr, "its field");
    }
    ContainerAttrs { under: under.take(), runtime: runtime.take() }
}

fn refuse_member_attribute(ctxt: &Ctxt, attr: &Attribute, place: &str) {
    for word in [OTHER, UPGRADE].iter().filter(|word| attr.path() == *word) {
        ctxt.error("T003", attr, format!("`{word}` belongs on a member"), format!("write it above {place}"));
    }
}

/// Parses the attributes of a variant or field.
pub(crate) fn parse_member(ctxt: &Ctxt, attrs: &[Attribute]) -> MemberAttrs {
    let (mut other, mut upgrades) = (Slot::empty(OTHER.0), Vec::new());
    for attr in attrs {
        if attr.path() == &OTHER {
            if attr.meta.require_path_only().is_err() {
                ctxt.error("T004", attr, "`other` takes no arguments", "write `#[other]`");
            }
            other.set(ctxt, attr, attr.clone(), "write `#[other]` once");
        } else if attr.path() == &UPGRADE {
            let mut from = Slot::empty(FROM.0);
            paths(ctxt, attr, &UPGRADED, &mut [(FROM, &mut from)]);
            upgrades.extend(from.take().map(|from| (attr.clone(), from)));
        }
    }
    MemberAttrs { other: other.take(), upgrades }
}

/// Parses `word = path, …`. Returns `false` if any item was invalid.
pub(super) fn paths(
    ctxt: &Ctxt,
    attr: &Attribute,
    words: &Words,
    slots: &mut [(Symbol, &mut Slot<Path>)],
) -> bool {
    words.read(ctxt, attr, |word, input| {
        let path = grammar::value(input, Path::parse_mod_style)?;
        for (_, slot) in slots.iter_mut().filter(|(known, _)| word == *known) {
            slot.set(ctxt, word, path.clone(), format!("write `{word} = …` once"));
        }
        Ok(())
    })
}
