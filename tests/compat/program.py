"""One program of the table.

A Program is run in an empty folder, always the same one, after its `setup` (a shell script, run
bare). Its stdout, stderr, exit status and the files in the folder must be the same with memprof and
without. If something differs between two bare runs, a `normal` rule, (pattern, replacement), hides it.

A server is started, runs until `ready` (a shell command) succeeds, then `client` (a shell script)
runs bare and what it prints is compared too; then the server gets `stop`.

In all these texts {folder} is the folder, {port} the port on which the bench serves numbered files,
{free_port} one of loopback that nobody listens on.
"""
import dataclasses
import signal
import typing


@dataclasses.dataclass
class Program:
    name: str
    packages: typing.Tuple[str, ...]
    command: typing.List[str]
    setup: str = ""
    stdin: bytes = b""
    normal: typing.Tuple[typing.Tuple[str, str], ...] = ()
    ignored_files: typing.Tuple[str, ...] = ()  # folders or files that hold times or pids
    light: bool = False      # part of the tests; the others by ./dev compat alone
    jemalloc: bool = False   # also with jemalloc preloaded
    unprivileged: bool = False  # refuses to be root
    ready: str = ""
    client: str = ""
    stop: int = signal.SIGTERM
    allocates: int = 10      # allocations that the capture has at least
    tree_allocates: int = 0  # allocations that the captures of all its processes have at least
    maps: int = 0            # mappings that it has at least, of a program whose own malloc is not seen
    status: int = 0          # what it exits with, so that a command that fails at once is noticed


ROWS = "awk 'BEGIN { for (i = 0; i < 20000; ++i) print (i * 7919) % 10007, \"row\", i }' >rows\n"
