//! The reader on every kind of file.

use flow_cli::section::{Contents, read};

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

fn json<'a>(contents: &Contents<'a>) -> Vec<&'a str> {
    contents.records.iter().map(|record| record.json).collect()
}

/// That the file has both flows, and that each record is where it says.
fn assert_both(name: &str, file: &[u8]) {
    let contents = read(file).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(json(&contents), [compact(EXPENSE), compact(QA)], "{name}");
    for record in &contents.records {
        let offset = usize::try_from(record.offset).expect("in memory");
        let begins = &file[offset..offset + 8];
        assert_eq!(begins, b"FLOWSPEC", "{name}: byte {offset}");
        assert!(
            file[offset + 16..].starts_with(record.json.as_bytes()),
            "{name}"
        );
    }
}

#[test]
fn every_kind_of_file_is_read() {
    let content = records(&[EXPENSE, QA]);
    assert_both("ELF", &elf(&content));
    assert_both("ELF, 32 bits, big-endian", &elf_big(&content));
    assert_both("Mach-O", &macho(&content));
    assert_both("COFF", &coff(&content));
    assert_both("PE", &pe(&content));
    assert_both("WebAssembly", &wasm(&content));
    assert_both("a WebAssembly component", &wasm_component(&content));
}

#[test]
fn members_of_an_archive_are_read_if_they_are_binaries() {
    let (expense, qa) = (elf(&records(&[EXPENSE])), elf(&records(&[QA])));
    let plain = plain_object();
    let file = archive(&[
        ("lib.rmeta", b"rust\0\0\0\x09 metadata"),
        ("a-member-with-a-name-of-more-than-16-bytes.o", &expense),
        ("plain.o", &plain),
        ("odd", b"x"),
        ("qa.o", &qa),
    ]);
    assert_both("an rlib", &file);
    let wasm = wasm(&records(&[EXPENSE, QA]));
    assert_both("an rlib of WebAssembly", &archive(&[("module.o", &wasm)]));
}

#[test]
fn all_processors_of_a_universal_file_are_read() {
    let (expense, qa) = (macho(&records(&[EXPENSE])), macho(&records(&[QA])));
    assert_both("a universal program", &universal([&expense, &qa]));
    let libraries = [archive(&[("a.o", &expense)]), archive(&[("b.o", &qa)])];
    assert_both(
        "a universal library",
        &universal([&libraries[0], &libraries[1]]),
    );
}

#[test]
fn a_flow_that_is_there_twice_is_one() {
    let object = elf(&records(&[QA, QA]));
    let folder = Folder::new().with("lib.a", archive(&[("a.o", &object), ("b.o", &object)]));
    assert_eq!(folder.run("export lib.a"), QA);
}

#[test]
fn the_section_is_found_by_its_name_alone() {
    let mut file = elf(&records(&[QA]));
    let name = b"flowspec\0";
    let at = file.windows(name.len()).position(|bytes| bytes == name);
    file[at.expect("the name")] = b'F';
    let contents = read(&file).expect("an ELF file");
    assert!(contents.records.is_empty());
}

/// A universal file of a hundred parts, all of which are in the same place.
fn overlapping(offset: u32, length: usize) -> Vec<u8> {
    let object = macho(&records(&[QA]));
    let mut file = universal([&object, &object]);
    let length = u32::try_from(length).expect("short");
    file[4..8].copy_from_slice(&100_u32.to_be_bytes());
    for part in 0..100 {
        let at = 8 + part * 20;
        file[at + 8..at + 12].copy_from_slice(&offset.to_be_bytes());
        file[at + 12..at + 16].copy_from_slice(&length.to_be_bytes());
    }
    file
}

#[test]
fn parts_that_overlap_are_not_read_again_and_again() {
    let object = macho(&records(&[QA]));
    let error = read(&overlapping(4096, object.len())).expect_err("they overlap");
    assert_eq!(
        error.to_string(),
        "is truncated or damaged: parts of it overlap"
    );
}

#[test]
fn a_file_that_contains_itself_has_an_end() {
    let error = read(&overlapping(0, 4096)).expect_err("it contains itself");
    assert_eq!(
        error.to_string(),
        "is truncated or damaged: it contains itself"
    );
}
