//! Replaces `Self` in the types of fields by the name of the struct, because generated code repeats these types outside the `impl`s of the struct.

use syn::{Data, DeriveInput, Expr, GenericArgument, Ident, Path, PathArguments, QSelf, Type};

/// Replaces `Self` in the types of all fields. The types of a generic struct are left unchanged: generated code repeats them only in its `impl`s.
pub(crate) fn replace(input: &mut DeriveInput) {
    if let (Data::Struct(data), true) = (&mut input.data, input.generics.params.is_empty()) {
        data.fields.iter_mut().for_each(|field| in_type(&mut field.ty, &input.ident));
    }
}

fn in_type(ty: &mut Type, name: &Ident) {
    match ty {
        Type::Path(path) => in_path(path.qself.as_mut(), &mut path.path, name),
        Type::Array(array) => {
            in_type(&mut array.elem, name);
            if let Expr::Path(length) = &mut array.len {
                in_path(length.qself.as_mut(), &mut length.path, name);
            }
        }
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| in_type(ty, name)),
        Type::Slice(slice) => in_type(&mut slice.elem, name),
        Type::Reference(reference) => in_type(&mut reference.elem, name),
        Type::Paren(paren) => in_type(&mut paren.elem, name),
        Type::Group(group) => in_type(&mut group.elem, name),
        _ => {}
    }
}

fn in_path(qself: Option<&mut QSelf>, path: &mut Path, name: &Ident) {
    if let Some(first) = path.segments.first_mut().filter(|first| first.ident == "Self") {
        let span = first.ident.span();
        first.ident = name.clone();
        first.ident.set_span(span);
    }
    if let Some(qself) = qself {
        in_type(&mut qself.ty, name);
    }
    for segment in &mut path.segments {
        let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
        for argument in &mut arguments.args {
            match argument {
                GenericArgument::Type(ty) => in_type(ty, name),
                GenericArgument::AssocType(assigned) => in_type(&mut assigned.ty, name),
                _ => {}
            }
        }
    }
}
