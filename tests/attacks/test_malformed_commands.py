"""Malformed input to every command: one line, exit status 2, and nothing written."""

import io
import itertools
import pickle
import tempfile
from contextlib import redirect_stderr, redirect_stdout

import click
import numpy as np
import pyarrow as pa
import pytest
import trace_files as files
from fuzz_targets import time_limit
from malformed_numbers import bad_texts
from pyarrow import parquet
from small_files import WHOLE

from otspec.cli.main import main, otspec

PAIR = ("0.5,0.3,0.2", "0.1,0.6,0.3")
MODELS = ("--draft", "1/2,1/2", "--target", "1/4,3/4")
OF_PAIRS = ("accept", "compare", "solve")
OF_CODE = ("audit", "conform")
ADVISE = ("--draft-cost", "1", "--target-cost", "1", "--nodes", "1", "--rule", "spechub")
COUNTS = {
    "inline": {"accept": 130, "advise": 20, "compare": 100, "solve": 100, "audit": 100,
               "blocks": 100,
               "conform": 40, "laws": 20, "policies": 20, "simulate": 20, "trace": 60,
               "vectors": 20},
    "files": {"accept": 180, "advise": 30, "compare": 60, "solve": 60, "audit": 14, "blocks": 130,
              "conform": 14, "laws": 30, "policies": 20, "simulate": 30, "trace": 90,
              "vectors": 5},
    "options": {"accept": 70, "advise": 90, "compare": 70, "solve": 70, "audit": 70, "blocks": 50,
                "conform": 100, "laws": 60, "policies": 60, "simulate": 90, "trace": 120,
                "vectors": 40},
}  # fmt: skip
COMMANDS = sorted(set(otspec.commands) - {"generate"})  # which tests/decoding tries


def test_there_are_a_thousand():
    assert sum(sum(counts.values()) for counts in COUNTS.values()) >= 1000
    assert all(sorted(counts) == COMMANDS for counts in COUNTS.values())


def bad_inline(command, rng):
    texts = bad_texts(rng)
    if command in OF_PAIRS:
        yield command, "1/2,1/4,1/4", "0.5,0.25,0.25"
        yield command, *PAIR, "--logits", "--temperature", "nan"
        for logits in ("nan,0,0", "inf,0,0", "-inf,-inf,-inf", "1e400,0,0", "x,0,0", ",", "0,0"):
            yield command, logits, "0,1,2", "--logits"
            yield command, "0,1,2", logits, "--logits"
        for number, text in enumerate(texts):
            pair = (text, PAIR[1]) if number % 2 else (PAIR[0], text)
            yield command, *(() if number % 3 else ("--exact",)), "--", *pair
    elif command in OF_CODE:
        for number, text in enumerate(texts):
            name = text.replace(":", "")
            names = (name, f"{name}:x", f"otspec.rules:{name}", f".{name}:x")
            yield command, "--", names[number % 4]
    elif command == "blocks":
        memoryless = ("1", "0.5,0.5", "1,0,0,0")
        for number, text in enumerate(text for text in texts if text not in memoryless):
            sides = ("draft", "target")[:: (1, -1)[number % 2]]
            models = (
                f"--{side}-model={row}" for side, row in zip(sides, (text, PAIR[0]), strict=True)
            )
            yield command, *models, *(() if number % 3 else ("--exact",))
    else:
        for number, text in enumerate(texts):
            name = text.replace("/", "")
            yield command, "--", (name, f"{name}.npz", f"{name}.npy+{name}.npy")[number % 3]


# Files


def bad_files(rng, folder):
    """Yield names of files, and of places in them, that hold no distribution of three tokens."""
    good = np.array([0.5, 0.25, 0.25])
    (folder / "good.csv").write_text("0.5,0.25,0.25", encoding="utf-8")
    (folder / "good.json").write_text('{"a": [0.5, 0.25, 0.25], "b": []}', encoding="utf-8")
    np.save(folder / "good.npy", good)
    np.savez(folder / "good.npz", a=good, b=good[:0])
    numpy = pytest.importorskip("safetensors.numpy", reason="needs the extra traces")
    numpy.save_file({"a": good, "b": good[:2]}, folder / "good.safetensors")
    (folder / "good.pt").write_bytes(WHOLE[".pt"])
    parquet.write_table(pa.table({"a": good, "b": ["x", "y", "z"]}), folder / "good.parquet")
    wholes = {path.suffix: path.read_bytes() for path in sorted(folder.iterdir())}
    for suffix in wholes:
        yield from (folder / f"missing{suffix}", f"{folder / 'good'}{suffix}:nothing")
        yield f"{folder / 'good'}{suffix}:{'' if suffix in ('.npy', '.csv') else 'a:'}99"
        (folder / f"folder{suffix}").mkdir()
        yield folder / f"folder{suffix}"
    several = (".npz", ".json", ".safetensors", ".parquet")
    yield from (f"{folder / 'good'}{suffix}" for suffix in several)
    yield from (
        folder,
        folder / "good",
        folder / "good.csv" / "x.csv",
        f"{'x' * 5000}.npy",
        "\0.npy",
    )
    numbers = itertools.count()

    def saved(content, suffix):
        path = folder / f"case{next(numbers)}{suffix}"
        path.write_bytes(content)
        return path

    for suffix, whole in wholes.items():
        yield saved(b"", suffix)
        yield saved(pickle.dumps({"a": [0.5, 0.25, 0.25]}), suffix)
        yield saved(rng.bytes(200), suffix)
        yield from (saved(whole, other) for other in (".txt", ".pkl", ".NPY", ".npy.gz"))
        yield from (saved(whole, other) for other in wholes if other != suffix)
        yield from (saved(whole[: rng.integers(len(whole))], suffix) for _ in range(3))
    for text in ("[" * 100_000, '{"":' * 50_000, "{}", "[]", "null", "NaN", "0.5", '"1/2"',
                 "[null]", "[{}]", "[true]", "[[[1]]]", "[NaN, 1, 0]", f"[{'9' * 10_000}]",
                 '["1e99999999"]', '["1/2", "1/2", 1e-99999999]', "[1e999, 0, 0]"):  # fmt: skip
        yield saved(text.encode(), ".json")
    for text in ("\n\n", "a,b\n", "0.5\n0.3,0.2\n", '"0.5', "0.5,0.3,x\n", "\0", "0.5;0.3;0.2"):
        yield saved(text.encode(), ".csv")
    for number, content in enumerate(files.bad_npy_bytes()):
        members = {"draft_logits.npy": content, "target_logits.npy": files.npy_bytes(good)}
        yield saved(content, ".npy") if number % 2 else saved(files.zip_bytes(members), ".npz")
    yield from (saved(content, ".safetensors") for content in files.bad_safetensors_bytes())
    for suffix in itertools.cycle(wholes):
        yield saved(rng.bytes(rng.integers(40, 400)), suffix)


def bad_file_cases(command, rng, folder):
    found = bad_files(rng, folder)
    if command in OF_PAIRS:
        found = itertools.islice(found, OF_PAIRS.index(command), None, 1 + (command != "accept"))
        for number, name in enumerate(found):
            pair = (name, PAIR[1]) if number % 2 else (PAIR[0], name)
            yield command, *pair, *(() if number % 3 else ("--exact",))
    elif command == "vectors":
        for name in (".", "no/x.json", "good.npy/x.json", f"{'x' * 5000}.json", "\0.json"):
            yield command, "--out", name
    elif command in OF_CODE:
        broken = (b"", b"(", b"\0", b"1 / 0", b"import no_such_module", b"\xff", b"exit(3)")
        for number, content in enumerate(broken):
            (folder / f"otspec_case{number}.py").write_bytes(content)
            yield command, f"otspec_case{number}:rule"
            yield command, f"{folder}:otspec_case{number}.py"
    elif command == "policies":
        for name in found:
            yield command, "--draft", name, "--target", "1/2,1/2"
    elif command == "blocks":
        for number, name in enumerate(found):
            yield (command, "--draft", name, "--target", PAIR[0]) if number % 2 else (
                command, "--", name
            )  # fmt: skip
    else:
        for number, name in enumerate(found):
            more = f"+{folder / 'good.npy'}" if str(name).endswith(".npy") else ""
            if command == "advise":
                yield command, *ADVISE, f"{name}{more}", "--workers", "1"
                continue
            if command == "simulate":
                yield command, f"{name}{more}", *(("--kind", "probabilities"), ())[number % 2]
                continue
            how = (("--kind", "probabilities"), ("--normalize",), (), ())[number % 4]
            yield command, f"{name}{more}", "-k", "1", "--workers", "1", *how


# Options

BASES = {
    **dict.fromkeys(OF_PAIRS, PAIR),
    "advise": ADVISE,
    "audit": ("otspec.rules:RecursiveRejection",),
    "blocks": MODELS,
    "conform": ("otspec.batch:maximal_coupling", "--shape", "1"),
    "laws": ("-k", "1"),
    "policies": ("confidence-kept", "-L", "1"),
    "simulate": ("--rule", "token", "--tree", "1x1"),
    "trace": ("-k", "1"),
    "vectors": ("--kind", "tokens"),
}
_ANYTHING = (click.Path, click.types.StringParamType)
_RIGHT = {
    ("--end", "0"),
    ("--min-p", "0"),
    ("--draft-min-p", "0"),
    ("--seed", "0"),
    ("--free", "0"),
    ("--tolerance", "0"),
    ("--rounding", "0"),
}
WRONG = (
    *("x", "", "½", "1_x", "\x01", "🙂", "-1", "-0.5", "1,,2", "2x", "inf", "nan", "9" * 5000, "0"),
)
CLASHES = {
    "accept": (("--exact", "--logits"), ("--temperature", "2"), ("-k", "9", "--drafts", "hub"),
               ("-k", "4", "--drafts", "without-replacement"), ("--renyi", "2,0.1", "--exact"),
               ("--kullback-leibler", "1", "--total-variation", "1"), ("--draft", "1,0,0")),
    "advise": (("--rule", "spechub", "--nodes", "1"), ("--draft-cost", "1:2,1:3"), ("--depth", "9"),
               ("--resume",), ("--overwrite",), ("--table", "x.xyz"), ("no.npz", "no.npz"),
               ("--out", "good.npy"), ("--target-cost", "no.csv"), ("--report", ".")),
    "audit": (("--seed", "1", "more"),),
    "laws": (("--table", "x.xyz"), ("-k", "3", "--drafts", "hub"), ("--draft-temperature", "1,0"),
             ("no.npz", "no.npz")),
    "conform": (("--shape", "2x2"), ("--rule", "x"), ("--dtype", "float16"), ("--report", "x.pdf"),
                ("--mode", "pipeline", "--rule", "maximal-coupling"), ("--kind", "tree"),
                ("--drafts", "hub", "--distinct"), ("--names", "p"), ("--names", "p=draft"),
                ("--reserved", "0,x"), ("--least-vocabulary", "99999999")),
    "simulate": (("--table", "x.xyz"), ("--rule", "x"), ("--tree", "2x1"),
                 ("--export", "vllm", "--tree", "1"), ("--tree", "1x" * 8 + "1"),
                 ("--tree", "top1"), ("no.npz", "no.npz")),
    "policies": (("--draft", "1/2,1/2"), ("--target", "1/2,1/2"), ("x",)),
    "vectors": (("more",),),
    "blocks": (("trace.npz",), ("-L", "1", "--tree", ""), ("--length", "0"), ("--table", "x.xyz")),
    "trace": (("--resume",), ("--overwrite",), ("--resume", "--overwrite"), ("--scheduler", "x"),
              ("--resume", "--overwrite", "--out", "run"), ("--out", "good.npy"),
              ("--report", "."), ("--out", "good.npy/run"), ("no.npz", "no.npz"),
              ("--table", "x.xyz")),
}  # fmt: skip
CLASHES["solve"] = (*CLASHES["accept"][:4], ("--solver", "rational"))
CLASHES["compare"] = (
    *CLASHES["accept"][:2],
    CLASHES["accept"][-1],
    *(("-k", "1", "--plot", plot) for plot in ("no/x.png", "x.xyz", ".", "good.npy/x.png")),
    *(("-k", "1", "--table", table) for table in ("no/x.csv", "x.xyz", ".", "good.npy/x.csv")),
)


def misspelt(name, rng, known):
    """Yield changed spellings of an option, each of which is none."""
    while True:
        at = rng.integers(2, len(name))
        letter = "abcdefghijklmnopqrstuvwxyz"[rng.integers(26)]
        changed = (name[:at] + letter + name[at:], name[:at] + name[at + 1 :], name + letter)
        for wrong in changed:
            if wrong not in known and wrong != "--":
                yield wrong


def bad_options(command, rng):
    base = (command, *BASES[command])
    options = [p for p in otspec.commands[command].params if isinstance(p, click.Option)]
    known = {name for option in options for name in option.opts} | {"--help", "--version"}
    spellings = [misspelt(name, rng, known) for name in sorted(known) if len(name) > 2]
    yield from ((*base, *clash) for clash in CLASHES[command])
    for option in options:
        for name in option.opts:
            if option.is_flag:
                yield *base, f"{name}=yes"
                continue
            yield *base, name
            if name == "--tree" or not isinstance(option.type, _ANYTHING):
                yield from ((*base, name, value) for value in WRONG if (name, value) not in _RIGHT)
    for wrong in (f"{command}s", command[1:], command.upper(), f"{command}\0", f"--{command}"):
        yield wrong, *BASES[command]
    if command in (*OF_PAIRS, *OF_CODE):
        yield (command,)
        yield *base, "more"
    while True:
        for wrong in spellings:
            yield *base, next(wrong)


# The property


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Files before: the working folder, the folder of temporary files, and that of cases."""
    for name in ("here", "temporary", "cases"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(str(tmp_path / "cases"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def listing(root):
    found = {
        path.relative_to(root): path.is_file() and path.read_bytes() for path in root.rglob("*")
    }
    return {path: content for path, content in found.items() if "__pycache__" not in path.parts}


def refuse(case):
    arguments = [str(argument) for argument in case]
    shown = [argument[:100] for argument in arguments]
    out, err = io.StringIO(), io.StringIO()  # which take lone surrogates, as standard error does
    with time_limit(shown), redirect_stdout(out), redirect_stderr(err):
        status = main(arguments)
    said = err.getvalue()
    assert (status, out.getvalue()) == (2, ""), (shown, status, said[:300])
    assert said.startswith("otspec: "), shown
    assert len(said) > len("otspec: \n"), shown
    assert said.count("\n") == 1, (shown, said[:300])
    assert "Traceback" not in said, (shown, said)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", COUNTS)
def test_malformed_input_is_refused_in_one_line(tree, kind, command):
    rng = np.random.default_rng(list(f"{kind} {command}".encode()))
    np.save("good.npy", np.zeros((2, 3)))
    found = {
        "inline": lambda: bad_inline(command, rng),
        "files": lambda: bad_file_cases(command, rng, tree / "cases"),
        "options": lambda: bad_options(command, rng),
    }[kind]()
    cases = list(itertools.islice(found, COUNTS[kind][command]))
    assert len(cases) == COUNTS[kind][command]
    before = listing(tree)
    for case in cases:
        refuse(case)
    assert listing(tree) == before
