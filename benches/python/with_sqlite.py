"""The durable chain by hand: after each step a row in SQLite, committed and on the disk before the next step starts.

What the disk takes, whatever the library.
"""

import sqlite3
import tempfile
from pathlib import Path

import harness


def chain():
    directory = tempfile.TemporaryDirectory(dir=".", prefix="durable-")
    database = Path(directory.name, "steps.sqlite")
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE steps (run INTEGER, step INTEGER, total INTEGER)")
    runs = iter(range(2**63))

    def run(total, _kept=directory):
        run = next(runs)
        for step, _ in enumerate(harness.CHAIN_NODES):
            total += 1
            connection.execute("INSERT INTO steps VALUES (?, ?, ?)", (run, step, total))
        return total

    return harness.task(run)


harness.main({"chain": chain})
