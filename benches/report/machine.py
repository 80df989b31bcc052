"""The machine and the versions that figures belong to."""

import datetime
import os
import platform
import re
from pathlib import Path

from report.contenders import BENCHES, Failed, run


def described():
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "processor": first(r"model name\s*: (.+)", "/proc/cpuinfo") or platform.processor(),
        "cores": os.cpu_count(),
        "memory": memory(),
        "kernel": f"{platform.system()} {platform.release()}",
        "rustc": run(["rustc", "--version"]).strip(),
        "python": platform.python_version(),
    }


def commit():
    """With `+` if there are changes to what is measured."""
    try:
        name = run(["git", "rev-parse", "--short", "HEAD"], cwd=BENCHES).strip()
        measured = [
            "flow-runtime/src",
            "flow-macros/src",
            "flow-spec/src",
            "flow-agents/src",
            "flow-durable/src",
            "benches/contenders",
            "benches/harness",
        ]
        changes = run(["git", "status", "--porcelain", *measured], cwd=BENCHES.parent)
    except Failed:
        return "unknown"
    return name + ("+" if changes.strip() else "")


def memory():
    kibibytes = first(r"MemTotal:\s*(\d+)", "/proc/meminfo")
    return f"{round(int(kibibytes) / 2**20)} GiB" if kibibytes else "unknown"


def first(pattern, file):
    try:
        found = re.search(pattern, Path(file).read_text(encoding="utf-8"))
    except OSError:
        return None
    return found[1].strip() if found else None
