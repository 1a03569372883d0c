"""The chain of commits, by FORMAT.md, "Commits", "Checkpoints" and "Recovery"."""

import struct
from collections import namedtuple

from catalog import CATALOG_ROW, SYSTEM_TABLE, Catalog, Cursor
from groups import is_decided, read_prepared
from record_log import (
    BATCH, CHECKPOINT, COMMIT, DELETE, DIRECTORY, HEADER_END, PAD, PAGE, PREPARED, PUT, ROWS, VALUE_CHUNK, VALUE_LIST, Damaged, Tail,
    fold)

OF_COMMITS = ROWS, COMMIT, VALUE_CHUNK, VALUE_LIST, PREPARED

Manifest = namedtuple("Manifest", "frame sequence commit_checksum log_end previous tables indexes")
TableState = namedtuple("TableState", "next_row rows live_bytes directory")
Run = namedtuple("Run", "root entries bytes")


def read_manifest(log, frame):
    """The manifest that a checkpoint frame holds."""
    reader = Cursor(log.data, frame.payload)
    if reader.take("B") != 1:
        raise Damaged(frame.offset, "a manifest of an unknown version")
    sequence, commit_checksum, log_end = reader.take("Q"), reader.take("Q"), reader.take("Q")
    if log_end % 64 or not HEADER_END <= log_end <= frame.offset:
        raise Damaged(frame.offset, "the log cannot go on where a manifest says")
    previous = reader.pointer()
    tables, indexes = {}, {}
    for _ in range(reader.take("I")):
        table = reader.take("H")
        tables[table] = TableState(reader.take("Q"), reader.take("Q"), reader.take("Q"), reader.pointer())
    for _ in range(reader.take("I")):
        index = reader.take("H")
        indexes[index] = [Run(reader.pointer(), reader.take("Q"), reader.take("Q")) for _ in range(reader.take("I"))]
    if reader.at != reader.end:
        raise Damaged(frame.offset, "bytes behind a manifest")
    return Manifest(frame, sequence, commit_checksum, log_end, previous, tables, indexes)


def directory_pages(log, manifest, table):
    """A table's pages: for each its pointer, (0, 0) for none."""
    pointer = manifest.tables[table].directory if table in manifest.tables else (0, 0)
    if pointer == (0, 0):
        return []
    frame = log.pointed(pointer, DIRECTORY, manifest.frame.offset)
    reader = Cursor(log.data, frame.payload)
    return [reader.pointer() for _ in range((reader.end - reader.at) // 16)]


def checkpoint_rows(log, manifest):
    """The rows as of a checkpoint, by its primary index: table -> row number -> record."""
    return {
        table: {row: _indexed(log, table, row, address) for row, address in _addresses(log, manifest, table)}
        for table in manifest.tables}


def _addresses(log, manifest, table):
    """Row numbers and addresses."""
    for page, pointer in enumerate(directory_pages(log, manifest, table)):
        if pointer == (0, 0):
            continue
        frame = log.pointed(pointer, PAGE, manifest.tables[table].directory[0])
        start, end = frame.payload
        if end - start < 16:
            raise Damaged(frame.offset, "a primary page's size is wrong")
        form, count, base = struct.unpack_from("<IIQ", log.data, start)
        if form > 1 or count > 4096 or end - start != 16 + count * (8 if form else 4) or (form and base):
            raise Damaged(frame.offset, "a primary page is wrong")
        for place, value in enumerate(struct.unpack_from(f"<{count}{'Q' if form else 'I'}", log.data, start + 16)):
            if value:
                yield 4096 * page + place, base + value


def _indexed(log, table, row, address):
    record = log.record(address)
    if (record.table, record.row, record.operation) != (table, row, PUT):
        raise Damaged(address, "the primary index leads to another row")
    return record


class State:
    """The rows of every table as of one commit."""

    def __init__(self, rows=None, sequence=None, checksum=0):
        self.rows = rows or {}
        self.sequence, self.checksum = sequence, checksum

    def apply(self, log, record, is_first):
        """One record in the order of the log. Raises `Damaged` where it does not follow the row's previous one."""
        table = self.rows.setdefault(record.table, {})
        old = table.get(record.row)
        if not old and record.previous:
            # A row that is put again after its deletion, which counts as a version.
            old = log.record(record.previous)
            if (old.table, old.row, old.operation) != (record.table, record.row, DELETE):
                raise Damaged(record.address, "a row record names another row's as its previous one")
        # The first commit of a compacted file keeps the rows' versions and has none of their history.
        follows = record.version == old.version + 1 if old else record.version == 1 or is_first
        if record.previous != (old.address if old else 0) or not follows:
            raise Damaged(record.address, "a row record does not follow the row's previous one")
        if record.operation == DELETE:
            table.pop(record.row, None)
        else:
            table[record.row] = record


class Replay:
    """Follows the log from an offset to its stop, and says what the bytes behind that are.

    Looks into batches, which an opening steps over, where `looks_inside`. `at_commit` has the state after each commit, and
    where that starts and ends.
    """

    def __init__(self, log, offset, state, looks_inside=False, at_commit=None):
        self.log, self.state = log, state
        self.frames = self.commits = self.records = self.damaged_frames = 0
        self.checkpoints = []
        self.looks_inside, self.at_commit = looks_inside, at_commit
        self.stop = offset
        self.reason = "the file's end"
        # The frames of a commit that waits for another store, the prepared one last.
        self.waiting = []
        self._follow(offset)

    def _follow(self, offset):
        """Reads on; `self.stop` is where the last whole commit, or what follows it and is none, ends."""
        pending = []
        # Behind the last commit there is a damaged frame that may as well be the beginning of a torn tail.
        is_doubtful = False
        # The log does not end within a batch.
        batch_end = 0
        while offset < len(self.log.data):
            try:
                frame = self.log.frame(offset)
                if frame.kind == PAD:
                    pass
                elif frame.kind in OF_COMMITS:
                    self._check_follows(frame, pending)
                    pending.append(frame)
                    if frame.kind == PREPARED:
                        read_prepared(self.log, frame)
                        self._check_footer(pending)
                        self.waiting = list(pending)
                    if frame.kind == COMMIT:
                        self._commit(pending)
                        pending, is_doubtful, self.waiting, batch_end = [], False, [], 0
                elif pending:
                    raise Damaged(offset, "a commit is interrupted")
                elif frame.kind == CHECKPOINT:
                    self.checkpoints.append(frame)
                self.frames += 1
                offset += frame.length
                if frame.kind == BATCH:
                    batch_end = self.log.batch_end(frame)
                    if self._is_durable(batch_end):
                        if self.looks_inside:
                            self._look_inside(offset, batch_end)
                        offset = batch_end
                counts = frame.kind == COMMIT or PAGE <= frame.kind <= BATCH and self._is_published(offset)
            except Damaged as damage:
                length = self._passable(offset) if not pending else 0
                if not length:
                    self.reason = str(damage)
                    return
                self.damaged_frames += 1
                offset += length
                is_doubtful = is_doubtful or not self._is_durable(offset)
                counts = self._is_published(offset)
            if counts and not pending and not is_doubtful and offset >= batch_end:
                self.stop = offset

    def _look_inside(self, offset, end):
        """The frames of a batch, which a damaged one among them does not end."""
        while offset < end:
            length = self.log._frame_length(offset)
            try:
                frame = self.log.frame(offset)
                if frame.kind in OF_COMMITS + (BATCH,) or offset + length > end:
                    raise Damaged(offset, "a frame that is not of a batch")
                self.frames += 1
                if frame.kind == CHECKPOINT:
                    self.checkpoints.append(frame)
            except Damaged:
                self.damaged_frames += 1
            offset += length or end - offset

    def _is_published(self, end):
        """Whether the header knows of what ends here: past its end, frames that are no commit's are an unfinished checkpoint's."""
        return bool(self.log.slot) and end <= self.log.slot.end

    def _is_durable(self, end):
        """Whether the header says that what ends here was on the disk."""
        return bool(self.log.slot) and end <= self.log.slot.durable_end

    def _passable(self, offset):
        """The length of a damaged frame of kind 4 to 9 that the log goes on behind; else 0."""
        length = self.log._frame_length(offset)
        if not length or not PAGE <= self.log.data[offset + 16] <= BATCH:
            return 0
        behind = offset + length
        if self.log.slot and self.log.slot.end == behind:
            return length
        try:
            self.log.frame(behind)
            return length
        except Damaged:
            return 0

    def _check_follows(self, frame, pending):
        if pending and pending[-1].kind == PREPARED and frame.kind != COMMIT:
            raise Damaged(frame.offset, "a prepared frame is not its commit's last but one")
        expected = pending[0].sequence if pending else (self.state.sequence or 0) + 1
        if frame.sequence != expected and (pending or self.state.sequence is not None or frame.sequence == 0):
            raise Damaged(frame.offset, f"sequence {frame.sequence} where {expected} is next")

    def _check_footer(self, frames):
        footer = self.log.footer(frames[-1])
        rows_checksum = 0
        for frame in frames[:-1]:
            rows_checksum = fold(rows_checksum, frame.checksum)
        if (footer.sequence, footer.start, footer.previous, footer.rows_checksum) != (
                frames[0].sequence, frames[0].offset, self.state.checksum, rows_checksum):
            raise Damaged(frames[-1].offset, "a commit's footer does not follow the commit before")
        return footer

    def settle(self):
        """Takes the commit that waits where the store that decides about it says so. -> whether it does; None where none can be asked"""
        if not self.waiting or self.log.slot and self.log.slot.durable_end > self.stop:
            return False
        decision = is_decided(self.log, self.waiting[-1], recover)
        if decision:
            self._apply(self.waiting, self.log.footer(self.waiting[-1]))
        return decision

    def _commit(self, frames):
        self._apply(frames, self._check_footer(frames))

    def _apply(self, frames, footer):
        log, state = self.log, self.state
        records = [record for frame in frames if frame.kind in (ROWS, COMMIT) for record in log.records(frame)]
        if len(records) != footer.rows:
            raise Damaged(frames[-1].offset, f"a commit of {footer.rows} rows has {len(records)}")
        for record in records:
            state.apply(log, record, is_first=state.sequence is None)
            if (record.table, record.row) == (SYSTEM_TABLE, CATALOG_ROW):
                self._drop_tables()
        state.sequence, state.checksum = footer.sequence, frames[-1].checksum
        self.commits += 1
        self.records += len(records)
        if self.at_commit:
            self.at_commit(state, (footer.start, frames[-1].offset + frames[-1].length))

    def _drop_tables(self):
        """Forgets the rows of tables that the catalog has no longer."""
        known = Catalog(self.log, self.state).tables
        for table in list(self.state.rows):
            if table != SYSTEM_TABLE and table not in known:
                del self.state.rows[table]

    def tail(self):
        """Whether the file ends well, in a torn tail, or in corruption."""
        log, slot = self.log, self.log.slot
        if slot and slot.durable_end > self.stop:
            return Tail("corrupt", self.stop, f"{self.reason}, and the header knows that {slot.durable_end} bytes were durable")
        last = self.state.sequence or 0
        for offset in range(self.stop, len(log.data), 64):
            if not log._frame_length(offset) or log.data[offset + 16] != COMMIT:
                continue
            try:
                footer = log.footer(log.frame(offset))
            except Damaged:
                continue
            if footer.sequence > last and footer.durable_sequence > last:
                return Tail("corrupt", self.stop, f"{self.reason}, and commit {footer.sequence} at {offset} knows that it was durable")
        return Tail("torn" if any(log.data[self.stop:]) else "clean", self.stop, self.reason)


def recover(log):
    """The newest state, as an opening finds it: from the slot's checkpoint, else from the log's beginning. -> Replay

    Raises `Damaged` where the checkpoint is whole and leads to a row or a page that is not.
    """
    manifest = newest_checkpoint(log)
    if not manifest:
        return Replay(log, HEADER_END, State())
    # Commit 0 is none: a store may have a checkpoint before it has a commit.
    state = State(checkpoint_rows(log, manifest), manifest.sequence or None, manifest.commit_checksum)
    return Replay(log, manifest.log_end, state)


def newest_checkpoint(log):
    """The manifest that the slot names; None where there is none, or it, a directory or the catalog is damaged."""
    slot = log.slot
    if not slot or not slot.checkpoint:
        return None
    try:
        frame = log.pointed((slot.checkpoint, slot.checkpoint_checksum), CHECKPOINT, len(log.data))
        manifest = read_manifest(log, frame)
        for table, stated in manifest.tables.items():
            if stated.next_row > 4096 * len(directory_pages(log, manifest, table)):
                raise Damaged(frame.offset, "a primary index is shorter than its table")
        for runs in manifest.indexes.values():
            if any(run.root[0] >= frame.offset for run in runs):
                raise Damaged(frame.offset, "a pointer to what does not lie before it")
        catalog = [each for each in _addresses(log, manifest, SYSTEM_TABLE) if each[0] == CATALOG_ROW]
        Catalog(log, State({SYSTEM_TABLE: {row: _indexed(log, SYSTEM_TABLE, row, address) for row, address in catalog}}))
        return manifest
    except Damaged:
        return None
