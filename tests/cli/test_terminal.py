"""What is printed: in any encoding, and without control over the terminal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
import trace_files as files
from searching import NIGHTLY, by_day

from otspec._base import tables
from otspec._base.tables import print_table, printable, say, say_more
from otspec.cli.main import main, otspec
from otspec.cli.shared.output import print_json

ENCODINGS = ("ascii", "latin-1", "cp1252", "iso8859-7", "shift_jis", "utf-8", "utf-16")
BY_DAY = ("ascii", "cp1252", "utf-16")
EVIL = "a\x1b[2J\x07\u202eb\x9b31m\x7fc\u2028d\u2066e\xa0f\u200bg\udc80h≈ρ\tß"


def named(text):
    """Return what of a text the file system can name."""
    kept = []
    for each in text:
        with suppress(UnicodeEncodeError):
            os.fsencode(each)
            kept.append(each)
    return "".join(kept)


OF_FILE = named(EVIL)
NAME = OF_FILE.replace("\udc80", "")
LINE = "\n"

# Numbers of many drafts without replacement are estimates, with a sign of their own.
ESTIMATED = (",".join(["1"] * 60), ",".join(map(str, range(1, 61))), "--normalize", "-k12")
COMMANDS = {
    "accept": ("accept", *ESTIMATED[:3], "-k1"),
    "advise": (
        "advise",
        "--draft-cost",
        "1",
        "--target-cost",
        "2",
        "--nodes",
        "2",
        "--rule",
        "spechub",
    ),
    "audit": ("audit", "otspec.rules:SpecHub", "--instances", "20"),
    "blocks": ("blocks", "--draft", "1/2,1/2", "--target", "1/4,3/4", "--tree", "2x2"),
    "compare": ("compare", *ESTIMATED, "--drafts", "without-replacement"),
    "conform": (
        "conform",
        "otspec.batch:maximal_coupling",
        "--shape",
        "1",
        "--vocabulary",
        "20",
        "--detect",
        "0.5",
        "--entries",
        "4000",
    ),
    "laws": ("laws", "-k", "1", "--drafts", "iid"),
    "policies": ("policies", "confidence-masked", "-L1"),
    "simulate": ("simulate", "--tree", "1x1"),
    "solve": ("solve", "0.5,0.5", "0.3,0.7", "-k", "2", "--solver", "highs"),
    "trace": ("trace", "-k", "1"),
    "vectors": ("vectors", "--kind", "tokens"),
    "a complaint": ("accept", "²≈,0.5", "1,0"),
}


def test_a_command_of_each_kind_is_run():
    needing_a_model = {"generate"}  # tests/decoding runs it
    assert set(otspec.commands) - needing_a_model < set(COMMANDS)


@pytest.fixture
def streams(monkeypatch):
    """Put streams of an encoding in place of the standard ones; return what they hold."""

    def put(encoding):
        buffers = []
        for name in ("stdout", "stderr"):
            buffers.append(io.BytesIO())
            stream = io.TextIOWrapper(buffers[-1], encoding=encoding, newline="\n")
            monkeypatch.setattr(sys, name, stream)

        def read():
            sys.stdout.flush()
            sys.stderr.flush()
            return [buffer.getvalue() for buffer in buffers]

        return read

    return put


# Encodings


@pytest.mark.parametrize("encoding", by_day(ENCODINGS, BY_DAY))
def test_every_character_can_be_printed_in_every_encoding(streams, encoding):
    everything = "".join(map(chr, range(0x3000))) + "".join(tables._PLAIN) + "\ud800🙂\U0010ffff"
    read = streams(encoding)
    say(everything)
    say(everything, err=True)
    print_table([everything], [[everything]])
    out, err = read()
    for text in (out.decode(encoding), err.decode(encoding)):
        assert text.replace("\n", "").isprintable()
    assert err.decode(encoding).count("\n") == 1
    assert len(out) > len(err)


def test_pieces_of_a_text_keep_its_lines_and_nothing_else(streams):
    read = streams("latin-1")
    for piece in ("one\ntw", "o \x1b[2J\r≈", "\n\n", ""):
        say_more(piece)
    assert read()[0] == b"one\ntwo \\x1b[2J\\r~\n\n"


def test_signs_look_alike_in_ascii(streams):
    read = streams("latin-1")
    say("≈0.5 × τ … – ² ß 漢")
    assert read()[0] == b"~0.5 \xd7 tau ... - \xb2 \xdf \\u6f22\n"
    read = streams("ascii")
    say("≈0.5 × τ … – ² ß 漢")
    assert read()[0] == b"~0.5 x tau ... - \\xb2 \\xdf \\u6f22\n"
    read = streams("utf-8")
    say("≈0.5 × τ … – ² ß 漢")
    assert read()[0].decode() == "≈0.5 × τ … – ² ß 漢\n"


def test_every_sign_has_a_look_in_ascii():
    for sign, plain in tables._PLAIN.items():
        assert not sign.isascii()
        assert plain.isascii()
        assert plain.isprintable()


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_all_in_every_encoding(streams, name):
    texts = {}
    for encoding in ("utf-8", "ascii", *(["latin-1"] if NIGHTLY or name == "compare" else [])):
        read = streams(encoding)
        assert main(COMMANDS[name]) == (2 if name == "a complaint" else 0)
        texts[encoding] = [content.decode(encoding) for content in read()]
    whole = texts.pop("utf-8")
    for encoding, printed in texts.items():
        check_the_same(name, encoding, printed, whole)
    if name == "compare":
        assert "≈" in whole[0]


def check_the_same(name, encoding, printed, whole):
    """Check that what was printed in an encoding is the whole, with what it lacks in ASCII."""
    for text, full in zip(printed, whole, strict=True):
        if name == "solve":  # it prints times
            assert text.count("\n") == full.count("\n")
            continue
        shown = full.encode(encoding, tables._IN_ASCII).decode(encoding)
        assert [line.split() for line in text.splitlines()] == [
            line.split() for line in shown.splitlines()
        ]


@pytest.mark.parametrize("name", sorted(otspec.commands))
def test_help_is_in_ascii(streams, name):
    # Click writes UTF-8 to streams that want ASCII.
    read = streams("ascii")
    assert main([name, "--help"]) == 0
    assert read()[0].isascii()


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"PYTHONIOENCODING": "latin-1"}, marks=pytest.mark.nightly),
        pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.nightly),
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""},
    ],
)
def test_processes_of_other_locales_end_well(environment):
    command = [sys.executable, "-W", "error", "-m", "otspec", *COMMANDS["compare"]]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"~0.98" in done.stdout
    assert done.stdout.isascii()


# Control characters


def test_printable_is_a_line_of_characters_with_a_look():
    assert printable("".join(map(chr, range(sys.maxunicode + 1)))).isprintable()
    for code in (*range(0x3100), *range(0xD7F0, 0xE010), *range(0xFE00, 0x10100)):
        shown = printable(chr(code))
        assert shown.isprintable()
        if chr(code).isprintable():
            assert shown == chr(code)
        else:
            assert shown.isascii()
            assert shown.startswith("\\")
    assert printable(EVIL + LINE) == (
        "a\\x1b[2J\\x07\\u202eb\\x9b31m\\x7fc\\u2028d\\u2066e\\xa0f\\u200bg\\udc80h≈ρ\\tß\\n"
    )


def harmless(capfd):
    printed = capfd.readouterr()
    for text in (printed.out, printed.err):
        assert text.replace("\n", "").isprintable(), text
    return printed


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A folder of that name, with good and bad files in it, all with such names."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / NAME
    folder.mkdir()
    np.savez(folder / f"{NAME}.npz", **files.random_pair())
    np.savez(folder / f"{OF_FILE}keys.npz", **{NAME: np.ones(3), "b": [0.5]})
    (folder / f"{OF_FILE}.json").write_text(json.dumps({EVIL: [0.5, 0.5], "b": EVIL}), "utf-8")
    (folder / f"{OF_FILE}.csv").write_bytes(
        f"{OF_FILE},b\n0.5,x\n".encode("utf-8", "surrogateescape")
    )
    (folder / f"{OF_FILE}.npy").write_bytes(b"\x93NUMPY\x01\x00\x1b[2J")
    return folder


def test_names_of_files_and_arrays_do_not_act_on_the_terminal(evil, capfd):
    paths = sorted(map(str, evil.iterdir()))
    assert len(paths) == 5
    for path in (*paths, f"{evil}/missing{EVIL}.npz", f"{paths[0]}:{EVIL}", EVIL):
        for command in ("accept", "compare", "solve"):
            for place in (path, f"{path}:{EVIL}", f"{path}:b"):
                assert main([command, place, "0.5,0.25,0.25"]) == 2
                assert harmless(capfd).err.startswith("otspec: ")
        main(["blocks", path])
        harmless(capfd)
        main(["blocks", "--draft", path, "--target", EVIL])
        harmless(capfd)
        main(["trace", path, "-k1", "--workers", "1"])
        harmless(capfd)
    for arguments in (
        ["audit", EVIL],
        ["audit", f"{EVIL}:{EVIL}"],
        [EVIL],
        ["accept", "1,0", "1,0", f"--{EVIL}"],
        ["accept", "1,0", "1,0", "--drafts", EVIL],
        ["blocks", "--tree", EVIL],
        ["trace", "--temperature", EVIL],
        ["trace", "--scheduler", EVIL, "--out", str(evil / "run")],
        ["compare", "1,0", "1,0", "-k1", "--plot", f"{evil}/{EVIL}.xyz"],
    ):
        assert main(arguments) == 2
        harmless(capfd)


def test_what_succeeds_prints_such_names_harmlessly(evil, capfd):
    trace, out = evil / f"{NAME}.npz", evil / f"run{LINE}forged: line"
    options = ["-k", "1,2", "--workers", "1"]
    report = evil / f"{NAME}.html"
    where = ["--out", str(out), "--report", str(report)]
    assert main(["trace", str(trace), *options, *where]) == 0
    printed = harmless(capfd).out
    assert "\nforged" not in printed
    assert "run\\nforged: line" in printed
    page = report.read_text("utf-8")
    assert printable(NAME) in page
    assert not set("\x1b\x07\u202e\x9b\x7f\u2028\u2066\u200b") & set(page)
    for command in (["blocks", str(trace)], ["trace", str(trace), *options, "--json"]):
        main(command)
        harmless(capfd)
    chart = evil / f"{OF_FILE}.png"
    assert main(["compare", "1,0", "1,0", "-k1", "--plot", str(chart)]) == 0
    assert f"chart: {printable(str(chart))}" in harmless(capfd).out


def test_json_is_ascii_and_means_the_same(capfd):
    content = {EVIL: [EVIL, "🙂\ud800", 0.5]}
    print_json(content)
    printed = harmless(capfd).out
    assert printed.isascii()
    assert json.loads(printed) == content
