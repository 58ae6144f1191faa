"""Files of PyTorch's whose pickles are small programs that would take long, or much room."""

import struct

import trace_files
from hypothesis import strategies as st

LEVELS = 60
"""A tuple that holds itself twice at each of so many has more parts than could be gone through."""
_OLD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}."


def text(value):
    encoded = value.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def number(value):
    return b"\x8a\x09" + value.to_bytes(9, "little")


def called(name, *arguments):
    """Return a call of what a module and a name with a space between tell."""
    return b"c" + name.replace(" ", "\n").encode() + b"\n(" + b"".join(arguments) + b"tR"


def tensor(size, stride=1, *, offset=0, held=2, key=b"X\x01\x00\x00\x000"):
    told = b"(" + text("storage") + b"ctorch\nDoubleStorage\n" + key + text("cpu") + number(held)
    places = number(offset) + number(size) + b"\x85" + number(stride) + b"\x85\x89"
    hooks = called("collections OrderedDict")
    return called("torch._utils _rebuild_tensor_v2", told + b"tQ" + places + hooks)


def _twice(pair):
    """Return an object that holds one twice, which holds another twice, and so on."""
    return b")" + b"".join(b"q%ch%c" % (i, i) + pair for i in range(LEVELS))


TUPLE = _twice(b"\x86")
LIST = b"]" + b"".join(b"q%c](h%ch%ce" % (i, i, i) for i in range(LEVELS))
FILLED_LATER = b"".join(b"]q%c" % i for i in range(LEVELS)) + b"".join(
    b"h%c(h%ch%ce" % (i, i + 1, i + 1) for i in range(LEVELS - 1)
)
MUCH = number(2**40)
HANGING = {
    "a key": b"}" + TUPLE + b"Ns",
    "keys": b"}(" + TUPLE + b"Nu",
    "a key of ordered ones": called("collections OrderedDict") + TUPLE + b"Ns",
    "the name of numbers": tensor(2, key=TUPLE),
    "what is called": TUPLE + b")R",
    "a list that is called": LIST + b")R",
    "a list that is filled once it is held": FILLED_LATER + b")R",
    "what is made": TUPLE + b")\x81",
    "a layout": called("torch.serialization _get_layout", TUPLE),
    "a list as layout": called("torch.serialization _get_layout", LIST),
    "text in a slow encoding": called("_codecs encode", text("é" * 300_000), text("punycode")),
    **{
        f"a {name.split()[1]}": called(name, b"]" + TUPLE + b"a")
        for name in ("builtins set", "__builtin__ set", "collections Counter")
    },
    "pairs": called("collections OrderedDict", b"]" + TUPLE + b"N\x86a"),
    "a type": called(
        "torch._tensor _rebuild_from_type_v2",
        b"cbuiltins\nset\ncbuiltins\nset\n(](" + TUPLE + b"et}",
    ),
}
LARGE = {
    **{
        f"{name} of a number": called(name, MUCH)
        for name in (
            "builtins bytearray",
            "__builtin__ bytearray",
            "torch Tensor",
            "torch FloatTensor",
            "torch.storage UntypedStorage",
        )
    },
    "a number in a list": b"cbuiltins\nbytearray\n]" + MUCH + b"aR",
    "a number in a tensor": called("builtins bytearray", tensor(1)),
    "a new tensor": b"ctorch\nFloatTensor\n" + MUCH + b"\x85\x81",
    "of a type": called(
        "torch._tensor _rebuild_from_type_v2",
        b"cbuiltins\nbytearray\ncbuiltins\nbytearray\n(" + MUCH + b"t}",
    ),
    "one number many times": b"}" + text("x") + tensor(2**41, 0) + b"s",
    "numbers behind the end": b"}" + text("x") + tensor(2**31) + b"s",
    "numbers that are said to be there": b"}" + text("x") + tensor(2**31, held=2**31) + b"s",
    "a place behind the end": b"}" + text("x") + tensor(2, offset=2**40) + b"s",
    "very many steps": b"}" + b"NNs" * 2**12,
}


def archived(program):
    """Return the archive of a program for the unpickler."""
    members = {
        "x/data.pkl": b"\x80\x02" + program + b".",
        "x/byteorder": b"little",
        "x/data/0": struct.pack("<2d", 0.25, 0.75),
        "x/version": b"3\n",
    }
    return trace_files.zip_bytes(members)


def old(program):
    """Return the same in the form before that of archives."""
    behind = b"\x80\x02]" + text("0") + b"a." + struct.pack("<q2d", 2, 0.25, 0.75)
    return _OLD + b"\x80\x02" + program + b"." + behind


_PIECES = (
    b"}", b"]", b")", b"(", b"N", b"\x88", b"K\x02", b"q\x00", b"q\x01", b"h\x00", b"h\x01", b"a",
    b"e", b"s", b"u", b"\x85", b"\x86", b"\x87", b"t", b"R", b"b", b"Q", b"\x81", b"0", b"2", MUCH,
    text("x"), text("latin1"), text("punycode"), text("storage"), tensor(2), tensor(2**41, 0),
    TUPLE, LIST, b"ctorch\nTensor\n", b"ctorch\nDoubleStorage\n", b"ccollections\nOrderedDict\n",
    b"c_codecs\nencode\n", b"cbuiltins\nbytearray\n", b"cbuiltins\nset\n", b"cos\nmkdir\n",
    b"ctorch._tensor\n_rebuild_from_type_v2\n", b"ctorch._utils\n_rebuild_parameter\n",
)  # fmt: skip
PROGRAMS = (
    st.sampled_from([*HANGING.values(), *LARGE.values()])
    | st.lists(st.sampled_from(_PIECES), max_size=30).map(b"".join)
    | st.lists(st.sampled_from(_PIECES), max_size=12).map(
        lambda pieces: b"}" + text("x") + tensor(2) + b"s" + b"".join(pieces)
    )
)
BYTES = PROGRAMS.map(archived) | PROGRAMS.map(old)
