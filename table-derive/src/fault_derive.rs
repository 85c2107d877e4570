//! `#[derive(Fault)]`: reads the code and the rule of each error from the attributes of its variant.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Path, Result, Token};

/// The arguments of `#[fault(Code, "RULE")]`: a code, a rule, or both.
#[derive(Clone, Default)]
struct Arguments {
    code: Option<Ident>,
    rule: Option<Rule>,
}

/// The rule whose violation an error reports.
#[derive(Clone)]
enum Rule {
    Text(LitStr),
    /// The field that contains the rule.
    Field(Ident),
}

/// Expands `#[derive(Fault)]`.
pub(crate) fn derive(input: TokenStream, runtime: impl FnOnce() -> Path) -> TokenStream {
    let expanded = syn::parse2(input).and_then(|input: DeriveInput| expand(&input, &runtime()));
    expanded.unwrap_or_else(Error::into_compile_error)
}

fn expand(input: &DeriveInput, runtime: &Path) -> Result<TokenStream> {
    let shared = Arguments::of(&input.attrs)?;
    let body = match &input.data {
        Data::Struct(data) => {
            let arguments = shared.named(input)?;
            let (pattern, result) = arm(&arguments, &data.fields, runtime);
            quote!(let Self #pattern = self; #result)
        }
        Data::Enum(data) => {
            let arms = data.variants.iter().map(|variant| {
                let arguments = Arguments::of(&variant.attrs)?.or(&shared).named(variant)?;
                let (name, (pattern, result)) = (&variant.ident, arm(&arguments, &variant.fields, runtime));
                Ok(quote!(Self::#name #pattern => { #result }))
            });
            let arms = arms.collect::<Result<Vec<_>>>()?;
            quote!(match self { #(#arms)* })
        }
        Data::Union(data) => {
            return Err(Error::new(data.union_token.span, "`Fault` is derived for structs and enums"));
        }
    };
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #generics #runtime::Fault for #name #arguments #bounds {
            fn code_and_rule(&self) -> (#runtime::ErrorCode, ::core::option::Option<&'static str>) {
                #body
            }
        }
    })
}

/// Returns the two sides of a match arm: the pattern, which binds the fields that the result needs, and the result.
fn arm(arguments: &Named, fields: &Fields, runtime: &Path) -> (TokenStream, TokenStream) {
    let code = &arguments.code;
    let (read, rule) = match &arguments.rule {
        None => (None, quote!(::core::option::Option::None)),
        Some(Rule::Text(text)) => (None, quote!(::core::option::Option::Some(#text))),
        Some(Rule::Field(field)) => (Some(field), quote!(::core::option::Option::Some(*#field))),
    };
    let pattern = match (fields, read) {
        (Fields::Unit, _) => TokenStream::new(),
        (Fields::Unnamed(_), _) => quote!((..)),
        (Fields::Named(_), None) => quote!({ .. }),
        (Fields::Named(_), Some(field)) => quote!({ #field, .. }),
    };
    (pattern, quote!((#runtime::ErrorCode::#code, #rule)))
}

/// The arguments of a variant, including its code.
struct Named {
    code: Ident,
    rule: Option<Rule>,
}

impl Arguments {
    fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut found = attributes.iter().filter(|attribute| attribute.path().is_ident("fault"));
        let arguments = found.next().map(Attribute::parse_args).transpose()?;
        match found.next() {
            Some(second) => Err(Error::new(second.span(), "`#[fault(…)]` is given twice; write it once")),
            None => Ok(arguments.unwrap_or_default()),
        }
    }

    /// Returns these arguments if they contain a code. Otherwise, uses the code of `shared`, and also its rule if these arguments have none.
    fn or(self, shared: &Self) -> Self {
        match self.code {
            Some(_) => self,
            None => Self { code: shared.code.clone(), rule: self.rule.or_else(|| shared.rule.clone()) },
        }
    }

    fn named(self, of: &impl Spanned) -> Result<Named> {
        let missing = "an error has a code: write `#[fault(InvalidInput)]`, with the `ErrorCode` of this error, here or on the enum";
        let code = self.code.ok_or_else(|| Error::new(of.span(), missing))?;
        Ok(Named { code, rule: self.rule })
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        if !input.peek(LitStr) {
            arguments.code = Some(input.parse()?);
            if input.is_empty() {
                return Ok(arguments);
            }
            input.parse::<Token![,]>()?;
        }
        let is_text = input.peek(LitStr);
        arguments.rule = Some(if is_text { Rule::Text(input.parse()?) } else { Rule::Field(input.parse()?) });
        Ok(arguments)
    }
}
