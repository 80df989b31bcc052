"""Programs with flows of many nodes, written in three ways.

Each node has a function or type of its own, and makes a value of another type from the one before: a number, a text,
bytes, a number again.
"""

import shutil
from pathlib import Path

TYPES = ["u64", "String", "Vec<u8>"]
BORROWED = ["&u64", "&str", "&[u8]"]
# From the value of one type to that of the next.
WORK = ["value.to_string()", "value.as_bytes().to_vec()", "value.len() as u64"]

MANIFEST = """[package]
name = "{name}"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
{dependencies}
"""
# Of the workspace. What an incremental build saves depends on the change, so that it is measured without.
WORKSPACE = """[workspace]
resolver = "3"
members = ["ours", "by_hand", "floxide"]

[profile.dev]
incremental = false

[profile.release]
strip = true
"""
TOKIO = 'tokio = {{ version = "1", features = ["rt", "time"] }}'


def kind(position):
    return position % len(TYPES)


class Ours:
    name = "ours"

    def __init__(self, flow_runtime):
        self.dependencies = [f'flow-runtime = {{ package = "typed-flows-runtime", path = "{flow_runtime}" }}', TOKIO.format()]

    @staticmethod
    def flow(nodes):
        yield "use flow_runtime::prelude::*;"
        for node in range(nodes):
            value, made = f"value_{node}", TYPES[kind(node + 1)]
            work = WORK[kind(node)].replace("value", value)
            yield f"#[node(writes = value_{node + 1})]"
            yield f"async fn step_{node}({value}: {BORROWED[kind(node)]}) -> {made} {{ {work} }}"
        yield f"flow! {{ pub Steps(value_0: u64) -> (value_{nodes}: {TYPES[kind(nodes)]}) {{"
        yield f"    start >> {' >> '.join(f'step_{node}' for node in range(nodes))} >> end;"
        yield "} }"
        yield "pub async fn run() {"
        yield "    let input = StepsInput { value_0: 1 };"
        yield f"    let found = Steps::new().run(input).await.map(|out| out.value_{nodes});"
        yield '    println!("{found:?}");'
        yield "}"

    @staticmethod
    def main(runs):
        return tokio_main(runs)


class ByHand:
    """Bare: without a `Result` from each step and a limit on the steps."""

    name = "by_hand"
    dependencies = []

    @staticmethod
    def flow(nodes):
        for node in range(nodes):
            made, work = TYPES[kind(node + 1)], WORK[kind(node)]
            yield f"async fn step_{node}(value: {BORROWED[kind(node)]}) -> {made} {{ {work} }}"
        yield "#[derive(Default)]"
        yield "struct State {"
        for node in range(nodes + 1):
            yield f"    value_{node}: {TYPES[kind(node)]},"
        yield "}"
        yield "#[derive(Debug, Clone, Copy)]"
        yield f"enum Node {{ {', '.join(f'Step{node}' for node in range(nodes))} }}"
        yield "async fn step(node: Node, state: &mut State) -> Option<Node> {"
        yield "    match node {"
        for node in range(nodes):
            following = f"Some(Node::Step{node + 1})" if node + 1 < nodes else "None"
            yield f"        Node::Step{node} => {{"
            yield f"            state.value_{node + 1} = step_{node}(&state.value_{node}).await;"
            yield f"            {following}"
            yield "        }"
        yield "    }"
        yield "}"
        yield "pub async fn run() {"
        yield "    let mut state = State { value_0: 1, ..State::default() };"
        yield "    let mut node = Node::Step0;"
        yield "    while let Some(next) = step(node, &mut state).await { node = next; }"
        yield f'    println!("{{:?}}", state.value_{nodes});'
        yield "}"

    @staticmethod
    def main(runs):
        yield "use std::pin::pin;"
        yield "use std::task::{Context, Waker};"
        yield "fn main() {"
        yield "    let mut flows = pin!(async {"
        yield from (f"        {run}.await;" for run in runs)
        yield "    });"
        yield "    while flows.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}"
        yield "}"


class Floxide:
    name = "floxide"

    def __init__(self, version):
        self.dependencies = [
            f'floxide = "{version}"',
            'async-trait = "0.1"',
            'serde = { version = "1", features = ["derive"] }',
            'serde_json = "1"',
            'tracing = "0.1"',
            'uuid = { version = "1", features = ["v4"] }',
            TOKIO.format(),
        ]

    @staticmethod
    def flow(nodes):
        yield "use floxide::{Node, Transition, Workflow, WorkflowCtx, node, workflow};"
        for node in range(nodes):
            yield f"node! {{ pub struct Step{node} {{}}; context = (); input = {TYPES[kind(node)]};"
            yield f"    output = {TYPES[kind(node + 1)]};"
            yield f"    |_ctx, value| {{ let made = {WORK[kind(node)]}; Ok(Transition::Next(made)) }}"
            yield "}"
        yield "workflow! {"
        yield "    pub struct Steps {"
        yield from (f"        step_{node}: Step{node}," for node in range(nodes))
        yield "    }"
        yield "    start = step_0;"
        yield "    context = ();"
        yield "    edges {"
        for node in range(nodes):
            following = f"[ step_{node + 1} ]" if node + 1 < nodes else ""
            yield f"        step_{node} => {{ {following} }};"
        yield "    }"
        yield "}"
        yield "pub async fn run() {"
        yield "    let steps = Steps {"
        yield from (f"        step_{node}: Step{node} {{}}," for node in range(nodes))
        yield "    };"
        yield "    let found = steps.run(&WorkflowCtx::new(()), 1).await;"
        yield '    println!("{:?}", found.ok());'
        yield "}"

    @staticmethod
    def main(runs):
        return tokio_main(runs)


def tokio_main(runs):
    yield "fn main() {"
    yield "    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();"
    yield '    runtime.expect("tokio starts").block_on(async {'
    yield from (f"        {run}.await;" for run in runs)
    yield "    });"
    yield "}"


def program(variant, flows, nodes):
    """A program with `flows` flows of `nodes` nodes, each in a module of its own."""
    for flow in range(flows):
        yield f"mod flow_{flow} {{"
        yield from variant.flow(nodes)
        yield "}"
    yield from variant.main([f"flow_{flow}::run()" for flow in range(flows)])


def case_name(flows, nodes):
    return f"flows_{flows}_of_{nodes}"


def package_name(variant):
    return f"flows_{variant.name}"


def program_name(variant, case):
    """The programs of all variants are built into one directory."""
    return f"{variant.name}_{case_name(*case)}"


def workspace(directory, variants, cases, lock):
    """Writes a workspace with a package for each variant and a program for each case."""
    directory.mkdir(parents=True, exist_ok=True)
    write(directory / "Cargo.toml", WORKSPACE)
    shutil.copy(lock, directory)
    for variant in variants:
        package = directory / variant.name
        programs = package / "src" / "bin"
        shutil.rmtree(programs, ignore_errors=True)
        programs.mkdir(parents=True)
        dependencies = "\n".join(variant.dependencies)
        write(package / "Cargo.toml", MANIFEST.format(name=package_name(variant), dependencies=dependencies))
        for case in cases:
            source = "\n".join(program(variant, *case)) + "\n"
            write(programs / f"{program_name(variant, case)}.rs", source)


def write(path, text):
    Path(path).write_text(text, encoding="utf-8")
