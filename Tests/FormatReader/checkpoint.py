"""Checks checkpoints against the log, by FORMAT.md, "Primary index", "Index runs" and "Checkpoints"."""

import struct

from catalog import Catalog, Cursor
from record_log import BLOCK, CHECKPOINT, HEADER_END, RECORD_SIZE, ROOT, Damaged
from recovery import Replay, State, checkpoint_rows, read_manifest
from rows import index_entry, value_references


class CheckpointCheck:
    """Compares checkpoints with the rows that the log has as of their commits, and counts what it saw.

    Commits may lie between a checkpoint and what it is of, so the log is followed once more.
    """

    def __init__(self, log, frames):
        self.log = log
        self.entries = self.tombstones = self.unchecked_indexes = self.commits_beside = 0
        self.problems = []
        self._manifests = []
        for frame in frames:
            self._guarded(lambda: self._manifests.append(read_manifest(log, frame)))
        # Of each commit: where it starts, where it ends.
        self._places = {0: (HEADER_END, HEADER_END)}
        self._at_commit(State(), self._places[0])
        Replay(log, HEADER_END, State(), at_commit=self._at_commit)
        for manifest in self._manifests:
            self._check_place(manifest)

    def _guarded(self, check):
        try:
            check()
        except Damaged as damage:
            self.problems.append(str(damage))

    def _at_commit(self, state, place):
        self._places[state.sequence or 0] = place
        for manifest in self._manifests:
            if manifest.sequence == (state.sequence or 0):
                self._guarded(lambda: self._check(manifest, state))

    def _check_place(self, manifest):
        """The log goes on behind the checkpoint's commit, before the next one; the checkpoint lies further on."""
        offset = manifest.frame.offset
        if manifest.sequence not in self._places or self._places[manifest.sequence][1] > offset:
            return self._problem(manifest, f"it is of commit {manifest.sequence}, which is not before it")
        self.commits_beside += sum(number > manifest.sequence and end <= offset for number, (_, end) in self._places.items())
        next_start = self._places.get(manifest.sequence + 1, (offset, 0))[0]
        if not self._places[manifest.sequence][1] <= manifest.log_end <= min(next_start, offset):
            self._problem(manifest, f"the log does not go on at {manifest.log_end} after commit {manifest.sequence}")
        if manifest.previous != (0, 0):
            self._guarded(lambda: self.log.pointed(manifest.previous, CHECKPOINT, offset))

    def _problem(self, manifest, message):
        self.problems.append(f"the checkpoint at {manifest.frame.offset}: {message}")

    def _check(self, manifest, state):
        if manifest.commit_checksum != state.checksum:
            self._problem(manifest, f"it is of another commit {manifest.sequence} than the log has")
        indexed = checkpoint_rows(self.log, manifest)
        catalog = Catalog(self.log, state)
        for table in set(state.rows) | set(indexed):
            wanted, found = state.rows.get(table, {}), indexed.get(table, {})
            if wanted != found:
                differing = [row for row in set(wanted) | set(found) if wanted.get(row) != found.get(row)]
                self._problem(manifest, f"its primary index of table {table} is wrong for row {min(differing)}")
            if table not in manifest.tables:
                continue
            stated = manifest.tables[table]
            live = sum(RECORD_SIZE + record.body[1] - record.body[0] for record in wanted.values())
            if table in catalog.tables:
                live += sum(value.length for record in wanted.values() for value in value_references(catalog, record))
            if stated.rows != len(wanted):
                self._problem(manifest, f"table {table} has {len(wanted)} rows, it says {stated.rows}")
            if stated.live_bytes != live:
                self._problem(manifest, f"table {table} has {live} live bytes, it says {stated.live_bytes}")
            if wanted and stated.next_row <= max(wanted):
                self._problem(manifest, f"table {table} has row {max(wanted)}, it would give {stated.next_row} again")
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
        entries, size = [], root.payload[1] - root.payload[0]
        for pointer, separator, count in self._blocks(root):
            block = self.log.pointed(pointer, BLOCK, root.offset)
            own = self._block(block)
            if entries and not entries[-1][0] < separator <= own[0][0]:
                raise Damaged(root.offset, "a separator does not separate")
            if len(own) != count:
                raise Damaged(root.offset, f"a block has {len(own)} entries, its root says {count}")
            entries += own
            size += block.payload[1] - block.payload[0]
        if any(a[0] >= b[0] for a, b in zip(entries, entries[1:])):
            raise Damaged(root.offset, "a run is not in order")
        if size != run.bytes:
            self._problem(manifest, f"a run has {size} bytes, it says {run.bytes}")
        return entries

    def _blocks(self, root):
        """The blocks of a run: pointers, separators and numbers of entries."""
        reader = Cursor(self.log.data, root.payload)
        count, common_length = reader.take("I"), reader.take("I")
        if not 1 <= count <= (reader.end - reader.at) // 32:
            raise Damaged(root.offset, "an index root is wrong")
        words = [reader.take("Q") for _ in range(count)]
        pointers = [reader.pointer() for _ in range(count)]
        counts = [reader.take("I") for _ in range(count)]
        ends = [reader.take("I") for _ in range(count)]
        start = reader.at + common_length
        common = bytes(self.log.data[reader.at:start])
        if [0] + ends != sorted([0] + ends) or start + ends[-1] != reader.end or words[0] or ends[0]:
            raise Damaged(root.offset, "an index root's separators are wrong")
        if any(a[0] >= b[0] for a, b in zip(pointers, pointers[1:])):
            raise Damaged(root.offset, "an index root's blocks are not in order")
        rests = [bytes(self.log.data[start + a:start + b]) for a, b in zip([0] + ends, ends)]
        if any(word != _word(rest) for word, rest in zip(words, rests)):
            raise Damaged(root.offset, "a separator's word is wrong")
        return zip(pointers, [b""] + [common + rest for rest in rests[1:]], counts)

    def _block(self, frame):
        """A block's entries, with their row numbers as they sort, each with 1 for a tombstone."""
        data = self.log.data
        reader = Cursor(data, frame.payload)
        intervals, common_length, count = reader.take("H"), reader.take("H"), reader.take("I")
        packed, intervals = intervals >> 15, intervals & 0x7FFF
        size = 32 if packed else 16
        table = [(reader.take("Q"), frame.payload[0] + reader.take("I")) for _ in range(intervals)]
        at, end = reader.at + common_length, reader.end
        common = bytes(data[reader.at:at])
        entries, key, row = [], b"", 0
        while at < end:
            interval, place = divmod(len(entries), size)
            if place == 0 and (interval >= intervals or table[interval][1] != at):
                raise Damaged(frame.offset, "an interval does not start where the block says")
            head, at = _varint(data, at, end, frame)
            if packed and not head & 1:
                tombstone, step = head >> 1 & 1, head >> 2
                if place == 0 or step == 0:
                    raise Damaged(frame.offset, "an index entry is wrong")
                row += step
            else:
                rest, at = _varint(data, at, end, frame)
                shared, tombstone, length = (head >> 2, head >> 1 & 1, rest) if packed else (head, rest & 1, rest >> 1)
                if shared > len(key) or (place == 0 and shared) or at + length > end:
                    raise Damaged(frame.offset, "an index entry is wrong")
                key = key[:shared] + bytes(data[at:at + length])
                row, at = _varint(data, at + length, end, frame)
            if row >> 48:
                raise Damaged(frame.offset, "an index entry is of an impossible row")
            if place == 0 and table[interval][0] != _word(key):
                raise Damaged(frame.offset, "an interval's word is wrong")
            entries.append((common + key + row.to_bytes(6, "big"), tombstone))
        if not entries or len(entries) != count or intervals != (count + size - 1) // size:
            raise Damaged(frame.offset, "an index block does not have the entries that it says")
        return entries


def _word(key):
    """The first eight bytes as a number that sorts as they do."""
    return int.from_bytes(key[:8].ljust(8, b"\0"), "big")


def _varint(data, at, limit, frame):
    value = shift = 0
    while at < limit and shift < 56:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if not data[at - 1] & 0x80:
            return value, at
        shift += 7
    raise Damaged(frame.offset, "a number in an index block does not end")
