#!/usr/bin/env python3
"""Makes small mutations in the sources and lists those that no test sees. README.md says how it is run."""

import argparse
import csv
import os
import re
import sys
import threading
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

from scratch import Scratch

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.dirname(HERE))
FIELDS = ["file", "function", "kind", "source", "change", "result", "seen by"]

# `left_out` names the suites that wait for the clock or for other processes, if any.
Area = namedtuple("Area", "module tests targets folders left_out")
AREAS = {
    "engine": Area(
        "RecordLog", "RecordLogTests", ["RecordLog", "HeartwoodTestSupport", "RecordLogTests"],
        ["RecordLog/Format", "RecordLog/Index", "RecordLog/Store/Writing"], "LockHolder|LargeCommit"),
    "stack": Area(
        "Heartwood", "HeartwoodTests", ["HeartwoodFileReading", "RecordLog", "HeartwoodPredicateClasses", "Heartwood", "HeartwoodTestSupport", "HeartwoodTests"],
        [
            "Heartwood/Graph/Objects", "Heartwood/Graph/Context", "Heartwood/Graph/Stores", "Heartwood/Graph/Children", "Heartwood/Graph/Undo",
            "Heartwood/Graph/Conflicts", "Heartwood/Storage/Derivation",
        ], None),
}


def words(name):
    return set(re.findall(r"[A-Z][a-z]+", name)) - {"Tests", "Store", "Log", "Managed", "Object", "Context"}


def log(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)


class Table:
    """The rows of a table that is read, and those of this run in their place or besides."""

    def __init__(self, source, target):
        self.target, self.rows = target, []
        if source:
            with open(source, newline="") as file:
                self.rows = list(csv.reader(file))[1:]

    def of(self, area, results):
        return [row for row in self.rows if row[0].startswith(f"Sources/{area.module}/") and (not results or row[5] in results)]

    def put(self, new):
        """A mutant that is still unseen keeps what a person has written about it."""
        known = next((row for row in self.rows if row[:5] == new[:5]), None)
        if known is None:
            self.rows.append(new)
        elif new[5] == "seen" or known[5] not in ("equivalent", "open"):
            known[:] = new
        if self.target:
            with open(self.target, "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([FIELDS] + sorted(self.rows))


class Judge:
    """Runs for a mutant the suites that reach it: the quick and the ones of its name first, then the rest."""

    def __init__(self, scratch, reach):
        self.scratch, self.reach = scratch, reach

    def row(self, number):
        mutant = self.scratch.mutants[number]
        result, seen = self._judge(number, mutant)
        log(f"{number} {result}: {mutant.file}, {mutant.function}, {mutant.kind}: {mutant.before} -> {mutant.change} [{seen}]")
        return [mutant.file, mutant.function, mutant.kind, mutant.before, mutant.change, result, seen]

    def _judge(self, number, mutant):
        suites = [suite for suite, (_, reached) in self.reach.items() if number in reached]
        if not suites:
            return "not covered", ""
        near = words(os.path.basename(mutant.file))
        suites.sort(key=lambda suite: (not near & words(suite), self.reach[suite][0]))
        spent, first = 0, []
        for suite in suites:
            spent += self.reach[suite][0]
            if first and spent > 4:
                break
            first.append(suite)
        for stage in (first, suites[len(first):]):
            if stage:
                limit = 30 + 4 * sum(self.reach[suite][0] for suite in stage)
                failure, _ = self.scratch.run(stage, number, limit)
                if failure:
                    return "seen", self._named(failure, stage, number)
        return "survived", ""

    def _named(self, failure, stage, number):
        """Says which suite crashes."""
        if not failure.startswith("crash"):
            return failure
        for suite in stage:
            alone, _ = self.scratch.run([suite], number, 30 + 4 * self.reach[suite][0])
            if alone:
                return f"{suite} ({alone})" if alone.startswith("crash") else alone
        return failure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("area", choices=AREAS)
    parser.add_argument("--count", type=int, default=120, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants are run at a time")
    parser.add_argument("--table", help="takes the mutants of this table in place of those of the seed")
    parser.add_argument("--with-result", nargs="*", help="only those of the table's mutants that have one of these results")
    parser.add_argument("--only", type=int, nargs="*", help="only the mutants of these numbers")
    parser.add_argument("--suites", help="only the suites that this expression names")
    parser.add_argument("--minutes", type=float, help="starts no further mutant after this time")
    parser.add_argument("--scratch", default=os.path.join(PACKAGE, ".build-mutants"))
    parser.add_argument("--results", help="where the table is written")
    arguments = parser.parse_args()
    area = AREAS[arguments.area]
    scratch = Scratch(PACKAGE, os.path.join(arguments.scratch, arguments.area), area)
    scratch.copy()
    table = Table(arguments.table, arguments.results)
    if arguments.table:
        for row in scratch.take(table.of(area, arguments.with_result)):
            log(f"Not there any more: {row[:5]}")
    else:
        scratch.choose(arguments.count, arguments.seed)
    scratch.build(log)
    suites = [suite for suite in scratch.suites() if not arguments.suites or re.search(arguments.suites, suite)]
    log(f"Built with {len(scratch.mutants)} mutants; {len(suites)} suites")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        found = zip(suites, pool.map(lambda suite: scratch.reach(suite, log), suites))
    reach = {suite: result for suite, result in found if result}
    log(f"{sum(seconds for seconds, _ in reach.values()):.0f} s of tests")
    numbers = [
        number for number, mutant in enumerate(scratch.mutants)
        if mutant and (arguments.only is None or number in arguments.only)]
    # In the order of a hash: a run that ends early has mutants of each folder.
    numbers.sort(key=lambda number: number * 7919 % 10007)
    judge, begun, ran, unseen, lock = Judge(scratch, reach), time.monotonic(), [], [], threading.Lock()

    def run(number):
        if arguments.minutes and time.monotonic() - begun > arguments.minutes * 60:
            return
        row = judge.row(number)
        # Written each time: a run that is ended has a table too.
        with lock:
            table.put(row)
            ran.append(number)
            unseen.extend([number] if row[5] != "seen" else [])

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(run, numbers))
    log(f"{len(ran)} of {len(numbers)} mutants were run; unseen are {sorted(unseen)}")
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
