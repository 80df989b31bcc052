"""The disk alone: after each step 4 KiB are written to a file, and synced before the next step starts.

The file has its size beforehand, so that a sync writes the data and nothing about the file.
"""

import os
import tempfile
from pathlib import Path

import harness

PAGE = bytes(4096)
PAGES = 1_000


def chain():
    directory = tempfile.TemporaryDirectory(dir=".", prefix="durable-")
    file = os.open(Path(directory.name, "pages"), os.O_WRONLY | os.O_CREAT)
    os.write(file, PAGE * PAGES)
    os.fsync(file)
    pages = iter(range(2**63))

    def run(total, _kept=directory):
        for _ in harness.CHAIN_NODES:
            total += 1
            os.pwrite(file, PAGE, next(pages) % PAGES * len(PAGE))
            os.fdatasync(file)
        return total

    return harness.task(run)


harness.main({"chain": chain})
