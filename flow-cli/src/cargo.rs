//! Builds the package with cargo, and returns the files of the build.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{
    Artifact, DependencyKind, Message, MetadataCommand, Node, NodeDep, Package, PackageId,
};

use crate::Error;
use crate::args::Build;

/// The files of a build.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    /// Executables and shared libraries, made by the linker.
    pub(crate) linked: Vec<PathBuf>,
    /// Rust libraries and static libraries.
    pub(crate) libraries: Vec<PathBuf>,
}

/// Runs `cargo build`. Cargo's own output goes to standard error, as usual.
///
/// # Errors
///
/// Cargo cannot be run, or the package does not build.
pub(crate) fn build(options: &Build) -> Result<Artifacts, Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let failed = |source| Error::Cargo {
        program: program.display().to_string(),
        source,
    };
    let mut arguments = arguments(options);
    if let Some(packages) = with_flows(options) {
        arguments.retain(|argument| argument != "--workspace");
        arguments.extend(packages.iter().map(|id| format!("--package={id}").into()));
    }
    let mut child = Command::new(&program)
        .args(["build", "--message-format=json-render-diagnostics"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut artifacts = Vec::new();
    if let Some(output) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(output)) {
            if let Message::CompilerArtifact(artifact) = message.map_err(failed)? {
                artifacts.push(artifact);
            }
        }
    }
    if child.wait().map_err(failed)?.success() {
        sorted(artifacts, options)
    } else {
        Err(Error::Build)
    }
}

/// The package that every flow depends on.
const RUNTIME: &str = "typed-flows-runtime";

/// Returns the packages to build in place of all, if cargo would build several and not all of them
/// depend on the runtime. Those that a user names in any way are built.
fn with_flows(options: &Build) -> Option<Vec<PackageId>> {
    let named = [
        &options.package,
        &options.bin,
        &options.example,
        &options.features,
    ];
    if named.iter().any(|names| !names.is_empty()) {
        return None;
    }
    let chosen = packages(options).ok()?;
    if chosen.len() < 2 {
        return None;
    }
    let mut command = MetadataCommand::new();
    if let Some(path) = &options.manifest_path {
        command.manifest_path(path);
    }
    let flags = [
        ("--all-features", options.all_features),
        ("--no-default-features", options.no_default_features),
        ("--locked", options.locked),
        ("--offline", options.offline),
    ];
    let given = flags.into_iter().filter(|(_, given)| *given);
    command.other_options(given.map(|(flag, _)| flag.to_owned()).collect::<Vec<_>>());
    // If it fails, so does the build, which says why.
    let metadata = command.exec().ok()?;
    let runtimes = metadata
        .packages
        .iter()
        .filter(|package| *package.name == RUNTIME);
    let mut able: HashSet<PackageId> = runtimes.map(|package| package.id.clone()).collect();
    let nodes = metadata.resolve?.nodes;
    loop {
        let links_one = |node: &&Node| {
            let is_linked = |dependency: &NodeDep| {
                let mut kinds = dependency.dep_kinds.iter();
                kinds.any(|of| of.kind == DependencyKind::Normal) && able.contains(&dependency.pkg)
            };
            !able.contains(&node.id) && node.deps.iter().any(is_linked)
        };
        let more: Vec<PackageId> = nodes
            .iter()
            .filter(links_one)
            .map(|node| node.id.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        able.extend(more);
    }
    let count = chosen.len();
    let ids = chosen.into_iter().map(|package| package.id);
    let ids: Vec<PackageId> = ids.filter(|id| able.contains(id)).collect();
    (!ids.is_empty() && ids.len() < count).then_some(ids)
}

/// Returns the options as arguments of `cargo build`.
pub(crate) fn arguments(options: &Build) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let flags = [
        ("--workspace", options.workspace),
        ("--lib", options.lib),
        ("--examples", options.examples),
        ("--release", options.release),
        ("--all-features", options.all_features),
        ("--no-default-features", options.no_default_features),
        ("--locked", options.locked),
        ("--offline", options.offline),
    ];
    let given = flags.into_iter().filter(|(_, given)| *given);
    arguments.extend(given.map(|(flag, _)| OsString::from(flag)));
    let one = |value: &Option<String>| value.iter().cloned().collect();
    let valued: [(&str, Vec<String>); 6] = [
        ("--package", options.package.clone()),
        ("--bin", options.bin.clone()),
        ("--example", options.example.clone()),
        ("--features", options.features.clone()),
        ("--profile", one(&options.profile)),
        ("--target", one(&options.target)),
    ];
    for (flag, values) in valued {
        arguments.extend(values.iter().map(|value| format!("{flag}={value}").into()));
    }
    if let Some(path) = &options.manifest_path {
        arguments.extend(["--manifest-path".into(), path.into()]);
    }
    arguments
}

/// Returns the files of the artifacts that may contain flows.
fn sorted(artifacts: Vec<Artifact>, options: &Build) -> Result<Artifacts, Error> {
    let packages = packages(options)?;
    let mut sorted = Artifacts::default();
    for artifact in artifacts {
        if let Some(executable) = artifact.executable {
            sorted.linked.push(executable.into());
            continue;
        }
        let of_package = |package: &Package| package.id == artifact.package_id;
        if !packages.iter().any(of_package) {
            continue;
        }
        for file in artifact.filenames {
            match file.extension() {
                Some("so" | "dylib" | "dll" | "wasm") if !artifact.target.is_proc_macro() => {
                    sorted.linked.push(file.into());
                }
                Some("rlib" | "a") => sorted.libraries.push(file.into()),
                Some("lib") if !file.as_str().ends_with(".dll.lib") => {
                    sorted.libraries.push(file.into());
                }
                _ => {}
            }
        }
    }
    Ok(sorted)
}

/// Returns the packages that cargo builds themselves, not as dependencies of others.
///
/// # Errors
///
/// There is no package here, or none with a requested name.
pub(crate) fn packages(options: &Build) -> Result<Vec<Package>, Error> {
    let mut command = MetadataCommand::new();
    command.no_deps();
    if let Some(path) = &options.manifest_path {
        command.manifest_path(path);
    }
    let metadata = command.exec().map_err(Error::Metadata)?;
    let names_none = |spec: &&String| {
        !metadata
            .packages
            .iter()
            .any(|package| names(spec, &package.name))
    };
    if let Some(name) = options.package.iter().find(names_none) {
        return Err(Error::UnknownPackage {
            name: name.clone(),
            packages: metadata
                .packages
                .iter()
                .map(|package| package.name.to_string())
                .collect(),
        });
    }
    // Cargo names a manifest with the links in its path, and on Windows without `\\?\`.
    let real = |path: &Path| path.canonicalize().ok();
    let manifest = manifest(options.manifest_path.as_deref()).and_then(|path| real(&path));
    let here = |package: &Package| {
        manifest.is_some() && real(package.manifest_path.as_std_path()) == manifest
    };
    let has_package_here = metadata.packages.iter().any(here);
    let chosen = |package: &Package| {
        if options.workspace {
            true
        } else if !options.package.is_empty() {
            let named = |spec: &String| names(spec, &package.name);
            options.package.iter().any(named)
        } else if has_package_here {
            here(package)
        } else {
            metadata.workspace_default_members.contains(&package.id)
        }
    };
    Ok(metadata
        .packages
        .iter()
        .filter(|package| chosen(package))
        .cloned()
        .collect())
}

/// Returns the Cargo.toml that cargo uses: the nearest one in this folder and its parents.
fn manifest(given: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = given {
        return Some(path.to_owned());
    }
    let here = std::env::current_dir().ok()?;
    let manifests = here.ancestors().map(|folder| folder.join("Cargo.toml"));
    manifests.into_iter().find(|path| path.is_file())
}

/// Returns `true` if a package specification, such as `shop`, `shop@1.2` or
/// `path+file:///home/shop#1.2`, names this package.
fn names(spec: &str, name: &str) -> bool {
    let (path, fragment) = spec.rsplit_once('#').unwrap_or(("", spec));
    let fragment_name = fragment.split('@').next().unwrap_or(fragment);
    let last = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path);
    fragment_name == name || last == name || last.strip_suffix(".git") == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_specifications_name_packages() {
        for spec in [
            "shop",
            "shop@1.2",
            "path+file:///home/shop#1.2.0",
            "file:///home/x#shop@1.0",
        ] {
            assert!(names(spec, "shop"), "{spec}");
        }
        for spec in ["shops", "other@1.2", "path+file:///shop/other#1.2.0"] {
            assert!(!names(spec, "shop"), "{spec}");
        }
    }

    #[test]
    fn options_reach_cargo() {
        let options = Build {
            package: vec!["shop".to_owned()],
            example: vec!["one".to_owned(), "two".to_owned()],
            release: true,
            manifest_path: Some("x/Cargo.toml".into()),
            ..Build::default()
        };
        assert_eq!(
            arguments(&options),
            [
                "--release",
                "--package=shop",
                "--example=one",
                "--example=two",
                "--manifest-path",
                "x/Cargo.toml"
            ]
        );
    }
}
