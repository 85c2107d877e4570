//! Tests that the layouts of all entities in the cookbook equal the committed layout files.

use examples::data::{airports, earthquakes, routes, weather};
use examples::large::{Package, PackageBuild};
use examples::model::airports::{Airport, CityAirport};
use examples::model::earthquakes::Earthquake;
use examples::model::packages::{Build, FirstBuild, Import, Section};
use examples::model::routes::{Route, routes as with_states};
use examples::model::weather::Day;
use examples::model::{company, helpdesk, staff};
use table_core::assert_layout;

#[test]
fn the_company() {
    assert_layout!(
        "layouts/company.lock",
        company::Employee => company::employees()[..2],
        company::Review => company::reviews()[..2],
        company::Expense => company::expenses()[..2],
    );
}

#[test]
fn the_staff() {
    assert_layout!(
        "layouts/staff.lock",
        staff::Employee => staff::employees()[..1],
        staff::Department => staff::departments()[..1],
    );
}

#[test]
fn the_datasets() {
    let (all, events) = (airports::load().unwrap(), earthquakes::load().unwrap());
    // The name of this city contains a slash, which is escaped in the key.
    let slash = all.iter().find(|airport| airport.city.contains('/')).unwrap();
    assert_layout!(
        "layouts/datasets.lock",
        Airport => [Airport::from(&all[0])],
        CityAirport => [CityAirport::from(&all[0]), CityAirport::from(slash)],
        Route => with_states(&routes::load().unwrap(), &all)[..1],
        Day => [Day::from(&weather::load().unwrap()[0])],
        Earthquake => [Earthquake::from(&events[0])],
    );
}

#[test]
fn the_help_desk() {
    let (tenant, created) = (|| "contoso".to_owned(), "2026-03-31T18:21:46Z".parse().unwrap());
    let ticket = helpdesk::Ticket {
        tenant: tenant(),
        number: 17,
        status: helpdesk::Status::Open,
        priority: 2,
        agent: Some(7),
        agent_name: Some("Ada".to_owned()),
        created,
        text: "It beeps.".to_owned(),
        attachment: None,
    };
    let (agent, text) = ("ada@contoso.com".to_owned(), "Still.".to_owned());
    assert_layout!(
        "layouts/helpdesk.lock",
        helpdesk::Ticket => [ticket],
        helpdesk::Comment => [helpdesk::Comment { tenant: tenant(), ticket: 17, number: 1, text }],
        helpdesk::Agent => [helpdesk::Agent { tenant: tenant(), id: 7, name: "Ada".to_owned(), email: agent }],
        helpdesk::TenantSums => [helpdesk::TenantSums { tenant: tenant(), open: 1, tickets: 2 }],
        helpdesk::HourSums => [helpdesk::HourSums { tenant: tenant(), hour: "2026-03-31T18:00:00Z".parse().unwrap(), tickets: 2 }],
        helpdesk::AuditEntry => [helpdesk::AuditEntry { tenant: tenant(), at: created, ticket: 17, change: "closed".to_owned() }],
        helpdesk::Mail => [helpdesk::Mail { tenant: tenant(), ticket: 17 }],
    );
}

#[test]
fn the_layouts_of_the_packages_are_unchanged() {
    let package = Package {
        section: "non-free/libs".to_owned(),
        name: "zlib1g".to_owned(),
        version: "1:1.3-2".to_owned(),
        architecture: "amd64".to_owned(),
        installed_size: 169,
        maintainer: "Mark Brown".to_owned(),
    };
    let at = "2014-07-31T18:21:46Z".parse().unwrap();
    let build = || PackageBuild { package: &package, number: 7, built: at, installed_size: 169 };
    assert_layout!(
        "layouts/packages.lock",
        Build => [Build::from(build())],
        FirstBuild => [FirstBuild::from(build())],
        Section => [Section { section: "non-free/libs".to_owned(), builds: 7 }],
        Import => [Import { table: "PackageBuilds".to_owned(), source: "seeded".to_owned(), builds: 7 }],
    );
}
