"""Allocates from Python stacks of many shapes, and counts each as sys._getframe() has it.

Usage: python_stacks.py OUTPUT TIMES. Each block has SIZE bytes and is freed at once. OUTPUT gets a
list of [stack, number of allocations]; a stack is the functions, files and lines of its innermost
frames, at most MOST.
"""
import asyncio
import ctypes
import functools
import json
import sys
import threading

SIZE = 100003
MOST = 499
LIBC = ctypes.CDLL(None)  # releases the interpreter's lock during a call
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]
malloc, free = LIBC.malloc, LIBC.free

expected = {}
lock = threading.Lock()


def stack_of(frame):
    stack = []
    while frame is not None and len(stack) < MOST:
        code = frame.f_code
        stack.append((getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(stack)


def allocate():
    block = malloc(SIZE); stack = stack_of(sys._getframe())  # one line, so that the lines agree
    free(block)
    with lock:
        expected[stack] = expected.get(stack, 0) + 1


def recurse(depth):
    if depth == 0:
        allocate()
    else:
        recurse(depth - 1)


def generator(count):
    for i in range(count):
        allocate()
        yield i


def outer_generator(count):
    yield from generator(count)
    yield from (allocate() for _ in range(count))


class Object:
    @property
    def value(self):
        allocate()
        return 1

    def __lt__(self, other):
        allocate()
        return False

    def __del__(self):
        allocate()

    def __call__(self, argument):
        allocate()
        return argument


def key(value):
    allocate()
    return -value


async def coroutine(depth):
    allocate()
    await asyncio.sleep(0)
    if depth:
        await coroutine(depth - 1)
    allocate()


async def coroutines():
    await asyncio.gather(*[coroutine(i) for i in range(3)])


def raise_from(depth):
    try:
        if depth == 0:
            raise ValueError("x")
        raise_from(depth - 1)
    except ValueError:
        allocate()
        raise
    finally:
        allocate()


def execute():
    exec("def made():\n\n    allocate()\nmade()", globals())
    eval("allocate()", globals())


def several_lines():
    list(
        map(
            lambda argument:
                allocate(),
            [1,
             2]))


def throw_through_yield_from():
    def inner():
        try:
            yield 1
        except KeyError:
            allocate()
            yield 2

    def outer():
        yield from inner()

    running = outer()
    next(running)
    running.throw(KeyError())


def everything():
    for depth in (0, 1, 5, 50):
        recurse(depth)
    list(outer_generator(3))
    sorted([3, 1, 2], key=key)
    sorted([Object(), Object()])
    Object().value
    list(map(Object(), [1, 2]))
    functools.reduce(lambda a, b: allocate() or a, [1, 2, 3])
    asyncio.run(coroutines())
    try:
        raise_from(4)
    except ValueError:
        pass
    execute()
    several_lines()
    throw_through_yield_from()
    [allocate() for _ in range(3)]


def code_that_dies():
    """Code objects that are made at the addresses of others, at other lines."""
    for i in range(60):
        text = "\n" * (i % 7) + "def f{0}():\n    allocate()\nf{0}()\nf{0}()".format(i % 3)
        exec(text, {"allocate": allocate})


def main():
    times = int(sys.argv[2])

    def repeat():
        for _ in range(times):
            everything()

    threads = [threading.Thread(target=repeat) for _ in range(3)]
    for thread in threads:
        thread.start()
    repeat()
    for thread in threads:
        thread.join()
    code_that_dies()
    sys.setrecursionlimit(20000)
    # Before 3.11 each Python call takes a part of the C stack.
    for depth in (300, 900) if sys.version_info < (3, 11) else (300, 900, 10000):
        recurse(depth)
    with open(sys.argv[1], "w") as output:
        json.dump([[stack, count] for stack, count in expected.items()], output)


main()
