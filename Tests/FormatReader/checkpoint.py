"""Checks a checkpoint against the log, by FORMAT.md, "Primary index", "Index runs" and "Checkpoints"."""

import struct

from catalog import Catalog, Cursor
from record_log import BLOCK, ROOT, Damaged
from recovery import checkpoint_rows, read_manifest
from rows import index_entry


class CheckpointCheck:
    """Compares each checkpoint with the rows that the log has at that place, and counts what it saw."""

    def __init__(self, log):
        self.log = log
        self.entries = self.tombstones = self.unchecked_indexes = 0
        self.problems = []

    def __call__(self, frame, state):
        try:
            self._check(read_manifest(self.log, frame), state)
        except Damaged as damage:
            self.problems.append(str(damage))

    def _problem(self, manifest, message):
        self.problems.append(f"the checkpoint at {manifest.frame.offset}: {message}")

    def _check(self, manifest, state):
        if (manifest.sequence, manifest.commit_checksum) != (state.sequence, state.checksum):
            self._problem(manifest, f"it is of commit {manifest.sequence}, the log is at {state.sequence}")
        indexed = checkpoint_rows(self.log, manifest)
        for table in set(state.rows) | set(indexed):
            wanted, found = state.rows.get(table, {}), indexed.get(table, {})
            if wanted != found:
                differing = [row for row in set(wanted) | set(found) if wanted.get(row) != found.get(row)]
                self._problem(manifest, f"its primary index of table {table} is wrong for row {min(differing)}")
            if table not in manifest.tables:
                continue
            stated = manifest.tables[table]
            live = sum(record.end - record.address for record in wanted.values())
            if stated.rows != len(wanted):
                self._problem(manifest, f"table {table} has {len(wanted)} rows, it says {stated.rows}")
            if stated.live_bytes != live:
                self._problem(manifest, f"table {table} has {live} live bytes, it says {stated.live_bytes}")
            if wanted and stated.next_row <= max(wanted):
                self._problem(manifest, f"table {table} has row {max(wanted)}, it would give {stated.next_row} again")
        catalog = Catalog(self.log, state)
        for index in catalog.indexes.values():
            if index.extractor or index.id not in manifest.indexes:
                self.unchecked_indexes += 1
                continue
            wanted = {index_entry(catalog, index, record) for record in state.rows.get(index.table, {}).values()}
            found = self._entries(manifest, index)
            if wanted != found:
                odd = sorted(wanted ^ found)[0]
                what = "lacks" if odd in wanted else "has too much"
                self._problem(manifest, f"index {index.id} ({index.name}) {what} {odd.hex()}")
            self.entries += len(wanted)

    def _entries(self, manifest, index):
        """The entries of an index: those of its runs, where no newer run's entry hides them."""
        seen = {}
        for run in manifest.indexes.get(index.id, []):
            entries = self._run(run, manifest)
            if len(entries) != run.entries:
                self._problem(manifest, f"a run of index {index.id} has {len(entries)} entries, it says {run.entries}")
            for entry, tombstone in entries:
                self.tombstones += tombstone
                seen.setdefault(entry, tombstone)
        return {entry for entry, tombstone in seen.items() if not tombstone}

    def _run(self, run, manifest):
        root = self.log.pointed(run.root, ROOT, manifest.frame.offset)
        start, end = root.payload
        reader = Cursor(self.log.data, root.payload)
        count, _ = reader.take("I"), reader.take("I")
        blocks = []
        for _ in range(count):
            pointer, offset, length = reader.pointer(), reader.take("I"), reader.take("I")
            if start + offset + length > end:
                raise Damaged(root.offset, "a separator lies outside its root")
            blocks.append((pointer, bytes(self.log.data[start + offset:start + offset + length])))
        if not blocks or blocks[0][1]:
            raise Damaged(root.offset, "an index root is wrong")
        entries, size = [], end - start
        for pointer, separator in blocks:
            block = self.log.pointed(pointer, BLOCK, root.offset)
            own = self._block(block)
            if entries and not entries[-1][0] < separator <= own[0][0]:
                raise Damaged(root.offset, "a separator does not separate")
            entries += own
            size += block.payload[1] - block.payload[0]
        if any(a[0] >= b[0] for a, b in zip(entries, entries[1:])):
            raise Damaged(root.offset, "a run is not in order")
        if size != run.bytes:
            self._problem(manifest, f"a run has {size} bytes, it says {run.bytes}")
        return entries

    def _block(self, frame):
        data = self.log.data
        start, end = frame.payload
        (intervals,) = struct.unpack_from("<I", data, end - 4)
        first = end - 4 - 4 * intervals
        if not intervals or first < start:
            raise Damaged(frame.offset, "an index block is wrong")
        offsets = [offset + start for offset in struct.unpack_from(f"<{intervals}I", data, first)] + [first]
        if offsets[0] != start:
            raise Damaged(frame.offset, "an index block is wrong")
        entries = []
        for at, limit in zip(offsets, offsets[1:]):
            entry, count = b"", 0
            while at < limit:
                shared, at = _varint(data, at, limit, frame)
                rest, at = _varint(data, at, limit, frame)
                tombstone, length = rest & 1, rest >> 1
                if shared > len(entry) or (count == 0 and shared) or at + length > limit:
                    raise Damaged(frame.offset, "an index entry is wrong")
                entry = entry[:shared] + bytes(data[at:at + length])
                at += length
                count += 1
                entries.append((entry, tombstone))
            if not 1 <= count <= 16:
                raise Damaged(frame.offset, f"an interval of {count} entries")
        return entries


def _varint(data, at, limit, frame):
    value = shift = 0
    while at < limit and shift < 35:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if not data[at - 1] & 0x80:
            return value, at
        shift += 7
    raise Damaged(frame.offset, "a number in an index block does not end")
