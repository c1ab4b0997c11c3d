"""Scripts whose memory and time are measured: name, modules that they need, text."""

JSON = """
import json
def records(count):
    return [{"number": i, "name": "record %d" % i, "tags": [str(i % 7), str(i % 11)]} for i in range(count)]
def write(count):
    return json.dumps(records(count))
def read(text):
    return json.loads(text)
text = write(COUNT)
again = read(text)
assert len(again) == COUNT
"""

REQUESTS = """
from flask import Flask, jsonify, request
app = Flask("service")
cache = {}
@app.route("/item/<int:number>")
def item(number):
    cache[number % 500] = [str(i) for i in range(20)]
    return jsonify(number=number, name="item", values=list(range(50)))
client = app.test_client()
def serve(count):
    for i in range(count):
        assert client.get("/item/%d" % i).status_code == 200
serve(COUNT)
"""

NUMPY = """
import secrets  # numpy asks for it at its first generator, and Memray has it by then
import numpy, numpy.random
def matrices(count):
    return [numpy.random.default_rng(i).random((200, 200)) for i in range(count)]
def work(all):
    total = 0.0
    for a, b in zip(all, all[1:]):
        total += float((a @ b + a * b).sum())
    return total
for _ in range(COUNT):
    kept = matrices(30)
    work(kept)
"""

PANDAS = """
import pandas, numpy
def frame(rows):
    return pandas.DataFrame({"key": numpy.arange(rows) % 97, "value": numpy.arange(rows) * 0.5,
                             "name": ["row %d" % (i % 1000) for i in range(rows)]})
def summary(data):
    return data.groupby("key")["value"].agg(["sum", "mean"]).merge(
        data.groupby("key")["name"].nunique(), left_index=True, right_index=True)
for _ in range(COUNT):
    kept = frame(20000)
    result = summary(kept)
"""

LEAKS = """
import ctypes
keep = ctypes.pythonapi.Py_IncRef
keep.argtypes = [ctypes.py_object]
def lose(count):
    for i in range(count):
        keep(bytearray(3000 + i % 10))
def use(count):
    return [bytearray(5000) for _ in range(count)]
lose(COUNT)
use(COUNT)
"""

SCRIPTS = {"JSON": ([], JSON, 60000), "Flask requests": (["flask"], REQUESTS, 1500),
           "numpy": (["numpy"], NUMPY, 12), "pandas": (["pandas"], PANDAS, 25), "leaks": ([], LEAKS, 1000)}


def write(name, path, count=None, before=""):
    """Writes the script, with `count` as its measure of work, and `before` as its first lines."""
    _, text, usual = SCRIPTS[name]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}COUNT = {count or usual}\n" + text)
