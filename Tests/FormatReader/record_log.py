"""The file, its header, its frames and its commits, as FORMAT.md states them: "Overview" to "Row records", and "Recovery".

It follows FORMAT.md and shares no code with the engine, so that it shows what FORMAT.md leaves out. Reads; never writes.
"""

import struct
from collections import namedtuple

HEADER_END = 8192
FORMAT_VERSION = 1
PAD, ROWS, COMMIT, PAGE, DIRECTORY, BLOCK, ROOT, CHECKPOINT, BATCH, VALUE_CHUNK, VALUE_LIST, PREPARED = range(1, 13)
PUT, DELETE = 1, 2
RECORD_SIZE = 14  # without version, previous address and body


class NotAStore(Exception):
    """The file is no store, or one of a version that is not known."""


class Damaged(Exception):
    """Bytes that are not what they must be."""

    def __init__(self, offset, message):
        super().__init__(f"{message} (byte {offset})")
        self.offset = offset


# MARK: Checksums

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def _rotate(value, count):
    return (value << count | value >> (64 - count)) & MASK


def _round(accumulator, word):
    accumulator = (accumulator + word * P2) & MASK
    return (accumulator << 31 | accumulator >> 33) * P1 & MASK


def xxh64(data, seed=0):
    """XXH64 of bytes. Some twenty megabytes a second."""
    size = len(data)
    whole = size - size % 32
    if whole:
        a, b, c, d = (seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK
        for p, q, r, s in struct.iter_unpack("<4Q", memoryview(data)[:whole]):
            # _round, four times, written out for speed. The bits that a shift leaves above 64 go with the mask.
            a = (a + p * P2) & MASK
            a = (a << 31 | a >> 33) * P1 & MASK
            b = (b + q * P2) & MASK
            b = (b << 31 | b >> 33) * P1 & MASK
            c = (c + r * P2) & MASK
            c = (c << 31 | c >> 33) * P1 & MASK
            d = (d + s * P2) & MASK
            d = (d << 31 | d >> 33) * P1 & MASK
        result = (_rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)) & MASK
        for accumulator in (a, b, c, d):
            result = ((result ^ _round(0, accumulator)) * P1 + P4) & MASK
    else:
        result = (seed + P5) & MASK
    result = (result + size) & MASK
    rest = bytes(data[whole:])
    place = 0
    while place + 8 <= len(rest):
        (word,) = struct.unpack_from("<Q", rest, place)
        result = (_rotate(result ^ _round(0, word), 27) * P1 + P4) & MASK
        place += 8
    if place + 4 <= len(rest):
        (word,) = struct.unpack_from("<I", rest, place)
        result = (_rotate(result ^ word * P1 & MASK, 23) * P2 + P3) & MASK
        place += 4
    for byte in rest[place:]:
        result = _rotate(result ^ byte * P5 & MASK, 11) * P1 & MASK
    result = (result ^ result >> 33) * P2 & MASK
    result = (result ^ result >> 29) * P3 & MASK
    return result ^ result >> 32


def fold(sum_so_far, checksum):
    """f of the footer's folded checksums."""
    return xxh64(struct.pack("<QQ", sum_so_far, checksum))


# MARK: Structures

Identity = namedtuple("Identity", "version segment_shift store_id file_id")
Slot = namedtuple("Slot", "generation sequence end durable_sequence durable_end checkpoint checkpoint_checksum commit_checksum flags")
Frame = namedtuple("Frame", "offset length kind payload sequence checksum")  # payload: (start, end) in the file
Record = namedtuple("Record", "address table row operation version previous body end")  # body: (start, end) in the file
Footer = namedtuple("Footer", "sequence previous start time durable_sequence rows_checksum rows author records_end")
Tail = namedtuple("Tail", "kind offset message")  # kind: clean, torn, corrupt


class RecordLog:
    """A store file in memory. What it hands out is checked; `Damaged` says what is not as it must be."""

    def __init__(self, data, path=None):
        self.data, self.path = data, path
        self._frames = {}
        # What a writer of this version leaves zero and is not; a reader goes on all the same.
        self.oddities = {}
        self.identity = self._read_identity()
        self.segment_size = 1 << self.identity.segment_shift
        self.slots = [self._read_slot(offset) for offset in (0, 4096)]
        valid = [slot for slot in self.slots if slot]
        self.slot = max(valid, key=lambda slot: slot.generation) if valid else None

    # MARK: Header

    def _read_identity(self):
        for offset in (1024, 5120):
            copy = self.data[offset:offset + 64]
            if len(copy) < 64 or copy[:8] != b"HEARTWD\n" or xxh64(copy[:56]) != struct.unpack_from("<Q", copy, 56)[0]:
                continue
            version, shift = struct.unpack_from("<IB", copy, 8)
            if version != FORMAT_VERSION:
                raise NotAStore(f"format version {version}; this reader knows {FORMAT_VERSION}")
            if not 16 <= shift <= 30:
                raise NotAStore(f"segment shift {shift}")
            return Identity(version, shift, copy[16:32], struct.unpack_from("<Q", copy, 32)[0])
        raise NotAStore("neither copy of the identity is whole")

    def _read_slot(self, offset):
        slot = self.data[offset:offset + 512]
        if len(slot) < 512 or slot[:8] != b"HWSLOT01":
            return None
        if xxh64(slot[:504], self.identity.file_id) != struct.unpack_from("<Q", slot, 504)[0]:
            return None
        slot = Slot(*struct.unpack_from("<8QB", slot, 8))
        return slot if HEADER_END <= slot.end >= slot.durable_end and slot.sequence >= slot.durable_sequence else None

    def header_problems(self):
        """What is wrong with the header though a store is read in spite of it."""
        problems = [f"the superblock at {place * 4096} is damaged" for place, slot in enumerate(self.slots) if not slot]
        problems += [
            f"the superblock at {place * 4096} has generation {slot.generation}"
            for place, slot in enumerate(self.slots) if slot and slot.generation % 2 != place]
        if self.data[1024:1088] != self.data[5120:5184]:
            problems.append("the copies of the identity differ")
        used = [(0, 512), (1024, 1088), (4096, 4608), (5120, 5184), (HEADER_END, 0)]
        if any(any(self.data[end:start]) for (_, end), (start, _) in zip(used, used[1:])):
            problems.append("the header's reserved space is not zero")
        for start in (0, 4096):
            if any(self.data[start + 73:start + 504]):
                problems.append("a superblock's reserved space is not zero")
        return problems

    # MARK: Frames

    def _frame_length(self, offset):
        """The length a frame's first 8 bytes state, where it is possible; else 0. The checksum is not looked at."""
        if offset % 64 or offset < HEADER_END or offset + 64 > len(self.data):
            return 0
        length, complement = struct.unpack_from("<II", self.data, offset)
        if length ^ complement != 0xFFFFFFFF or length < 64 or length % 64 or offset + length > len(self.data):
            return 0
        if offset // self.segment_size != (offset + length - 1) // self.segment_size:
            return 0
        return length

    def frame(self, offset):
        """The frame at an offset. Raises `Damaged` where there is no valid one."""
        known = self._frames.get(offset)
        if known:
            return known
        length = self._frame_length(offset)
        if not length:
            raise Damaged(offset, "no frame")
        (checksum,) = struct.unpack_from("<Q", self.data, offset + 8)
        seed = (self.identity.file_id ^ offset) * 0x9E3779B97F4A7C15 & MASK
        if xxh64(memoryview(self.data)[offset + 16:offset + length], seed) != checksum:
            raise Damaged(offset, "a frame's checksum is wrong")
        kind, reserved, payload, sequence = struct.unpack_from("<B3sIQ", self.data, offset + 16)
        if not PAD <= kind <= PREPARED or payload > length - 32:
            raise Damaged(offset, "a frame's header is wrong")
        self._expect_zero(offset, reserved)
        self._expect_zero(offset, self.data[offset + 32 + payload:offset + length])
        frame = Frame(offset, length, kind, (offset + 32, offset + 32 + payload), sequence, checksum)
        self._frames[offset] = frame
        return frame

    def _expect_zero(self, offset, reserved):
        if any(reserved):
            self.oddities[offset] = f"reserved space is not zero (byte {offset})"

    def pointed(self, pointer, kind, holder):
        """The frame that a pointer names."""
        offset, checksum = pointer
        if offset >= holder:
            raise Damaged(holder, f"a pointer to {offset}, which does not lie before it")
        frame = self.frame(offset)
        if frame.checksum != checksum or frame.kind != kind:
            raise Damaged(offset, "not the frame that the pointer means")
        return frame

    def batch_end(self, frame):
        """Where the batch that a frame begins ends; the frame's own end where it states no possible length."""
        start, end = frame.payload
        length = struct.unpack_from("<Q", self.data, start)[0] if end - start >= 8 else 0
        return frame.offset + frame.length + (0 if length % 64 else length)

    # MARK: Records

    def record(self, address):
        """The row record at an address, by the distance that it states to its frame."""
        if address < HEADER_END or address + RECORD_SIZE > len(self.data):
            raise Damaged(address, "no address of a row record")
        (distance,) = struct.unpack_from("<H", self.data, address + 6)
        frame = self.frame(address - distance)
        if frame.kind not in (ROWS, COMMIT):
            raise Damaged(address, "a row record outside a frame of rows")
        return self._record(address, self._records_end(frame), frame)

    def _record(self, address, end, frame):
        if not frame.payload[0] <= address <= end - RECORD_SIZE:
            raise Damaged(address, "a row record passes its frame's end")
        word, table, distance, low, high = struct.unpack_from("<IHHIH", self.data, address)
        size, operation, row = word & 0x0FFFFFFF, word >> 28 & 3, low | high << 32
        has_version, has_previous = word >> 30 & 1, word >> 31
        body = address + RECORD_SIZE + 4 * has_version + 8 * has_previous
        if body + size > end:
            raise Damaged(address, "a row record passes its frame's end")
        version, previous = 1, 0
        if has_version:
            (version,) = struct.unpack_from("<I", self.data, address + RECORD_SIZE)
        if has_previous:
            (previous,) = struct.unpack_from("<Q", self.data, body - 8)
        if operation not in (PUT, DELETE) or row == 0 or (operation == DELETE and size):
            raise Damaged(address, "a row record is wrong")
        if address - distance != frame.offset or previous >= address:
            raise Damaged(address, "a row record is wrong")
        return Record(address, table, row, operation, version, previous, (body, body + size), body + size)

    def _records_end(self, frame):
        return self.footer(frame).records_end if frame.kind == COMMIT else frame.payload[1]

    def records(self, frame):
        """The row records of a frame of rows or a commit frame, in order."""
        address, end = frame.payload[0], self._records_end(frame)
        while address < end:
            record = self._record(address, end, frame)
            yield record
            address = record.end

    def footer(self, frame):
        """A commit frame's footer."""
        end = frame.payload[1]
        if end - frame.payload[0] < 56:
            raise Damaged(frame.offset, "a commit frame without a footer")
        fields = struct.unpack_from("<QQQqQQIHH", self.data, end - 56)
        author = fields[7]
        if author > end - 56 - frame.payload[0]:
            raise Damaged(frame.offset, "a commit's footer is wrong")
        self._expect_zero(frame.offset, self.data[end - 2:end])
        records_end = end - 56 - author
        return Footer(*fields[:7], bytes(self.data[records_end:end - 56]).decode("utf-8", "replace"), records_end)
