"""A small file of every format that is read whole, by its ending: the numbers 1/4 and 3/4."""

import io
import json
import struct

import numpy as np

NUMBERS = [0.25, 0.75]


def _saved(save, *arguments, **named):
    stream = io.BytesIO()
    save(stream, *arguments, **named)
    return stream.getvalue()


def _safetensors():
    header = json.dumps({"x": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}}).encode()
    return struct.pack("<Q", len(header)) + header + np.array(NUMBERS).tobytes()


WHOLE = {
    ".npy": _saved(np.save, np.array(NUMBERS)),
    ".npz": _saved(np.savez, x=np.array(NUMBERS)),
    ".csv": b"x\n0.25\n0.75\n",
    ".json": b'{"x": [0.25, 0.75]}',
    ".safetensors": _safetensors(),
}
