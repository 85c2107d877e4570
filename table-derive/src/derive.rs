//! The pipeline of each derive: parse, check, expand, and its output after errors.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Path};

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

/// `#[derive(Entity)]`. After a mistake: all mistakes, and a stub with the same traits and functions, so that each is told once and nothing
/// else is told because of it.
pub(crate) fn entity(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    let read = |ctxt: &Ctxt, input: &DeriveInput| {
        let entity = Entity::read(ctxt, input, runtime)?;
        check::check(ctxt, &entity);
        Some((expand::entity(&entity), expand::stub(&entity)))
    };
    derive(input, read)
}

/// `#[derive(KeyPart)]`.
pub(crate) fn key_part(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let part = KeyPart::read(ctxt, input, runtime)?;
        Some((expand::key_part(&part), expand::key_part_stub(&part)))
    })
}

/// `#[derive(Projection)]`.
pub(crate) fn projection(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let projection = Projection::read(ctxt, input, runtime)?;
        Some((expand::projection(&projection), expand::projection_stub(&projection)))
    })
}

/// `#[derive(EntitySet)]`.
pub(crate) fn entity_set(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let set = EntitySet::read(ctxt, input, runtime)?;
        Some((expand::set(&set), expand::set_stub(&set)))
    })
}

/// `#[derive(EntityGroup)]`.
pub(crate) fn entity_group(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let group = EntityGroup::read(ctxt, input, runtime)?;
        Some((expand::group(&group), expand::group_stub(&group)))
    })
}

/// `#[derive(Large)]`.
pub(crate) fn large(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let large = Large::read(ctxt, input, runtime)?;
        let expansion = expand::large(&large);
        Some((expansion.clone(), expansion))
    })
}

/// `#[derive(Wide)]`.
pub(crate) fn wide(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    derive(input, |ctxt, input| {
        let wide = Wide::read(ctxt, input, runtime)?;
        check::check_wide(ctxt, &wide);
        let header = wide.header_input();
        let header = wide.header(&header)?;
        Some((expand::wide(&wide, &header), expand::wide_stub(&wide, &header)))
    })
}

/// Gives the expansion, or the mistakes and the stub. `read` gives both; `None` if not even a stub makes sense.
fn derive(
    input: TokenStream,
    read: impl FnOnce(&Ctxt, &DeriveInput) -> Option<(TokenStream, TokenStream)>,
) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let ctxt = Ctxt::new();
    let read = read(&ctxt, &input);
    match (ctxt.check(), read) {
        (Ok(()), read) => read.map(|(expansion, _)| expansion).unwrap_or_default(),
        (Err(mistakes), read) => {
            let stub = read.map(|(_, stub)| stub);
            let mistakes = mistakes.into_compile_error();
            quote!(#mistakes #stub)
        }
    }
}
