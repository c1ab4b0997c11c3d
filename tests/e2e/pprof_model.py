"""Reads profile.proto as its documentation says, independently of the exporter."""
import gzip


def fields(data):
    """[(field number, int or bytes)] of one message."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        elif key & 7 == 2:
            length = varint()
            found.append((key >> 3, data[at:at + length]))
            at += length
        else:
            raise ValueError(f"wire type {key & 7}")
    return found


def numbers(packed):
    return [value for _, value in fields(b"".join(
        b"\x08" + chunk for chunk in split_varints(packed)))]


def split_varints(packed):
    chunk = b""
    for byte in packed:
        chunk += bytes([byte])
        if byte < 0x80:
            yield chunk
            chunk = b""


class Profile:
    """samples: [(stack of (function, file, line, inlined frames together), values, labels)]."""

    def __init__(self, path):
        with gzip.open(path) as file:
            top = fields(file.read())
        self.strings = [value.decode() for number, value in top if number == 6]
        text = self.strings.__getitem__
        self.types = [(text(dict(fields(v))[1]), text(dict(fields(v))[2]))
                      for number, v in top if number == 1]
        functions = {}
        for value in (v for number, v in top if number == 5):
            one = dict(fields(value))
            functions[one[1]] = (text(one[2]), text(one.get(4, 0)))
        mappings = {dict(fields(v))[1] for number, v in top if number == 3}
        locations = {}
        for value in (v for number, v in top if number == 4):
            one = fields(value)
            assert dict(one).get(2, 0) in mappings | {0}
            lines = [dict(fields(line)) for number, line in one if number == 4]
            locations[dict(one)[1]] = [(*functions[line[1]], line.get(2, 0)) for line in lines]
        self.samples = []
        for value in (v for number, v in top if number == 2):
            one = dict(fields(value))
            stack = [frame for place in numbers(one[1]) for frame in locations[place]]
            labels = {text(label[1]): text(label[2])
                      for label in (dict(fields(one[n])) for n in (3,) if n in one)}
            values = [v - (v >> 63 << 64) for v in numbers(one[2])]  # of 64 bits with a sign
            self.samples.append((stack, values, labels))
        self.default_type = next(text(v) for number, v in top if number == 14)
