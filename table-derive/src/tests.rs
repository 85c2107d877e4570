//! Tests of the derive macros: snapshots of expansions, lists of reported errors, and determinism of the output.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse_quote;

use crate::derive;

mod columns;
mod fault_derive;
mod partial;
mod pasted;
mod proposed;
mod registered;
mod secrets;
mod timestamps;
mod wrong;

fn entity(input: TokenStream) -> String {
    let tokens = derive::entity(input, || parse_quote!(::table_core));
    let file = syn::parse2(tokens).expect("the expansion is items");
    prettyplease::unparse(&file)
}

/// Returns each error message without its help text.
fn mistakes(input: TokenStream) -> Vec<String> {
    let expansion = entity(input);
    let messages = expansion.split("compile_error!").skip(1).filter_map(|rest| {
        let (message, _) = rest.split_once("\\n\\nhelp: ")?;
        Some(message.split_once('"')?.1.to_owned())
    });
    messages.collect()
}

fn small() -> TokenStream {
    quote! {
        #[partition_key(department)]
        #[row_key("empid_", id)]
        pub struct Employee {
            department: String,
            #[digits(6)]
            id: u32,
            /// The age in years.
            pub age: i32,
        }
    }
}

fn company() -> TokenStream {
    quote! {
        #[entity(table = "Company")]
        #[partition_key(department)]
        #[row_key("empid_", id)]
        #[index(ByEmail, unique, row_key("email_", email))]
        #[index(EmailDirectory, unique, partition_key("email_", department), row_key(email), include(first_name, last_name))]
        #[index_entity(ByLastName, at_most = 100, row_key("lastname_", last_name))]
        struct Employee {
            department: String,
            #[digits(6)]
            #[property("EmployeeId")]
            id: u32,
            first_name: String,
            last_name: String,
            age: i32,
            #[property("EmailAddress")]
            email: String,
        }
    }
}

fn spread() -> TokenStream {
    quote! {
        #[partition_key("login_", bucket(user, 16), "_", day)]
        #[row_key(desc(at), "_", user)]
        struct Login {
            user: u64,
            day: chrono::NaiveDate,
            at: chrono::DateTime<chrono::Utc>,
            #[property(json)]
            details: std::collections::BTreeMap<String, String>,
        }
    }
}

fn levels() -> TokenStream {
    quote! {
        #[partition_key(tenant, user, digits(5, session))]
        #[row_key("")]
        struct Event {
            tenant: String,
            user: UserId,
            session: u32,
        }
    }
}

#[test]
fn expansion_of_three_levels() {
    insta::assert_snapshot!(entity(levels()));
}

#[test]
fn hpk_9_an_allowed_first_level_is_not_checked() {
    assert!(entity(levels()).contains("require_cardinality"));
    let allowed = levels();
    let allowed = entity(quote!(#[entity(allow(low_cardinality, reason = "two tenants"))] #allowed));
    assert!(!allowed.contains("require_cardinality"));
}

#[test]
fn pat_anti_1_an_allowed_hot_partition_is_not_checked() {
    assert!(entity(levels()).contains("require_spread") && !entity(spread()).contains("require_spread"));
    let levels = levels();
    assert!(
        !entity(quote!(#[entity(allow(hot_partition, reason = "few"))] #levels)).contains("require_spread")
    );
    let constant = quote!(
        #[partition_key("all")]
        #[row_key(id)]
        struct Setting {
            id: u32,
        }
    );
    assert_eq!(mistakes(constant.clone()).len(), 1);
    assert!(mistakes(quote!(#[entity(allow(hot_partition, reason = "ten rows"))] #constant)).is_empty());
}

#[test]
fn each_lint_is_allowed_once_and_with_one_reason() {
    let levels = levels();
    let allow = |words: TokenStream| mistakes(quote!(#[entity(allow(#words))] #levels));
    assert!(allow(quote!(low_cardinality, reason = "two tenants",)).is_empty());
    assert_eq!(
        allow(quote!(low_cardinality, low_cardinality, reason = "a")),
        ["[T002] duplicate `low_cardinality`"]
    );
    assert_eq!(allow(quote!(low_cardinality, reason = "a", reason = "b")), ["[T002] duplicate `reason`"]);
    assert_eq!(
        allow(quote!(few, reason = "")),
        ["[T001] unknown word `few` in `allow`", "[T006] the `reason` is empty"]
    );
    let twice = quote!(#[entity(allow(low_cardinality, reason = "a"), allow(low_cardinality, reason = "b"))]);
    assert_eq!(mistakes(quote!(#twice #levels)), ["[T002] duplicate `low_cardinality`"]);
}

#[test]
fn a_lookup_takes_the_value_but_not_the_sort_fields() {
    let arguments = |key: TokenStream| {
        let expansion = entity(quote! {
            #[partition_key(department)]
            #[row_key("ticket_", id)]
            #[index(ByAgent, row_key(#key))]
            struct Ticket { department: String, id: u32, agent: String, created: DateTime<Utc> }
        });
        let (_, after) = expansion.split_once("fn by_agent(").expect("the look-up");
        let arguments = after.split_once("->").expect("a result").0;
        ["department:", "agent:", "created:", "id:"].map(|name| arguments.contains(name))
    };
    assert_eq!(
        arguments(quote!("agent_", escaped(agent), "!", desc(created), "_", id)),
        [true, true, false, false]
    );
    assert_eq!(arguments(quote!("agent_", escaped(agent), "!", created, "_", id)), [true, true, true, false]);
    assert_eq!(arguments(quote!("at_", desc(created), "_", id)), [true, false, true, false]);
}

#[test]
fn levels_are_fields_without_a_literal_between_them() {
    let levels_of = |key: TokenStream| {
        let expansion = entity(quote! {
            #[partition_key(#key)]
            #[row_key(d)]
            struct Event { a: String, b: String, c: String, d: u8 }
        });
        (expansion.contains("require_levels"), expansion.contains("fn within"))
    };
    assert_eq!(levels_of(quote!(a, b)), (true, true));
    assert_eq!(levels_of(quote!(escaped(a), b, c)), (true, true));
    for compound in [quote!(a), quote!(a, "!", b), quote!("v1_", a, b), quote!(a, b, "")] {
        assert_eq!(levels_of(compound), (false, false));
    }
}

#[test]
fn expansion_of_three_fields() {
    insta::assert_snapshot!(entity(small()));
}

#[test]
fn expansion_of_the_running_example() {
    insta::assert_snapshot!(entity(company()));
}

#[test]
fn expansion_of_a_spread_partition() {
    insta::assert_snapshot!(entity(spread()));
}

#[test]
fn expansion_of_a_set() {
    let set = quote! {
        pub enum Staff {
            #[upgrade(from = EmployeeV1)]
            Employee(Employee),
            Review(Review),
            #[other]
            Unknown(TableEntity),
        }
    };
    let tokens = derive::entity_set(set, || parse_quote!(::table_core));
    insta::assert_snapshot!(prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is items")));
}

#[test]
fn expansion_of_a_group() {
    let group = quote! {
        #[entity_group(under = Employee)]
        pub struct EmployeeWithReviews {
            employee: One<Employee>,
            reviews: Many<Review>,
            #[other]
            rest: Vec<TableEntity>,
        }
    };
    let tokens = derive::entity_group(group, || parse_quote!(::table_core));
    insta::assert_snapshot!(prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is items")));
}

fn large(input: TokenStream) -> String {
    let tokens = derive::large(input, || parse_quote!(::table_patterns));
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is items"))
}

#[test]
fn expansion_of_an_entity_with_blobs() {
    insta::assert_snapshot!(large(quote! {
        #[partition_key(department)]
        #[row_key(id)]
        pub struct Employee {
            department: String,
            id: u32,
            #[blob]
            pub photo: Option<BlobRef>,
            #[blob]
            #[property("Resume")]
            cv: Option<BlobRef>,
        }
    }));
}

fn wide(input: TokenStream) -> String {
    let tokens = derive::wide(input, || parse_quote!(::table_patterns));
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is items"))
}

fn year() -> TokenStream {
    quote! {
        #[entity(table = "MessageCounts")]
        #[partition_key(employee)]
        #[row_key(year)]
        pub struct YearOfCounts {
            #[digits(6)]
            pub employee: u32,
            #[digits(4)]
            year: u16,
            pub office: Option<String>,
            #[property("Notes", json)]
            notes: Vec<String>,
            #[slots("Day", 1..=366)]
            days: [Option<i32>; 366],
        }
    }
}

#[test]
fn expansion_of_a_wide_entity() {
    insta::assert_snapshot!(wide(year()));
}

#[test]
fn pat_wide_1_parts_end_where_they_are_full_or_where_declared() {
    let parts = |fields: TokenStream, kind: TokenStream| {
        let expansion = wide(quote! {
            #kind
            #[partition_key(a)]
            #[row_key(b)]
            struct Table { a: u32, b: u32, #fields }
        });
        assert!(!expansion.contains("compile_error"), "{expansion}");
        let counts = expansion.split("const __PART_").skip(1);
        let counts =
            counts.filter_map(|rest| rest.split_once("usize]")?.0.split_once("str; ")?.1.parse().ok());
        counts.collect::<Vec<usize>>()
    };
    let slots = |count: usize| quote!(c: bool, #[slots("S", 1..=#count)] d: Vec<i32>,);
    let plain = |fields| parts(fields, TokenStream::new());
    assert_eq!(plain(slots(250)), [251]);
    assert_eq!(plain(slots(251)), [251, 1]);
    assert_eq!(plain(slots(99 * 251 - 1)).len(), 99);
    // The first part also contains the kind and all fields that the key contains only as a bucket.
    assert_eq!(parts(slots(251), quote!(#[entity(kind = "T")])), [250, 2]);
    let with_parts = quote! {
        c: bool,
        #[slots("S", 1..=5)]
        d: Vec<i32>,
        #[part(2)]
        #[slots("S", 6..=9)]
        e: Vec<i32>,
        f: bool,
    };
    assert_eq!(plain(with_parts), [6, 5]);
}

#[test]
fn the_same_input_gives_the_same_output() {
    for input in [small, company, spread, levels] {
        assert_eq!(entity(input()), entity(input()));
    }
}

#[test]
fn all_mistakes_are_reported_together_and_each_once() {
    let found = mistakes(quote! {
        #[entity(tabel = "Company")]
        #[partition_key(departmnt)]
        #[row_key("empid/", digts(6, id))]
        struct Employee {
            department: String,
            #[digits(6)]
            #[escaped]
            id: u32,
            #[property(jsn)]
            age: i32,
        }
    });
    assert_eq!(
        found,
        [
            "[T001] unknown word `tabel` in `entity`",
            "[T001] unknown codec `digts`",
            "[T002] duplicate `codec`",
            "[T001] unknown word `jsn` in `property`",
            "[T005] the struct does not have a field `departmnt`",
            "[T024] a key cannot contain '/' (KEY-3)",
        ]
    );
}

#[test]
fn a_type_that_is_not_a_struct_is_reported_without_a_stub() {
    assert_eq!(
        mistakes(quote!(
            enum Employee {
                A,
            }
        )),
        ["[T010] an entity must be a struct"]
    );
    assert_eq!(
        mistakes(quote!(
            struct Employee(u32);
        )),
        ["[T010] an entity must be a struct with named fields"]
    );
}

#[test]
fn ent_2_property_253_is_the_reported_one() {
    let fields = |count: usize| {
        let fields = (0..count).map(|at| quote::format_ident!("slot_{at}"));
        quote! {
            #[partition_key(employee)]
            #[row_key("2014")]
            struct Days { employee: u32, #(#fields: i32),* }
        }
    };
    assert!(mistakes(fields(252)).is_empty());
    assert_eq!(
        mistakes(fields(254)),
        ["[T055] this is property 253 of 254; an entity has at most 252 (ENT-2)"]
    );
}

/// Returns the errors in an entity with `count` properties, one of which is in the key of an index with these settings.
fn mistakes_of_size(count: usize, index: &TokenStream) -> Vec<String> {
    let fields = (1..count).map(|at| quote::format_ident!("value{at}"));
    mistakes(quote! {
        #[partition_key(department)]
        #[row_key("empid_", id)]
        #[index(ByEmail, unique, #index)]
        struct Employee {
            department: String,
            id: u32,
            email: String,
            #(#fields: i32,)*
        }
    })
}

#[test]
fn ent_2_properties_of_copies_are_counted() {
    // A copy in another table also stores both fields of the entity's key, and has `email` in its own key.
    let elsewhere = quote!(table = "Emails", partition_key(email), row_key("email"));
    assert_eq!(mistakes_of_size(250, &elsewhere), Vec::<String>::new());
    assert_eq!(mistakes_of_size(251, &elsewhere), Vec::<String>::new());
    assert_eq!(
        mistakes_of_size(252, &elsewhere),
        ["[T055] each copy in `ByEmail` has 253 properties; a row has at most 252 (ENT-2)"]
    );
    // A copy in its entity's partition stores only the `id`.
    assert!(mistakes_of_size(252, &quote!(row_key("email_", email))).is_empty());
    // A copy that includes some fields is small.
    let included = quote!(table = "Emails", partition_key(email), row_key("email"), include(value1));
    assert!(mistakes_of_size(252, &included).is_empty());
    assert_eq!(
        mistakes_of_size(253, &included),
        ["[T055] this is property 253 of 253; an entity has at most 252 (ENT-2)"]
    );
}

#[test]
fn the_names_of_all_variants_have_a_limit() {
    let mistakes = |count: usize, last: usize| {
        let named = (0..count).map(|at| {
            let length = if at + 1 == count { last } else { 99 };
            let (ident, name) = (quote::format_ident!("V{at}"), format!("{at:0length$}"));
            quote!(#[key_part(#name)] #ident)
        });
        let expansion = derive::key_part(quote!(enum Shelf { #(#named),* }), || parse_quote!(::table_core));
        expansion.to_string().matches("[T034] the names of the variants up to `V40`").count()
    };
    // The combined length: 40 names of 99 bytes, each followed by one byte, and the last name.
    assert_eq!((mistakes(41, 88), mistakes(41, 89), mistakes(42, 99)), (0, 1, 1));
}
