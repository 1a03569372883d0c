#!/usr/bin/env python3
"""A second implementation of FORMAT.md, to show that FORMAT.md suffices for one. Standard library only.

    heartwood_reader.py STORE --entity E    the entity's objects as JSON Lines, as `heartwood export STORE --entity E`;
                                            several entities' one after the other
    heartwood_reader.py STORE --history     the transactions' numbers and their changes, as `heartwood history STORE`
    heartwood_reader.py STORE --check       checks everything and prints counts
    heartwood_reader.py FILE --log-archive  checks a log archive of a backup and prints its commits
    heartwood_reader.py STORE               the entities' names

Exit code: 0 done, or sound; 1 damaged; 2 wrong usage, or no store.
"""

import sys

from catalog import SYSTEM_TABLE, Catalog
from checkpoint import CheckpointCheck
from history import lines as history_lines, transactions
from log_archive import lines as archive_lines
from record_log import HEADER_END, Damaged, NotAStore, RecordLog
from recovery import Replay, State, recover
from rows import read_row, value_references
from stack import Stack


def check(log):
    """Reads all of the log from its beginning, each checkpoint against it, and each row. -> lines, problems"""
    replay = Replay(log, HEADER_END, State(), looks_inside=True)
    checkpoints = CheckpointCheck(log, replay.checkpoints)
    problems = checkpoints.problems
    tail = replay.tail()
    decision = replay.settle()
    if replay.waiting:
        answer = {True: "is decided", False: "is not decided", None: "cannot be decided here"}[decision]
        problems.append(f"waiting: the newest commit is a part of a save over several stores and {answer}")
    if tail.kind != "clean":
        problems.append(f"{tail.kind}: {tail.message}; what is whole ends at byte {tail.offset}")
    if replay.damaged_frames:
        problems.append(f"{replay.damaged_frames} damaged frames of indexes or checkpoints")
    catalog = Catalog(log, replay.state)
    values, large = 0, []
    for table, rows in replay.state.rows.items():
        if table != SYSTEM_TABLE:
            values += sum(len(read_row(catalog, record)) for record in rows.values())
            large += [value.pointer[0] for record in rows.values() for value in value_references(catalog, record)]
    told = sum(len(changes) for _, changes in transactions(log, replay.state, catalog))
    if len(set(large)) != len(large):
        problems.append("two rows have one value in frames of its own")
    try:
        recovered = recover(log)
        recovered.settle()
        if recovered.state.rows != replay.state.rows or recovered.stop != replay.stop:
            problems.append("the newest checkpoint and the commits behind it make another state than the whole log")
    except Damaged as damage:
        problems.append(str(damage))
    problems += log.header_problems() + list(log.oddities.values())
    if log.slot and tail.kind == "clean" and (log.slot.sequence, log.slot.end) != (replay.state.sequence, replay.stop):
        problems.append(
            f"the header says commit {log.slot.sequence} and end {log.slot.end}, "
            f"the log says {replay.state.sequence} and {replay.stop}")
    counts = {
        "frames": replay.frames, "commits": replay.commits, "newest commit": replay.state.sequence, "row records": replay.records,
        "rows": sum(map(len, replay.state.rows.values())), "values": values, "large values": len(large), "checkpoints": len(replay.checkpoints),
        "commits beside checkpoints": checkpoints.commits_beside, "index entries compared": checkpoints.entries,
        "tombstones": checkpoints.tombstones, "changes in the history": told,
        "indexes not compared": checkpoints.unchecked_indexes, "end": replay.stop,
    }
    return [f"{name}: {count}" for name, count in counts.items()], problems


def main(arguments):
    path, option, entities = (arguments + ["", ""])[0], (arguments + ["", ""])[1], arguments[2:]
    if not path or path.startswith("-") or (option, bool(entities)) not in (("", False), ("--check", False), ("--history", False), ("--log-archive", False), ("--entity", True)):
        print(__doc__, file=sys.stderr)
        return 2
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    try:
        with open(path, "rb") as file:
            data = file.read()
        if option == "--log-archive":
            print("\n".join(archive_lines(data)))
            return 0
        log = RecordLog(data, path)
        if option == "--check":
            lines, problems = check(log)
            print("\n".join(problems + lines))
            return 1 if problems else 0
        replay = recover(log)
        replay.settle()
        stack = Stack(log, replay.state)
        if option == "--history":
            for line in history_lines(stack):
                print(line)
            return 0
        for entity in entities:
            for line in stack.export(entity):
                print(line)
        if not entities:
            print("\n".join(sorted(stack.entities)))
        return 0
    except (NotAStore, OSError, KeyError) as error:
        print(f"heartwood_reader: {path}: {error.args[-1] if isinstance(error, KeyError) else error}", file=sys.stderr)
        return 2
    except Damaged as damage:
        print(f"heartwood_reader: {path}: {damage}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
