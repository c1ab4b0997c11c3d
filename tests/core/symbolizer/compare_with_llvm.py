#!/usr/bin/python3
"""Compares what the symbolizer says of a binary's addresses with what llvm-symbolizer says.

    compare_with_llvm.py PRINT_CHAINS BINARY [--count 5000 | --all] [--debug-directory DIR]

A chain is equal if it has the same frames: function, file and line, inlined or not. Exit code 1 if
a chain differs, or if too few were compared to mean anything.

llvm-symbolizer names the outermost function by the symbol table and we by the debug info; so a name
that the symbol table has for the same code (another alias, a clone's suffix) is equal too.
"""

import argparse
import bisect
import json
import os
import re
import subprocess
import sys
from collections import Counter


def run(command, lines=()):
    done = subprocess.run(command, input='\n'.join(lines) + '\n', text=True,
                          stdout=subprocess.PIPE, check=True, env={**os.environ, 'LC_ALL': 'C'})
    return done.stdout.splitlines()


def build_id(path):
    notes = run(['readelf', '-n', path])
    return next((line.split(':')[1].strip() for line in notes if 'Build ID:' in line), '')


def code_sections(path):
    """(address, size) of each section with instructions; PLT and the like have no source."""
    found = []
    for line in run(['readelf', '-SW', path]):
        match = re.match(r'\s*\[\s*\d+\] (\.text\S*)\s+\w+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)', line)
        if match:
            found.append((int(match[2], 16), int(match[3], 16)))
    return found


def symbols(args):
    """The functions of the symbol tables: [(address, size, name)]."""
    files, found = [args.binary], set()
    if args.debug_directory:
        name = build_id(args.binary)
        files.append(f'{args.debug_directory}/.build-id/{name[:2]}/{name[2:]}.debug')
    for line in (line for file in files if os.path.exists(file)
                 for line in run(['readelf', '-sW', file])):
        part = line.split()
        if len(part) >= 8 and part[3] in ('FUNC', 'IFUNC') and part[6] != 'UND':
            found.add((int(part[1], 16), int(part[2], 0), part[7].split('@')[0]))
    return sorted(found)


def addresses_to_ask(args):
    sections = code_sections(args.binary)
    total = sum(size for _, size in sections)
    step = 1 if args.all else max(1, total // args.count)
    asked, skip = [], 0
    for low, size in sections:
        asked += range(low + skip, low + size, step)
        skip = (skip - size) % step
    return asked


def normal(path):
    return os.path.normpath(path) if path else ''


def demangled(names):
    """By c++filt: another demangler than the symbolizer's."""
    names = sorted(set(names))
    return dict(zip(names, run(['c++filt', '--no-verbose'], names))) if names else {}


def ours(args, addresses):
    command = [args.print_chains, args.binary, build_id(args.binary)]
    if args.debug_directory:
        command.append(args.debug_directory)
    chains = []
    for line in run(command, [hex(a) for a in addresses]):
        if re.fullmatch('0x[0-9a-f]+', line):
            chains.append([])
            continue
        inlined = line.startswith('> ')
        function, file, number = line[2 if inlined else 0:].split('\t')
        chains[-1].append((function, normal(file), int(number), inlined))
    return chains


def llvms(args, addresses, kind):
    command = [args.llvm_symbolizer, '--output-style=JSON', '--no-demangle', '--inlines',
               f'--functions={kind}', f'--obj={args.binary}']
    if args.debug_directory:
        command.append(f'--debug-file-directory={args.debug_directory}')
    chains = []
    for line in run(command, [hex(a) for a in addresses]):
        frames = json.loads(line)['Symbol']
        chains.append([(f['FunctionName'], normal(f['FileName']), f['Line'], i + 1 < len(frames))
                       for i, f in enumerate(frames)])
    return chains


def plain(name):
    """Without what demanglers write in different ways, and without a clone's suffix."""
    name = re.sub(r' \[clone [^]]*\]', '', name)
    name = re.sub(r'\.(part|constprop|isra|cold|lto_priv|llvm)(\.\d+)*', '', name)
    return name.replace(' ', '')


def path(name):
    """"a::b::f" of "T a::b<T>::f(T) const"."""
    name = name.replace('(anonymous namespace)', '{anonymous}').replace('operator()', 'operator-call')
    before = None
    while name != before:
        before = name
        name = re.sub(r'<[^<>()]*>|\([^<>()]*\)', '', name)
    name = re.sub(r'\{lambda[^}]*\}|\{unnamed\}|\$_\d+', '{lambda}', name)
    return re.sub(r'( const)?( \[clone.*)?$', '', name).split(' ')[-1]


class Aliases:
    """The other names of a function: those of all symbols at the same addresses."""

    def __init__(self, functions):
        self.functions = functions
        self.lows = [low for low, _, _ in functions]
        self.names = demangled(name for _, _, name in functions)

    def of(self, address):
        found = set()
        i = bisect.bisect_right(self.lows, address)
        for low, size, name in reversed(self.functions[max(0, i - 64):i]):
            if low <= address < low + size:
                found.add(plain(self.names[name]))
        return found


def same_function(our, llvm, short, names, aliases):
    """`llvm` is by the symbol table, by the linkage name or by the plain name; `short` by that."""
    name = names.get(llvm, llvm)
    if plain(our) == plain(name) or plain(our) in aliases:
        return True
    if not name:  # padding between functions, or the compiler left the function out
        return re.search(r'\+0x[0-9a-f]+$', our) is not None
    if re.search(r'\$_\d', name):  # clang's number of a lambda, for which we have its parameters
        return path(our) == path(name)
    # In a namespace that only one file sees, llvm has the arguments by the symbol table.
    if name != llvm and aliases:
        if our.endswith('<lambda>'):  # demanglers call its constructor like the class named last
            return path(our).rpartition('::')[0] == path(name).rpartition('::')[0]
        return path(our) == path(name)
    # An assembler label, or of such a namespace, whose scopes and parameters only we name.
    return name == llvm and (our == short or path(our).split('::')[-1] == path(short).split('::')[-1])


def difference(our, llvm, short, names, aliases):
    """What differs first, or None."""
    if len(our) == len(llvm) == 1 and our[0][2] == llvm[0][2] == 0:
        return None  # neither knows a line
    if len(our) != len(llvm):
        return 'depth'
    for i, (mine, theirs) in enumerate(zip(our, llvm)):
        if mine[3] != theirs[3]:
            return 'inlined'
        if not same_function(mine[0], theirs[0], short[i][0], names,
                             aliases if i + 1 == len(our) else set()):
            return 'function'
        if mine[1] != theirs[1]:
            return 'file'
        if mine[2] != theirs[2]:
            return 'line'
    return None


def show(chain, names):
    return ''.join(
        f'      {"> " if inlined else ""}{names.get(function, function)[:100]}  {file}:{line}\n'
        for function, file, line, inlined in chain)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('print_chains')
    parser.add_argument('binary')
    parser.add_argument('--count', type=int, default=5000, help='addresses, evenly over .text')
    parser.add_argument('--all', action='store_true', help='every address of .text')
    parser.add_argument('--debug-directory', help='searched like /usr/lib/debug')
    parser.add_argument('--llvm-symbolizer', default='llvm-symbolizer-14')
    parser.add_argument('--show', type=int, default=5, help='of each kind of difference')
    parser.add_argument('--at-least', type=int, default=100, help='chains with a line, or it fails')
    args = parser.parse_args()

    functions = symbols(args)
    addresses = addresses_to_ask(args)
    our = ours(args, addresses)
    llvm = llvms(args, addresses, 'linkage')
    short = llvms(args, addresses, 'short')
    if not len(our) == len(llvm) == len(short) == len(addresses):
        sys.exit(f'{len(addresses)} addresses, {len(our)} answers of ours, {len(llvm)} of llvm')
    names = demangled(frame[0] for chain in llvm for frame in chain)
    aliases = Aliases(functions)

    kinds = Counter()
    with_line = sum(any(frame[2] for frame in chain) for chain in llvm)
    inlined = sum(len(chain) > 1 for chain in llvm)
    deepest = max(map(len, llvm), default=0)
    for address, o, l, s in zip(addresses, our, llvm, short):
        kind = difference(o, l, s, names, aliases.of(address))
        if kind is None:
            continue
        kinds[kind] += 1
        if kinds[kind] <= args.show:
            print(f'{kind} at {address:#x}\n    ours\n{show(o, {})}    llvm\n{show(l, names)}', end='')
    print(f'{args.binary}: {len(addresses)} addresses, {with_line} with a line, {inlined} with '
          f'inlining (up to {deepest} frames): {sum(kinds.values())} differ {dict(kinds)}')
    if with_line < args.at_least:
        print(f'fewer than {args.at_least} addresses have a line: nothing is shown by this')
    return 1 if kinds or with_line < args.at_least else 0


if __name__ == '__main__':
    sys.exit(main())
