"""Commits about which another store decides, by FORMAT.md, "Saves over several stores"."""

import os
import struct
from collections import namedtuple

from catalog import SYSTEM_TABLE, Cursor
from record_log import Damaged, NotAStore, RecordLog

DECISIONS_ROW = 3

Prepared = namedtuple("Prepared", "group store_id sequence relative_path path")


def read_prepared(log, frame):
    """What a prepared frame says beside its footer."""
    reader = Cursor(log.data, (frame.payload[0], log.footer(frame).records_end))
    group, store_id = reader.bytes(16), reader.bytes(16)
    prepared = Prepared(group, store_id, reader.take("Q"), reader.name(), reader.name())
    if reader.at != reader.end or max(len(prepared.relative_path.encode()), len(prepared.path.encode())) > 4096:
        raise Damaged(frame.offset, "a prepared frame is wrong")
    return prepared


def decided_groups(log, state):
    """The groups that a store lists as decided."""
    record = state.rows.get(SYSTEM_TABLE, {}).get(DECISIONS_ROW)
    if not record:
        return set()
    reader = Cursor(log.data, record.body)
    if reader.take("B") != 1:
        raise Damaged(record.address, "a list of decisions of an unknown version")
    groups = set()
    for _ in range(reader.take("I")):
        groups.add(reader.bytes(16))
        for _ in range(reader.take("I")):
            reader.bytes(16)
    if reader.at != reader.end:
        raise Damaged(record.address, "bytes behind a list of decisions")
    return groups


def is_decided(log, frame, recover):
    """Whether the coordinator's store lists a prepared frame's group; None where it cannot be asked.

    `recover` gives the newest state of a log, without asking further.
    """
    prepared = read_prepared(log, frame)
    here = os.path.dirname(log.path or "")
    for path in (os.path.join(here, prepared.relative_path), prepared.path, os.path.join(here, os.path.basename(prepared.path))):
        try:
            with open(path, "rb") as file:
                deciding = RecordLog(file.read(), path)
            if deciding.identity.store_id == prepared.store_id:
                return prepared.group in decided_groups(deciding, recover(deciding).state)
        except (OSError, NotAStore, Damaged, struct.error):
            continue
    return None
