"""A heap profile computed as naively as possible, from the log of all events
(aggregator/events/event_log.h).

The model has its own book of the blocks: address → (site, size). From the tracker it
takes the order of the events and the site of each allocation, and nothing that has to be checked.
"""
import collections
import struct

ALLOCATED, FREED, CLAIMED, REALLOCATED, CLAIM_FREED, CLAIM_RETURNED = range(1, 7)
NO_SITE = 0xFFFFFFFF
LOG_HEADER, LOG_RECORD = struct.Struct("<4Q"), struct.Struct("<4I5Q")
Record = collections.namedtuple(
    "Record", "kind site freed_site allocator thread address bytes freed_bytes stack_hash")


class Log:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.taken, self.count, self.overflowed, self.missed = LOG_HEADER.unpack(
                file.read(LOG_HEADER.size))
            self.content = file.read(self.count * LOG_RECORD.size)

    def records(self, name_of):
        """name_of: site's id → what it is called in the records."""
        return [Record(kind, name_of[site], name_of[freed_site], *rest)
                for kind, site, freed_site, *rest in LOG_RECORD.iter_unpack(self.content)]


class Model:
    """The figures of each site, bytes and blocks, when `stop` events have been replayed (None:
    all). A realloc is one event.

    A block is temporary if its thread frees it (a realloc that replaces it doesn't) and allocated
    fewer than `threshold` others since, reallocs included.

    sums_like: what was live in all at each moment at which the sites' live figures were `rows`."""

    def __init__(self, records, stop=None, rows=None, threshold=1):
        self.live = collections.defaultdict(lambda: [0, 0])
        self.total = collections.defaultdict(lambda: [0, 0])
        self.temporary = collections.defaultdict(lambda: [0, 0])
        self.sizes = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.allocations = collections.Counter()  # by thread
        self.threshold = threshold
        self.current = self.peak = self.peak_at = self.events = 0
        self.wrong_frees = []  # (record, what was freed by our own book)
        self.rows = rows
        self.unlike = {site for site, row in (rows or {}).items() if row != (0, 0)}
        self.sums_like = set()
        blocks, claimed = {}, collections.defaultdict(list)
        for record in records:
            if self.events == stop:
                break
            if record.kind == CLAIMED:
                claimed[record.thread].append(blocks.pop(record.address))
                continue
            if record.kind == CLAIM_RETURNED:
                blocks[record.address] = claimed[record.thread].pop()
                continue
            if record.kind == FREED:
                self.free(record, blocks.pop(record.address))
            elif record.kind in (REALLOCATED, CLAIM_FREED):
                self.free(record, claimed[record.thread].pop())
            if record.kind in (ALLOCATED, REALLOCATED):
                assert record.address not in blocks, "allocated twice"
                self.allocations[record.thread] += 1
                blocks[record.address] = (record.site, record.bytes, record.thread,
                                          self.allocations[record.thread])
                self.allocate(record)
            self.events += 1
            if self.current > self.peak:  # of equal maxima the first
                self.peak, self.peak_at = self.current, self.events
            if rows is not None and not self.unlike:
                self.sums_like.add(self.current)

    def allocate(self, record):
        self.current += record.bytes
        for figures in (self.live[record.site], self.total[record.site]):
            figures[0] += record.bytes
            figures[1] += 1
        of_class = self.sizes[record.site][record.bytes.bit_length()]
        of_class[0] += record.bytes
        of_class[1] += 1
        if self.rows is not None:
            self.compare(record.site)

    def free(self, record, block):
        site, size, thread, number = block
        if (record.freed_site, record.freed_bytes) != (site, size):
            self.wrong_frees.append((record, block))
        if (record.kind != REALLOCATED and record.thread == thread
                and self.allocations[thread] - number < self.threshold):
            self.temporary[site][0] += size
            self.temporary[site][1] += 1
        self.current -= size
        self.live[site][0] -= size
        self.live[site][1] -= 1
        if self.rows is not None:
            self.compare(site)

    def compare(self, site):
        if tuple(self.live[site]) == self.rows.get(site, (0, 0)):
            self.unlike.discard(site)
        else:
            self.unlike.add(site)


def replay(records, threshold=1):
    """(the model at the end, {site: (peak, leaked, total, temporary, sizes)}), each figure (bytes,
    blocks), sizes by class."""
    end = Model(records, threshold=threshold)
    peak = Model(records, stop=end.peak_at).live  # simply once more
    return end, {site: (tuple(peak[site]), tuple(end.live[site]), tuple(total),
                        tuple(end.temporary[site]),
                        {size: tuple(count) for size, count in end.sizes[site].items()})
                 for site, total in end.total.items()}
