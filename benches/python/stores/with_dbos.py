"""The chain with DBOS on Postgres: a workflow of ten steps, so many at once, each in a thread of DBOS.

Prints how many ended, and the seconds that it took.
"""

import sys
import threading
import time

from dbos import DBOS

ADDRESS, AT_ONCE, SECONDS = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])

DBOS(config={"name": "chain", "system_database_url": ADDRESS, "run_admin_server": False, "log_level": "ERROR"})


@DBOS.step()
def add(total):
    return total + 1


@DBOS.workflow()
def chain(total):
    for _ in range(10):
        total = add(total)
    return total


def once():
    if DBOS.start_workflow(chain, 0).get_result() != 10:
        raise ValueError("the chain did not come to 10")


DBOS.launch()
once()
began = time.monotonic()
counts = [0] * AT_ONCE


def repeat(place):
    while time.monotonic() < began + SECONDS:
        once()
        counts[place] += 1


threads = [threading.Thread(target=repeat, args=(place,)) for place in range(AT_ONCE)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(counts), time.monotonic() - began)
DBOS.destroy()
