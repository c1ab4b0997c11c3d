"""The identity of a site, the same for a region and a capture: its thread's name, the function of
the allocator, and its frames, root first, each as module, build id and offset. It is read from a region
file without memprof's own reader (core/protocol/region_layout.h has the layout).
"""
import collections
import re
import struct

NO_MODULE = 0xFFFFFFFF
FIRST_REAL_PC = 4096
PC_NO_STACK = 3
MODULES, STRINGS, NAMES, NODES, SITES = range(5)
RECORDS = {MODULES: struct.Struct("<QQII32sIIQ"), NAMES: struct.Struct("<16s"),
           NODES: struct.Struct("<QII"), SITES: struct.Struct("<II")}
KINDS = ("unknown", "malloc", "calloc", "realloc", "aligned", "new", "new[]", "mallocx", "rallocx",
         "pool")
TABLES_AT, TABLE, COUNTS_AT = 24, struct.Struct("<QII"), 640


def key_of(thread, kind, frames):
    """A string, which knows its hash."""
    return "\n".join([thread, kind, *(f"{path} {build_id} {at:#x}" for path, build_id, at in frames)])


class Region:
    def __init__(self, path):
        with open(path, "rb") as file:
            header = file.read(4096)

            def table(which):
                offset, capacity, size = TABLE.unpack_from(header, TABLES_AT + which * TABLE.size)
                count, = struct.unpack_from("<I", header, COUNTS_AT + which * 4)
                file.seek(offset)
                content = file.read(min(count, capacity) * size)
                return list(RECORDS[which].iter_unpack(content)) if which in RECORDS else content

            self.modules, self.strings, self.names = table(MODULES), table(STRINGS), table(NAMES)
            self.nodes, self.sites = table(NODES), table(SITES)

    def pcs(self, site):
        """Of the site's stack, root first, with the module's id."""
        node, pcs = self.sites[site][1], []
        while node != 0:
            pc, node, module = self.nodes[node][0], self.nodes[node][1], self.nodes[node][2]
            pcs.append((pc, module))
        return pcs[::-1]

    def frame(self, pc, module):
        if pc < FIRST_REAL_PC or module == NO_MODULE:
            return ("", "", pc)
        _, bias, path_at, path_bytes, build_id, id_bytes, _, _ = self.modules[module]
        path = self.strings[path_at:path_at + path_bytes].decode(errors="replace")
        return (path, build_id[:id_bytes].hex(), pc - bias)

    def key(self, site):
        frames = [self.frame(*pc) for pc in self.pcs(site)] or [("", "", PC_NO_STACK)]
        name = self.names[self.sites[site][0] & 0xFFFF][0].split(b"\0")[0]
        return key_of(name.decode(errors="replace"), self.kind(site), frames)

    def kind(self, site):
        return KINDS[self.sites[site][0] >> 24]

    def stack_hash(self, site):
        """As event_log.cc's HashOf."""
        value = 0xCBF29CE484222325
        for pc, _ in self.pcs(site):
            if pc >= FIRST_REAL_PC:
                value = (value ^ pc) * 0x100000001B3 % (1 << 64)
        return value


def pair(figure):
    return tuple(map(int, figure.split("/")))


def of_capture(dump):
    """{key: (peak, leaked, total, temporary, sizes)} of what `memprof parse` prints; sizes are
    {class: (bytes, blocks)}."""
    parts = collections.defaultdict(list)
    part = None
    for line in dump.splitlines():
        if re.match(r"(modules|frames|nodes|thread names|sites|temporary|sizes|timeline|moments|"
                    r"history|mappings|memory)\b", line):
            part = parts[line.split(":")[0]]
        elif part is not None and line:
            part.append(line.strip())
    modules = [line.split(" ", 2)[1:] for line in parts["modules"]]
    names = [line.partition(" ")[2] for line in parts["thread names"]]
    frames = []
    for line in parts["frames"]:
        _, module, offset = line.split()
        build_id, path = ("", "") if module == "-" else modules[int(module)]
        frames.append((path, build_id, int(offset, 16)))
    stacks = [()]  # by node; parents come first
    for line in parts["nodes"]:
        _, parent, frame = map(int, line.split())
        stacks.append(stacks[parent] + (frames[frame],))
    sites = {}
    for line in parts["sites"]:
        _, node, name, kind, *figures = line.split()
        shares = (share.split(":") for share in figures[4:])
        sites[key_of(names[int(name)], kind, stacks[int(node)])] = (
            *(pair(figure) for figure in figures[:4]),
            {int(size_class): pair(figure) for size_class, figure in shares})
    return sites
