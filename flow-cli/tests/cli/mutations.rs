//! Laws of the reader, on files that were damaged in every way: it never panics, it says only what
//! is there, and what is there it says in little time. `PROPTEST_CASES` asks for more cases than
//! the usual 256.

use std::sync::LazyLock;

use flow_cli::section::{MAGIC, read};
use flow_spec::FlowDocument;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::files::*;
use crate::program::{EXPENSE, QA};

/// A whole file of each kind.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let content = records(&[EXPENSE, QA]);
    let (elf, macho, coff, wasm) = (
        elf(&content),
        macho(&content),
        coff(&content),
        wasm(&content),
    );
    let library = archive(&[
        ("lib.rmeta", b"rust"),
        ("a.o", &elf),
        ("b.o", &coff),
        ("c.o", &wasm),
    ]);
    let universal_library = archive(&[("a.o", &macho)]);
    vec![
        elf_big(&content),
        pe(&content),
        wasm_component(&content),
        universal([&macho, &macho]),
        universal([&macho, &universal_library]),
        library,
        elf,
        macho,
        coff,
        wasm,
    ]
});

#[derive(Debug, Clone)]
enum Damage {
    /// The file ends here.
    Truncate(usize),
    /// One bit is another.
    Flip(usize, u8),
    /// A number is another, as lengths and offsets are: what it is, and which of its bytes comes first.
    Lie(usize, u64, usize, bool),
    /// As many bytes are gone.
    Remove(usize, usize),
    /// As many bytes from here stand there, too.
    Copy(usize, usize, usize),
}

impl Damage {
    fn to(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        let length = file.len();
        match self {
            Damage::Truncate(at) => file.truncate(at % length),
            Damage::Flip(at, bit) => file[at % length] ^= 1 << bit,
            Damage::Lie(at, number, width, big) => {
                let bytes = if *big {
                    number.to_be_bytes()[8 - width..].to_vec()
                } else {
                    number.to_le_bytes()[..*width].to_vec()
                };
                for (place, byte) in file[at % length..].iter_mut().zip(bytes) {
                    *place = byte;
                }
            }
            Damage::Remove(at, count) => {
                let start = at % length;
                file.drain(start..length.min(start + count));
            }
            Damage::Copy(from, to, count) => {
                let start = from % length;
                let bytes = file[start..length.min(start + count)].to_vec();
                let to = to % length;
                file.splice(to..to, bytes);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    // Headers are where damage matters, and most of a file is none.
    let place = || prop_oneof![any::<usize>(), 0..512_usize];
    let number = prop_oneof![
        select(vec![
            0,
            1,
            7,
            16,
            0x7f,
            0xff,
            0xffff,
            0x7fff_ffff,
            0xffff_ffff,
            u64::MAX,
            u64::MAX / 2
        ]),
        0..8192_u64,
        any::<u64>(),
    ];
    prop_oneof![
        place().prop_map(Damage::Truncate),
        (place(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (
            place(),
            number,
            select(vec![1_usize, 2, 4, 8]),
            any::<bool>()
        )
            .prop_map(|(at, number, width, big)| Damage::Lie(at, number, width, big)),
        (place(), 1..64_usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        (place(), place(), 1..512_usize)
            .prop_map(|(from, to, count)| Damage::Copy(from, to, count)),
    ]
}

fn any_file() -> impl Strategy<Value = Vec<u8>> {
    any::<Index>().prop_map(|index| FILES[index.index(FILES.len())].clone())
}

/// That every record stands where it says, and can be handed on to whatever reads it.
fn assert_honest(file: &[u8]) {
    let Ok(contents) = read(file) else {
        return;
    };
    for record in contents.records {
        let offset = usize::try_from(record.offset).expect("in memory");
        let after = file[offset..].strip_prefix(&MAGIC).expect("a record");
        assert!(after[8..].starts_with(record.json.as_bytes()));
        if let Ok(flow) = FlowDocument::parse(record.json) {
            flow.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_honestly(
        mut file in any_file(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        for damage in &damages {
            damage.to(&mut file);
        }
        assert_honest(&file);
    }

    #[test]
    fn a_truncated_file_has_nothing_new(file in any_file(), at in any::<Index>()) {
        let whole = read(&file).expect("a whole file").records;
        let truncated = &file[..at.index(file.len())];
        if let Ok(contents) = read(truncated) {
            for record in contents.records {
                assert!(whole.contains(&record), "{record:?}");
            }
        }
    }

    #[test]
    fn anything_may_stand_in_the_section(content in prop::collection::vec(any::<u8>(), 0..256)) {
        assert_honest(&elf(&content));
        assert_honest(&wasm(&[&record_of(1, "{}"), &content[..]].concat()));
    }

    #[test]
    fn anything_may_be_a_file(content in prop::collection::vec(any::<u8>(), 0..256), start in any_file()) {
        assert_honest(&content);
        let begins = &start[..start.len().min(16)];
        assert_honest(&[begins, &content].concat());
    }
}
