#!/usr/bin/python3
"""A copy of a program that is as large and has as many symbols as a service of some million lines: the
copy runs as the program does, and its new functions lie where nothing is mapped.

usage: many_symbols.py PROGRAM COPY SYMBOLS BYTES
"""
import os
import shutil
import struct
import sys

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SYMTAB = 2
LOCAL_FUNCTION = 2
FIRST_ADDRESS = 1 << 40


def write(program, copy, symbols, size):
    shutil.copy(program, copy)
    with open(copy, "r+b") as file:
        header = file.read(64)
        table, = struct.unpack_from("<Q", header, 40)
        count, = struct.unpack_from("<H", header, 60)
        file.seek(table)
        sections = [list(SECTION.unpack(file.read(SECTION.size))) for _ in range(count)]
        symtab = next(section for section in sections if section[1] == SYMTAB)
        names = sections[symtab[6]]

        def content(section):
            file.seek(section[4])
            return file.read(section[5])

        old, text = content(symtab), content(names)
        local = symtab[7] * SYMBOL.size  # local symbols come first
        more_names = [b"_ZN7company7product9subsystem%08dEv\0" % i for i in range(symbols)]
        length = len(more_names[0]) if symbols else 0
        more = b"".join(SYMBOL.pack(len(text) + i * length, LOCAL_FUNCTION, 0, 1, FIRST_ADDRESS + 16 * i, 16)
                        for i in range(symbols))
        size = max(size, os.fstat(file.fileno()).st_size) + 7 & ~7
        file.truncate(size)  # a hole
        for section, data in ((symtab, old[:local] + more + old[local:]),
                              (names, text + b"".join(more_names))):
            section[4], section[5] = size, len(data)
            file.seek(size)
            file.write(data)
            size = size + len(data) + 7 & ~7
        symtab[7] += symbols
        file.seek(table)
        file.write(b"".join(SECTION.pack(*section) for section in sections))


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
