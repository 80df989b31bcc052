"""Who takes part: the programs of the Rust packages under `contenders`, and the scripts of `python`."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

BENCHES = Path(__file__).resolve().parent.parent
# The packages of this library and of what is written by hand.
OWN = ["own", "loaded"]
# Where the programs are that count allocations.
COUNTING = "counting"
# The durable chain is measured apart: what it does is mostly the disk's.
DURABLE = {
    "durable": "ours",
    "with_disk": "disk_alone",
    "with_sqlite": "sqlite_by_hand",
    "with_sqlite_saver": "langgraph",
}
OURS_AND_BY_HAND = ["ours", "loaded", "by_hand", "by_hand_bare", "by_hand_boxed"]
LABELS = {
    "ours": "ours",
    "loaded": "ours, loaded",
    "by_hand": "by hand",
    "by_hand_bare": "by hand, bare",
    "by_hand_boxed": "by hand, boxed",
    "disk_alone": "the disk alone (Python)",
    "sqlite_by_hand": "SQLite by hand (Python)",
    "langgraph_rust": "langgraph (Rust)",
}
PYTHON_LABELS = {"pocketflow": "PocketFlow", "langgraph": "LangGraph"}


def is_own(source):
    return any(source.startswith(f"contenders/{package}/") for package in OWN)


class Failed(Exception):
    """What is wrong, for whoever started the program."""


class CommandFailed(Failed):
    """With the `reason` in a line, as far as the command told it."""

    def __init__(self, arguments, code, printed):
        ended = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        super().__init__(f"{' '.join(map(str, arguments))} failed ({ended}):\n{printed}")
        self.reason = reason_in(printed) or ended


def reason_in(printed):
    """The message of the first panic, as later ones come of it; what follows the last frame of a traceback; without one
    of them, the last line.
    """
    panic = re.search(r"panicked at [^\n]*:\n(.+?)\n(?:note: |stack backtrace:|\Z)", printed, re.DOTALL)
    frames = re.search(r"(?s:.*)^  File \"[^\n]*\n(?: [^\n]*\n)*((?s:.+))", printed, re.MULTILINE)
    found = panic or frames
    told = found[1] if found else printed.strip().rpartition("\n")[2]
    return " ".join(told.split()).rstrip(".")


@dataclass(frozen=True)
class Contender:
    name: str
    label: str
    language: str
    version: str
    source: str
    command: tuple[str, ...]
    durable: bool = False
    # The same program, built so that it counts allocations.
    counting: tuple[str, ...] = ()
    # Why there is nothing to run.
    missing: str = ""

    @property
    def is_own(self):
        return is_own(self.source)


def run(arguments, **settings):
    """What the command printed, or `Failed`."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, **settings)
    except FileNotFoundError as error:
        raise Failed(f"there is no program `{Path(arguments[0]).name}`") from error
    if done.returncode != 0:
        raise CommandFailed(arguments, done.returncode, done.stdout + done.stderr)
    return done.stdout


def metadata():
    arguments = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    return json.loads(run(arguments, cwd=BENCHES))


def target_directory():
    return Path(metadata()["target_directory"])


def locked_versions():
    lock = tomllib.loads((BENCHES / "Cargo.lock").read_text(encoding="utf-8"))
    return {package["name"]: package["version"] for package in lock["package"]}


def rust_contenders(only_own=False):
    """Builds them. One that does not build is there all the same, so that it is missed."""
    described = metadata()
    programs = Path(described["target_directory"]) / "release"
    versions = locked_versions()
    found = []
    takes_part = [
        package
        for package in described["packages"]
        if any(used["name"] == "bench-harness" for used in package["dependencies"])
    ]
    programs_of = {package["name"]: binaries_of(package) for package in takes_part}
    names = [target["name"] for binaries in programs_of.values() for target in binaries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Failed(f"two contenders are called {', '.join(twice)}: `[[bin]]` gives a program another `name`")
    for package in takes_part:
        if only_own and package["name"] not in OWN:
            continue
        missing = ""
        binaries = programs_of[package["name"]]
        try:
            print(f"builds {package['name']}", file=sys.stderr, flush=True)
            build(package["name"], binaries, programs)
        except Failed as error:
            if "cannot update the lock file" in str(error):
                # It is one for all, so that nothing can be built.
                raise Failed(
                    "benches/Cargo.lock lacks what a contender depends on: "
                    "`cargo build --release --package <package>` in benches adds it"
                ) from error
            if package["name"] in OWN:
                raise
            print(f"left out: {error}", file=sys.stderr)
            missing = "does not build"
        library = library_of(package)
        for target in binaries:
            program = target["name"]
            name = DURABLE.get(program, program)
            label = library if len(binaries) == 1 else program.replace("_", " ")
            found.append(
                Contender(
                    name=name,
                    label=LABELS.get(name, label),
                    language="Rust",
                    version=versions.get(library, "") if library != package["name"] else "",
                    source=str(Path(target["src_path"]).relative_to(BENCHES)),
                    command=(str(programs / program),),
                    counting=(str(programs / COUNTING / program),),
                    durable=program in DURABLE,
                    missing=missing,
                )
            )
    own = {name: position for position, name in enumerate(OURS_AND_BY_HAND)}
    return sorted(found, key=lambda contender: (own.get(contender.name, len(own)), contender.name))


def binaries_of(package):
    return [target for target in package["targets"] if "bin" in target["kind"]]


def library_of(package):
    """The dependency that is pinned is what is measured."""
    pinned = [used["name"] for used in package["dependencies"] if used["req"].startswith("=")]
    if len(pinned) > 1:
        raise Failed(f"{package['name']} pins {' and '.join(pinned)}: pin only the library that is measured, with `=`")
    return pinned[0] if pinned else package["name"]


def build(package, binaries, programs):
    """Once to count allocations and once without, so that nothing else is measured through a counting allocator."""
    # A package at a time: otherwise one's features would be another one's.
    command = ["cargo", "build", "--locked", "--release", "--bins", "--package", package]
    run([*command, "--features", "bench-harness/allocations"], cwd=BENCHES)
    (programs / COUNTING).mkdir(exist_ok=True)
    for target in binaries:
        shutil.copy2(programs / target["name"], programs / COUNTING)
    run(command, cwd=BENCHES)


def python_contenders():
    """Those whose packages cannot be installed are there all the same, so that they are missed."""
    directory = BENCHES / "python"
    requirements = directory / "requirements.txt"
    environment = target_directory() / "python"
    missing = ""
    try:
        install(requirements, environment)
    except Failed as error:
        print(f"contenders in Python are left out: {error}", file=sys.stderr)
        missing = "its packages could not be installed"
    versions = versions_in(requirements.read_text(encoding="utf-8"))
    found = []
    for script in sorted(directory.glob("with_*.py")):
        name = DURABLE.get(script.stem, script.stem.removeprefix("with_"))
        found.append(
            Contender(
                name=f"{name}_python",
                label=LABELS.get(name) or f"{PYTHON_LABELS.get(name, name)} (Python)",
                language="Python",
                version=versions.get(name, ""),
                source=str(script.relative_to(BENCHES)),
                command=(str(environment / "bin" / "python"), "-B", str(script)),
                durable=script.stem in DURABLE,
                missing=missing,
            )
        )
    return found


def install(requirements, environment):
    """Into an environment of their own, once for each version of the requirements."""
    installed = environment / "installed.txt"
    wanted = requirements.read_text(encoding="utf-8")
    if installed.exists() and installed.read_text(encoding="utf-8") == wanted:
        return
    run([sys.executable, "-m", "venv", "--clear", environment])
    pip = [environment / "bin" / "python", "-m", "pip"]
    try:
        run([*pip, "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements])
    except CommandFailed as error:
        # Of an index that cannot be reached, pip's errors say only that it has no such package.
        unreachable = r"connection broken by '(?:\w+\('<[^>]*>: )?(.*?)(?:'\))?': /"
        cause = re.search(unreachable, str(error))
        # The last one is what it comes to.
        told = [cause[1]] if cause else re.findall(r"^ERROR: (.*)$", str(error), re.MULTILINE)
        raise Failed(f"pip: {told[-1] if told else error.reason}") from error
    installed.write_text(wanted, encoding="utf-8")


def versions_in(requirements):
    """Of the packages that are pinned, by their names as modules; comments, markers and hashes are passed over."""
    pinned = re.findall(r"^([\w.-]+)(?:\[.*?\])? *== *([^\s;#\\]+)", requirements, re.MULTILINE)
    return {re.sub(r"[-.]", "_", package).lower(): version for package, version in pinned}


def scratch_directory():
    """Where contenders run, and leave their files: on the disk that holds the target directory."""
    directory = target_directory() / "scratch"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def asked(contender, what, *arguments, seconds=300):
    """The line that a contender answers with, or `Failed` with the reason in a line."""
    if contender.missing:
        raise Failed(contender.missing)
    command = contender.counting if what == "allocations" else contender.command
    environment = {**os.environ, "LANGSMITH_TRACING": "false"}
    try:
        answer = run(
            [*command, what, *map(str, arguments)],
            cwd=scratch_directory(),
            env=environment,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"took longer than {seconds} s") from error
    except CommandFailed as error:
        raise Failed(error.reason) from error
    return answer.strip()
