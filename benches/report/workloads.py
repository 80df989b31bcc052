"""The workloads of `harness/src/workload.rs`, as the document tells of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    transitions: int
    # How many runs callgrind counts. `None` if a workload is only timed, and its allocations are not counted either:
    # threads do the work, so that two runs do not do the same; or a run is long.
    counted_runs: int | None = 200


WORKLOADS = [
    Workload("single", "One node: what a run costs", 1),
    Workload("chain", "Chain of 10 nodes", 10),
    Workload("fallible_chain", "Chain of 10 nodes that each return a `Result`", 10),
    Workload("loop", "Loop of two nodes, 1,000 rounds", 2_000, counted_runs=5),
    Workload("branch", "Branch of three", 3),
    Workload("fork", "Fork of 8", 9),
    Workload("nested", "Flow in flow, three deep, 10 nodes in all", 10),
    Workload("payload", "64 KiB through 10 nodes", 10),
    Workload("batch", "Batch of 10,000 items, 16 at once", 10_000, counted_runs=5),
    Workload("waiting_batch", "The same batch, each item waits once", 10_000, counted_runs=5),
    Workload("concurrent", "1,000 chains at once on two workers", 10_000, counted_runs=None),
    Workload("observed", "The loop, with an observer that ignores everything", 2_000, counted_runs=5),
    Workload("observed_chain", "The chain, with an observer that ignores everything", 10),
    Workload("load", "A document of 10,000 nodes, loaded", 10_000, counted_runs=None),
]
BY_NAME = {workload.name: workload for workload in WORKLOADS}
