"""A small file of every format that is read whole, by its ending: the numbers 1/4 and 3/4."""

import io
import json
import struct
import zipfile

import numpy as np

NUMBERS = [0.25, 0.75]


def _saved(save, *arguments, **named):
    stream = io.BytesIO()
    save(stream, *arguments, **named)
    return stream.getvalue()


def _safetensors():
    header = json.dumps({"x": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}}).encode()
    return struct.pack("<Q", len(header)) + header + np.array(NUMBERS).tobytes()


def _torch():
    """Return what ``torch.save({"x": tensor})`` writes, which takes no PyTorch to make."""
    pickled = (
        b"\x80\x02}X\x01\x00\x00\x00xctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n"
        b"DoubleStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89ccollections\n"
        b"OrderedDict\n)RtRs."
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x/data.pkl", pickled)
        archive.writestr("x/byteorder", "little")
        archive.writestr("x/data/0", np.array(NUMBERS).tobytes())
        archive.writestr("x/version", "3\n")
    return stream.getvalue()


def _arrow(write):
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    write(pa.table({"x": NUMBERS}), sink)
    return sink.getvalue().to_pybytes()


def _of_file(table, sink):
    from pyarrow.ipc import new_file

    with new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _of_stream(table, sink):
    from pyarrow.ipc import new_stream

    with new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def _parquet(table, sink):
    from pyarrow.parquet import write_table

    write_table(table, sink)


WHOLE = {
    ".npy": _saved(np.save, np.array(NUMBERS)),
    ".npz": _saved(np.savez, x=np.array(NUMBERS)),
    ".csv": b"x\n0.25\n0.75\n",
    ".json": b'{"x": [0.25, 0.75]}',
    ".safetensors": _safetensors(),
    ".pt": _torch(),
    ".pth": _torch(),
    ".parquet": _arrow(_parquet),
    ".arrow": _arrow(_of_stream),
    ".feather": _arrow(_of_file),
}
NEEDS = {
    ".safetensors": ("safetensors", "needs the extra traces"),
    ".pt": ("torch", "needs the extra backends"),
    ".pth": ("torch", "needs the extra backends"),
}
"""The package that a format needs, and the reason to do without a test of it."""
