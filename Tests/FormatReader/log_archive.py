"""A log archive, as docs/format/log-archive.md states it. It shares no code with the engine. Reads; never writes."""

import struct
from collections import namedtuple

from record_log import COMMIT, Damaged, NotAStore, fold, xxh64

HEADER, TRAILER, BLOCK_HEAD, BLOCK_MAX = 192, 64, 16, 1048560
PAD, ROWS, VALUE_CHUNK, VALUE_LIST, PREPARED = 1, 2, 10, 11, 12
Header = namedtuple(
    "Header", "version shift flags store lineage parent fork fork_checksum fork_file file store_version first last least greatest previous "
    "last_checksum last_frame start end frame_bytes")
Commit = namedtuple("Commit", "number time end")


class LogArchive:
    """An archive in memory. `Damaged` says what is not as it must be."""

    def __init__(self, data):
        self.data = data
        self.header = self._read_header()
        self._blocks = self._read_blocks()
        self.extents, self.checkpoints, self.commits = self._read_table()

    def _read_header(self):
        head = self.data[:HEADER]
        if head[:8] != b"HEARTLOG":
            raise NotAStore("no log archive")
        if len(head) < HEADER or xxh64(head[:184]) != struct.unpack_from("<Q", head, 184)[0]:
            raise Damaged(0, "the header is damaged")
        self.seed = struct.unpack_from("<Q", head, 184)[0]
        fields = struct.unpack_from("<IBBH16s16s16sQQQQIIQQqqQQQQQQ", head, 8)
        header = Header(*fields[:3], *fields[4:12], *fields[13:])
        if header.version != 1:
            raise NotAStore(f"log archive version {header.version}")
        if any(fields[index] for index in (3, 12)):
            raise Damaged(0, "reserved space is not zero")
        return header

    def _read_blocks(self):
        size = len(self.data)
        trailer = self.data[size - TRAILER:]
        if size < HEADER + TRAILER or trailer[:8] != b"HWLOGEND":
            raise Damaged(size - TRAILER, "no trailer")
        count, length, self.table_length, checksums, a, b, checksum = struct.unpack_from("<7Q", trailer, 8)
        if (length, a, b) != (size, 0, 0) or xxh64(trailer[:56], self.seed) != checksum:
            raise Damaged(size - TRAILER, "the trailer is damaged")
        at, blocks, folded = HEADER, [], 0
        for number in range(count):
            bytes_count, stated, block_checksum = struct.unpack_from("<IIQ", self.data, at)
            block = self.data[at + BLOCK_HEAD:at + BLOCK_HEAD + bytes_count]
            if stated != number & 0xFFFFFFFF or xxh64(block, self.seed ^ number) != block_checksum:
                raise Damaged(at, "a block is damaged")
            blocks.append(block)
            folded = fold(folded, block_checksum)
            at += BLOCK_HEAD + bytes_count
        if at != size - TRAILER or folded != checksums:
            raise Damaged(at, "the blocks are not those of the trailer")
        return blocks

    def _read_table(self):
        frame_blocks = -(-self.header.frame_bytes // BLOCK_MAX)
        self.frames = b"".join(self._blocks[:frame_blocks])
        table = b"".join(self._blocks[frame_blocks:])
        if len(self.frames) != self.header.frame_bytes or len(table) != self.table_length:
            raise Damaged(0, "the blocks have other lengths than stated")
        (count,) = struct.unpack_from("<I", table)
        extents = [struct.unpack_from("<QQ", table, 4 + 16 * index) for index in range(count)]
        at = 4 + 16 * count
        (count,) = struct.unpack_from("<I", table, at)
        checkpoints = [struct.unpack_from("<QQ", table, at + 4 + 16 * index) for index in range(count)]
        at += 4 + 16 * count

        def varint():
            nonlocal at
            value, shift = 0, 0
            while True:
                byte = table[at]
                at += 1
                value |= (byte & 127) << shift
                if byte < 128:
                    return value
                shift += 7

        commits, time, end = [], 0, self.header.start
        for number in range(self.header.first, self.header.last + 1):
            change = varint()
            time += change >> 1 ^ -(change & 1)
            end += varint() * 64
            commits.append(Commit(number, time, end))
        if at != len(table) or end != self.header.end:
            raise Damaged(0, "the table does not fit the header")
        if (min(c.time for c in commits), max(c.time for c in commits)) != (self.header.least, self.header.greatest):
            raise Damaged(0, "the times are others than the header's")
        return extents, checkpoints, commits

    # MARK: Frames

    def check(self):
        """Follows the chain of commits through the frames."""
        header, commits = self.header, iter(self.commits)
        number, previous, start, folded, last = header.first - 1, header.previous, None, 0, 0
        base, stop = 0, 0
        for offset, length in self.extents:
            if offset % 64 or length % 64 or offset < stop:
                raise Damaged(offset, "an impossible extent")
            stop = offset + length
            at = offset
            while at < offset + length:
                kind, payload, sequence, checksum, end = self._frame(base + at - offset, at, offset + length)
                if kind in (ROWS, VALUE_CHUNK, VALUE_LIST, PREPARED):
                    start = at if start is None else start
                    folded = fold(folded, checksum)
                elif kind == COMMIT:
                    stated = struct.unpack_from("<QQQqQQ", payload, len(payload) - 56)
                    expected = (number + 1, previous, at if start is None else start)
                    commit = next(commits, None)
                    if stated[:3] != expected or stated[5] != folded or (commit.number, commit.time, commit.end) != (stated[0], stated[3], end):
                        raise Damaged(at, f"commit {stated[0]} does not follow")
                    number, previous, start, folded, last = stated[0], checksum, None, 0, at
                elif kind != PAD and start is not None:
                    raise Damaged(at, "a frame that belongs to no commit is in one")
                at = end
            base += length
        if (number, previous, last) != (header.last, header.last_checksum, header.last_frame) or next(commits, None):
            raise Damaged(0, "the last commit is not the header's")

    def _frame(self, place, offset, limit):
        length, complement, checksum, kind, payload, sequence = struct.unpack_from("<IIQB3xIQ", self.frames, place)
        if length ^ complement != 0xFFFFFFFF or length < 64 or length % 64 or offset + length > limit:
            raise Damaged(offset, "no frame")
        seed = (self.header.file ^ offset) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        if xxh64(self.frames[place + 16:place + length], seed) != checksum:
            raise Damaged(offset, "a frame's checksum is wrong")
        return kind, self.frames[place + 32:place + 32 + payload], sequence, checksum, offset + length


def lines(data):
    """The commits of an archive, after everything in it was checked."""
    archive = LogArchive(data)
    archive.check()
    header = archive.header
    kind = "base" if header.flags & 1 else "increment"
    yield f"{kind} of file {header.file:016x}, commits {header.first} to {header.last}, {header.frame_bytes} bytes of frames"
    for commit in archive.commits:
        yield f"{commit.number} {commit.time} {commit.end}"
