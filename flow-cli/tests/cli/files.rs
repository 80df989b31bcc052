//! Files of every kind that can have flows, made here.

use object::write::Object;
use object::write::pe::{NtHeaders, Writer};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, pe};

/// The document as a record has it: JSON without space.
pub(crate) fn compact(document: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(document).expect("JSON");
    value.to_string()
}

/// A record of this layout.
pub(crate) fn record_of(version: u32, json: &str) -> Vec<u8> {
    let length = u32::try_from(json.len()).expect("short");
    [
        b"FLOWSPEC",
        &version.to_le_bytes()[..],
        &length.to_le_bytes(),
        json.as_bytes(),
    ]
    .concat()
}

/// The records of documents, as a linker lays them out: with zero bytes between them.
pub(crate) fn records(documents: &[&str]) -> Vec<u8> {
    let records = documents.iter().flat_map(|document| {
        let mut record = record_of(1, &compact(document));
        record.resize(record.len().next_multiple_of(16) + 16, 0);
        record
    });
    records.collect()
}

fn object_file(
    format: BinaryFormat,
    architecture: Architecture,
    endianness: Endianness,
    content: &[u8],
) -> Vec<u8> {
    let mut object = Object::new(format, architecture, endianness);
    let text = object.section_id(object::write::StandardSection::Text);
    object.append_section_data(text, &[0x90; 32], 16);
    let (segment, name) = match format {
        BinaryFormat::MachO => ("__DATA", "__flowspec"),
        _ => ("", "flowspec"),
    };
    let section = object.add_section(segment.into(), name.into(), SectionKind::ReadOnlyData);
    object.append_section_data(section, content, 1);
    object.write().expect("an object")
}

pub(crate) fn elf(content: &[u8]) -> Vec<u8> {
    object_file(
        BinaryFormat::Elf,
        Architecture::X86_64,
        Endianness::Little,
        content,
    )
}

/// ELF of the other width and byte order. The records are little-endian all the same.
pub(crate) fn elf_big(content: &[u8]) -> Vec<u8> {
    object_file(
        BinaryFormat::Elf,
        Architecture::PowerPc,
        Endianness::Big,
        content,
    )
}

pub(crate) fn macho(content: &[u8]) -> Vec<u8> {
    object_file(
        BinaryFormat::MachO,
        Architecture::Aarch64,
        Endianness::Little,
        content,
    )
}

pub(crate) fn coff(content: &[u8]) -> Vec<u8> {
    object_file(
        BinaryFormat::Coff,
        Architecture::X86_64,
        Endianness::Little,
        content,
    )
}

/// An object without flows.
pub(crate) fn plain_object() -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let text = object.section_id(object::write::StandardSection::Text);
    object.append_section_data(text, &[0x90; 32], 16);
    object.write().expect("an object")
}

/// An ELF file as `strip --strip-sections` leaves it: the headers of sections are gone.
pub(crate) fn elf_without_sections() -> Vec<u8> {
    let mut file = elf(&records(&[]));
    // e_shoff, e_shnum and e_shstrndx
    file[40..48].fill(0);
    file[60..64].fill(0);
    file
}

/// Mach-O for two processors.
pub(crate) fn universal(parts: [&[u8]; 2]) -> Vec<u8> {
    const ALIGNED: usize = 4096;
    let mut header = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2];
    let mut offset = ALIGNED;
    let mut offsets = Vec::new();
    for (part, processor) in parts.iter().zip([0x0100_0007_u32, 0x0100_000c]) {
        let length = u32::try_from(part.len()).expect("short");
        let start = u32::try_from(offset).expect("short");
        for number in [processor, 0, start, length, 12] {
            header.extend(number.to_be_bytes());
        }
        offsets.push(offset);
        offset += part.len().next_multiple_of(ALIGNED);
    }
    for (part, offset) in parts.iter().zip(offsets) {
        header.resize(offset, 0);
        header.extend(*part);
    }
    header
}

/// A program for Windows.
pub(crate) fn pe(content: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(true, 0x1000, 0x200, &mut file);
    writer.reserve_dos_header_and_stub();
    writer.reserve_nt_headers(16);
    writer.reserve_section_headers(2);
    let code = [0xc3; 16];
    let text = writer.reserve_text_section(16);
    let length = u32::try_from(content.len()).expect("short");
    let flags = pe::IMAGE_SCN_CNT_INITIALIZED_DATA | pe::IMAGE_SCN_MEM_READ;
    let flows = writer.reserve_section(*b"flowspec", flags, length, length);
    writer.write_dos_header_and_stub().expect("a DOS header");
    writer.write_nt_headers(NtHeaders {
        machine: pe::IMAGE_FILE_MACHINE_AMD64,
        time_date_stamp: 0,
        characteristics: pe::IMAGE_FILE_EXECUTABLE_IMAGE,
        major_linker_version: 14,
        minor_linker_version: 0,
        address_of_entry_point: text.virtual_address,
        image_base: 0x1_4000_0000,
        major_operating_system_version: 6,
        minor_operating_system_version: 0,
        major_image_version: 0,
        minor_image_version: 0,
        major_subsystem_version: 6,
        minor_subsystem_version: 0,
        subsystem: pe::IMAGE_SUBSYSTEM_WINDOWS_CUI,
        dll_characteristics: Default::default(),
        size_of_stack_reserve: 0x10_0000,
        size_of_stack_commit: 0x1000,
        size_of_heap_reserve: 0x10_0000,
        size_of_heap_commit: 0x1000,
    });
    writer.write_section_headers();
    writer.write_section(text.file_offset, &code);
    writer.write_section(flows.file_offset, content);
    file
}

/// A static library or rlib of these members.
pub(crate) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = ar::Builder::new(Vec::new());
    for (name, content) in members {
        let header = ar::Header::new(name.as_bytes().to_vec(), content.len() as u64);
        builder.append(&header, *content).expect("in memory");
    }
    builder.into_inner().expect("in memory")
}

/// A module with a custom section, and one of another name before it.
pub(crate) fn wasm(content: &[u8]) -> Vec<u8> {
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    module.extend(section(0, &named("producers", b"\0")));
    module.extend(section(0, &named("flowspec", content)));
    module
}

/// A component around a module.
pub(crate) fn wasm_component(content: &[u8]) -> Vec<u8> {
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    component.extend(section(1, &wasm(content)));
    component
}

fn named(name: &str, content: &[u8]) -> Vec<u8> {
    [&leb128(name.len()), name.as_bytes(), content].concat()
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id][..], &leb128(content.len()), content].concat()
}

fn leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        match number {
            0 => {
                bytes.push(low);
                return bytes;
            }
            _ => bytes.push(low | 0x80),
        }
    }
}
