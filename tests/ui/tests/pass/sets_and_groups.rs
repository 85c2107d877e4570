//! A public set and a public group of private types compile without warnings and without the prelude.
#![deny(warnings)]
#![no_implicit_prelude]

mod core {}

mod inner {
    use ::table_core::group::{Many, One};
    use ::table_core::{Entity, EntityGroup, EntitySet, Projection, TableEntity};

    #[derive(Entity)]
    #[entity(table = "Company", kind = "Employee")]
    #[partition_key(department)]
    #[row_key("empid_", r#type)]
    struct Employee {
        department: ::std::string::String,
        #[digits(6)]
        r#type: ::core::primitive::u32,
    }

    #[derive(Entity)]
    #[entity(table = "Company", kind = "EmployeeV2")]
    #[partition_key(department)]
    #[row_key("empid_", r#type)]
    pub struct EmployeeV2 {
        department: ::std::string::String,
        #[digits(6)]
        r#type: ::core::primitive::u32,
        pub age: ::core::primitive::i32,
    }

    impl ::core::convert::From<Employee> for EmployeeV2 {
        fn from(old: Employee) -> Self {
            Self { department: old.department, r#type: old.r#type, age: 0 }
        }
    }

    #[derive(EntitySet)]
    pub enum Staff {
        #[upgrade(from = Employee)]
        Employee(EmployeeV2),
        #[other]
        Unknown(TableEntity),
    }

    #[derive(EntityGroup)]
    #[entity_group(under = EmployeeV2)]
    pub struct Versions {
        pub entity: One<EmployeeV2>,
        r#old: ::core::option::Option<One<self::Employee>>,
        #[other]
        pub rows: ::std::vec::Vec<TableEntity>,
    }

    impl Versions {
        pub fn has_old(&self) -> ::core::primitive::bool {
            self.old.is_some()
        }
    }

    #[derive(EntityGroup)]
    pub struct Everybody {
        pub all: Many<EmployeeV2>,
    }

    #[derive(Projection)]
    #[projection(of = EmployeeV2)]
    pub struct Badge {
        pub r#type: ::core::primitive::u32,
    }
}

/// The versions of a type share an index.
mod versions {
    use ::table_core::{Entity, EntitySet, TableEntity};

    #[derive(Entity)]
    #[entity(table = "Company", kind = "Contact")]
    #[partition_key(department)]
    #[row_key("contact_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub struct Contact {
        department: ::std::string::String,
        id: ::core::primitive::u32,
        email: ::std::string::String,
    }

    #[derive(Entity)]
    #[entity(table = "Company", kind = "ContactV2")]
    #[partition_key(department)]
    #[row_key("contact_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub struct ContactV2 {
        department: ::std::string::String,
        id: ::core::primitive::u32,
        email: ::std::string::String,
        pub name: ::core::option::Option<::std::string::String>,
    }

    impl ::core::convert::From<Contact> for ContactV2 {
        fn from(old: Contact) -> Self {
            Self {
                department: old.department,
                id: old.id,
                email: old.email,
                name: ::core::option::Option::None,
            }
        }
    }

    #[derive(EntitySet)]
    pub enum Contacts {
        #[upgrade(from = Contact)]
        Contact(ContactV2),
        #[other]
        Unknown(TableEntity),
    }
}

/// Uses the declarations.
pub fn main() {
    use ::table_core::{EntitySet, FromEntity};
    let members: &[_] = inner::Staff::MEMBERS;
    ::std::assert_eq!(members.len(), 2);
    ::std::assert_eq!(versions::Contacts::MEMBERS.len(), 2);
    let _ = inner::Badge::select();
}

#[expect(dead_code, reason = "checks only that it compiles")]
fn read(staff: inner::Staff, versions: inner::Versions, all: inner::Everybody) -> ::core::primitive::bool {
    use ::core::primitive::i32;
    let age: i32 = match staff {
        inner::Staff::Employee(employee) => employee.age,
        inner::Staff::Unknown(_) => 0,
    };
    versions.has_old() && versions.rows.is_empty() && versions.entity.age == age && all.all.is_empty()
}

#[expect(dead_code, reason = "checks only that it compiles")]
fn badge(badge: inner::Badge) -> ::core::primitive::u32 {
    badge.r#type
}
