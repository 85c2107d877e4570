//! Tests of `#[derive(Fault)]`: its expansion, and the errors it reports.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse_quote;

use crate::fault_derive;

fn expand(input: TokenStream) -> String {
    let tokens = fault_derive::derive(input, || parse_quote!(::table_core));
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is items"))
}

#[test]
fn each_variant_has_its_code_and_rule() {
    insta::assert_snapshot!(expand(quote! {
        #[fault(InvalidInput, "CARD-1")]
        enum CardFault {
            Length(usize),
            #[fault("CARD-2")]
            Digit { found: char },
            #[fault(Corrupted)]
            Stored,
            #[fault(NotImplemented, rule)]
            Kind { rule: &'static str, name: String },
        }
    }));
}

#[test]
fn a_struct_has_one_code() {
    insta::assert_snapshot!(expand(quote! {
        #[fault(Io)]
        struct Stopped(Step);
    }));
}

#[test]
fn mistakes_are_reported_with_the_right_form() {
    let mistakes = [
        quote!(
            enum NoCode {
                #[fault("CARD-1")]
                Length,
            }
        ),
        quote!(
            #[fault(Io)]
            #[fault(InvalidInput)]
            struct Twice;
        ),
        quote!(
            #[fault(Io, 7)]
            struct Number;
        ),
        quote!(
            union Either {
                left: u8,
                right: u8,
            }
        ),
    ];
    insta::assert_snapshot!(mistakes.map(expand).join("\n"));
}
