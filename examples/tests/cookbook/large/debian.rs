//! Tests that Debian package indexes are recognised and parsed.

use std::path::Path;

use examples::large::Package;
use examples::large::debian::{is_index, parse};

const INDEX: &str = "\
Package: zlib1g
Source: zlib
Version: 1:1.2.13.dfsg-1
Installed-Size: 168
Maintainer: Mark Brown <broonie@debian.org>
Architecture: amd64
Description: compression library - runtime
 Package: not a field, it goes on
Section: libs

Package: no-section
Version: 1

Package: rar
Version: 2:6.20-0.1
Section: non-free/utils";

#[test]
fn paragraphs_become_packages_and_the_incomplete_are_left_out() {
    let packages = parse(INDEX.as_bytes()).unwrap();
    let expected = Package {
        section: "libs".into(),
        name: "zlib1g".into(),
        version: "1:1.2.13.dfsg-1".into(),
        architecture: "amd64".into(),
        installed_size: 168,
        maintainer: "Mark Brown <broonie@debian.org>".into(),
    };
    assert_eq!(packages.len(), 2);
    assert_eq!(packages[0], expected);
    assert_eq!((packages[1].name.as_str(), packages[1].section.as_str()), ("rar", "non-free/utils"));
}

#[test]
fn an_index_is_recognised_by_its_file_name() {
    for yes in ["deb.debian.org_debian_dists_x_main_binary-amd64_Packages.lz4", "host_Packages"] {
        assert!(is_index(Path::new(yes)), "{yes}");
    }
    for no in ["deb.debian.org_debian_dists_x_InRelease", "lock", "host_Packages_old"] {
        assert!(!is_index(Path::new(no)), "{no}");
    }
}
