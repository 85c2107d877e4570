//! Runs the steps of each derive macro: parses, checks and expands the declaration, and reports its errors.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Path, Visibility};

use crate::check;
use crate::ctxt::Ctxt;
use crate::expand;
use crate::model::Entity;
use crate::model::group::EntityGroup;
use crate::model::key_part::KeyPart;
use crate::model::large::Large;
use crate::model::projection::Projection;
use crate::model::set::EntitySet;
use crate::model::wide::Wide;
use crate::self_type;

/// The output of a derive macro, apart from errors.
struct Expansion {
    /// The field names in the declaration's attributes, repeated for use by editors. They come first in the output.
    names: Option<TokenStream>,
    items: TokenStream,
}

impl Expansion {
    /// Creates the expansion of a declaration whose attributes contain no field names.
    fn of(items: TokenStream) -> Self {
        Self { names: None, items }
    }
}

/// Expands `#[derive(Entity)]`. If the declaration is invalid, the output consists of all errors and a stub with the same traits and functions, which prevents
/// follow-up errors.
pub(crate) fn entity(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    let read = |ctxt: &Ctxt, input: &DeriveInput| {
        if check::is_wide(ctxt, input) {
            return None;
        }
        let entity = Entity::read(ctxt, input, runtime)?;
        check::check(ctxt, &entity);
        let items = if ctxt.is_sound() {
            let serde =
                expand::derives_serde(input, &entity.runtime, |word, text| entity.in_place_of(word, text));
            let items = expand::entity(&entity);
            quote!(#items #serde)
        } else {
            expand::stub(&entity)
        };
        Some(Expansion { names: Some(expand::named(&entity)), items })
    };
    derive(input, read)
}

/// Expands `#[derive(KeyPart)]`.
pub(crate) fn key_part(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let part = KeyPart::read(ctxt, input, runtime)?;
        check::check_inside(ctxt, &part);
        Some(Expansion::of(if ctxt.is_sound() {
            let serde = expand::derives_serde(input, &part.runtime, |_, _| None);
            let items = expand::key_part(&part);
            quote!(#items #serde)
        } else {
            expand::key_part_stub(&part)
        }))
    })
}

/// Expands `#[derive(Projection)]`.
pub(crate) fn projection(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let projection = Projection::read(ctxt, input, runtime)?;
        Some(Expansion::of(if ctxt.is_sound() {
            let serde = expand::derives_serde(input, &projection.runtime, |_, _| None);
            let items = expand::projection(&projection);
            quote!(#items #serde)
        } else {
            expand::projection_stub(&projection)
        }))
    })
}

/// Expands `#[derive(EntitySet)]`.
pub(crate) fn entity_set(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let set = EntitySet::read(ctxt, input, runtime)?;
        Some(Expansion::of(if ctxt.is_sound() {
            let serde = expand::derives_serde(input, &set.runtime, |word, _| {
                (word == "tag").then(|| "remove it: the kind of an entity is declared by `#[entity(kind = \"…\")]` above its struct".to_owned())
            });
            let items = expand::set(&set);
            quote!(#items #serde)
        } else {
            expand::set_stub(&set)
        }))
    })
}

/// Expands `#[derive(EntityGroup)]`.
pub(crate) fn entity_group(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let group = EntityGroup::read(ctxt, input, runtime)?;
        Some(Expansion::of(if ctxt.is_sound() { expand::group(&group) } else { expand::group_stub(&group) }))
    })
}

/// Expands `#[derive(Large)]`.
pub(crate) fn large(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let large = Large::read(ctxt, input, runtime)?;
        Some(Expansion::of(expand::large(&large)))
    })
}

/// Expands `#[derive(Wide)]`.
pub(crate) fn wide(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let wide = Wide::read(ctxt, input, runtime)?;
        check::check_wide(ctxt, &wide);
        let header = wide.header_input();
        let header = wide.header(&header)?;
        let items =
            if ctxt.is_sound() { expand::wide(&wide, &header) } else { expand::wide_stub(&wide, &header) };
        Some(Expansion { names: Some(expand::named(&wide.entity)), items })
    })
}

/// Parses the declaration, runs `read` on it, and adds the reported errors to the output. `read` returns `None` if not even a stub can be generated.
fn derive(input: TokenStream, read: impl FnOnce(&Ctxt, &DeriveInput) -> Option<Expansion>) -> TokenStream {
    let mut input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    without_visibility_spans(&mut input);
    self_type::replace(&mut input);
    let ctxt = Ctxt::new();
    let (names, items) = read(&ctxt, &input).map(|read| (read.names, read.items)).unzip();
    let (names, mistakes) = (names.flatten(), ctxt.check().err().map(syn::Error::into_compile_error));
    quote!(#names #mistakes #items)
}

/// Replaces the spans of visibilities with the macro's call site. If a generated function starts with the struct's `pub` and contains a field's type, rustc
/// treats the function as user-written. It would then report a wrong field type twice: at the field, and for the entire function.
fn without_visibility_spans(input: &mut DeriveInput) {
    let fields = match &mut input.data {
        Data::Struct(data) => Some(data.fields.iter_mut().map(|field| &mut field.vis)),
        Data::Enum(_) | Data::Union(_) => None,
    };
    for vis in fields.into_iter().flatten().chain([&mut input.vis]) {
        match vis {
            Visibility::Public(word) => word.span = Span::call_site(),
            Visibility::Restricted(restricted) => restricted.pub_token.span = Span::call_site(),
            Visibility::Inherited => {}
        }
    }
}
