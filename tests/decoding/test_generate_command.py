"""``otspec generate`` on tiny models, made here; nothing is downloaded."""

from __future__ import annotations

import json
import re
import sys
from itertools import zip_longest

import pytest
from command_line import complaint, run
from tiny_models import CHAT, save_model, transformers

from otspec.blocks import BLOCK_RULES, TokenTree
from otspec.cli.commands import generate as command
from otspec.cli.main import main
from otspec.decoding import generate, generate_batch
from otspec.traces.collect import load_models

transformers()

pytestmark = pytest.mark.filterwarnings("default")  # of the two packages, which are not ours
PROMPT = ("--prompt", "the cat sat")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return save_model(folder / "draft", 1), save_model(folder / "target", 3, chat=CHAT)


@pytest.fixture(scope="module")
def options(folders):
    draft, target = folders
    return ("generate", "--target", target, "--draft", draft, *PROMPT, "--device", "cpu")


def test_the_text_comes_first_and_then_what_the_drafts_were_worth(options, capsys):
    more = ("--max-new-tokens", "20", "--seed", "3", "--tree", "2x1")
    seen = json.loads(run(capsys, *options, *more, "--json"))
    lines = run(capsys, *options, *more).splitlines()
    assert lines[0] == seen["text"]
    drafted, plain = lines[3].split(), lines[4].split()
    calls = seen["target_calls"]
    assert drafted[:3] == ["pooled-selection,", "tree", "2x1"]
    wanted = [str(len(seen["tokens"])), str(calls), f"{len(seen['tokens']) / calls:.2f}"]
    assert drafted[3:7] == [*wanted, str(2 * calls)]
    assert plain[2:6] == [str(seen["plain"]["tokens"])] * 2 + ["1.00", "0"]
    first, second = seen["accepted"]
    assert lines[7].split()[:3] == ["1", str(calls), str(first)]
    assert lines[8].split()[:3] == ["2", str(first), str(second)]
    assert re.fullmatch(
        r"Decoding with drafts is \d+\.\d\d times as fast as without\.|"
        r"With drafts a token takes \d+\.\d\d times as long as without: .*save\.", lines[-1]
    )  # fmt: skip


def test_the_numbers_are_those_of_the_library(options, folders, capsys):
    settings = {"rule": "block-published", "max_new_tokens": 12, "temperature": 0.7, "top_p": 0.9}
    given = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    printed = run(capsys, *options, *given, "--tree=1x1x1", "--top-k=5", "--no-plain", "--json")
    models = load_models(*folders, device="cpu")
    prompt = models.begun("the cat sat", chat=False)
    text = generate(
        models.target, models.draft, prompt, tree=(1, 1, 1), top_k=5, end=models.ends, **settings
    )
    seen = json.loads(printed)
    assert seen["tokens"] == list(text.tokens)
    assert seen["accepted"] == list(text.accepted)
    assert seen["acceptance"] == list(text.acceptance)
    assert seen["efficiency"] == text.efficiency
    assert seen["tokens_per_call"] == len(text.tokens) / text.target_calls
    assert seen["plain"] is None


def test_a_model_drafts_for_itself_with_layers_left_out(folders, capsys):
    some = ("generate", "--target", folders[1], *PROMPT, "--json", "--no-plain", "--tree=1x1")
    short = ("--max-new-tokens", "20")
    for rule in ("token", "k-sequential"):
        seen = json.loads(run(capsys, *some, *short, "--skip-layers=1", "--rule", rule))
        assert 0 < seen["accepted"][0] <= seen["target_calls"]
    chat = json.loads(run(capsys, *some, "--skip-layers", "0,2", "--chat", *short))
    assert len(chat["tokens"]) <= 20


def test_several_texts_are_decoded_together(folders, options, capsys):
    more = (*options, "--prompt", "a dog", "--max-new-tokens", "15", "--tree", "2x1", "--seed", "3")
    apart = ("--draft-temperature", "0.5", "--draft-top-k", "3", "--draft-top-p", "1",
             "--draft-min-p", "0.1")  # fmt: skip
    seen = json.loads(run(capsys, *more, *apart, "--json"))
    models = load_models(*folders, device="cpu")
    prompts = [models.begun(text, chat=False) for text in ("the cat sat", "a dog")]
    texts = generate_batch(
        models.target, models.draft, prompts, tree="2x1", max_new_tokens=15, seed=3,
        end=models.ends, draft_temperature=0.5, draft_top_k=3, draft_top_p=1, draft_min_p=0.1,
    )  # fmt: skip
    assert [each["tokens"] for each in seen["texts"]] == [list(each.tokens) for each in texts]
    assert [each["prompt"] for each in seen["texts"]] == ["the cat sat", "a dog"]
    calls = [each.target_calls for each in texts]
    assert [each["target_calls"] for each in seen["texts"]] == calls
    assert seen["target_calls"] == max(calls)
    tokens = sum(len(each.tokens) for each in texts)
    assert seen["tokens_per_call"] == tokens / sum(calls)
    assert seen["accepted"] == [sum(each.accepted[d] for each in texts) for d in (0, 1)]
    rounds = zip_longest(*(each.steps for each in texts))
    drafted = [max(step.draft_calls for step in steps if step) for steps in rounds]
    assert seen["draft_calls"] == sum(drafted)
    lines = run(capsys, *more, *apart).splitlines()
    assert lines[:5:3] == ["the cat sat …", "a dog …"]
    assert lines[1:5:3] == [each["text"] for each in seen["texts"]]
    assert lines[7].split()[3:6] == [str(tokens), str(max(calls)), f"{tokens / sum(calls):.2f}"]


@pytest.mark.parametrize("rule", BLOCK_RULES)
def test_rules_of_blocks_are_timed_beside_plain_decoding(rule, options, capsys):
    more = ("--max-new-tokens", "5", "--tree", "1x1", "--rule", rule, "--json")
    seen = json.loads(run(capsys, *options, *more))
    assert seen["plain"]["tokens"] == len(seen["tokens"])


def test_characters_that_are_not_whole_wait_for_the_next_token(folders, capsys, monkeypatch):
    models = load_models(*folders, device="cpu")
    texts = {1: "a", 2: "a\ufffd", 3: "aé\n", 4: "aé\nb"}
    monkeypatch.setattr(command, "_text", lambda _, tokens: texts[len(tokens)])
    settings = {"target": models.target, "draft": models.draft, "prompts": [[1]], "end": ()}
    printed = []
    monkeypatch.setattr(command, "say_more", printed.append)
    command._with_text(models, ["it"], "it", False, 4, tree=TokenTree(()), **settings)
    assert printed == ["a", "é\n", "b", ""]
    capsys.readouterr()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "name the target by either --target or --gguf"),
        (
            ("--target", "x", "--draft", "y", "--skip-layers", "1"),
            "either --draft or --skip-layers",
        ),
        (("--gguf", "no-such-package"), "neither a GGUF file nor an installed package"),
        (("--gguf", "x", "--draft", "y"), "use --skip-layers in place of --draft"),
        (("--target", "x"), "name the draft by either --draft or --skip-layers"),
        (("--target", "/no/such/folder", "--skip-layers", "1"), "cannot use /no/such/folder"),
        (("--target", "x", "--skip-layers", "1,-2"), "holds '-2': write layers such as"),
        (("--target", "x", "--tree", "4,x"), "--tree is"),
        (("--target", "x", "--tree", "0"), "--tree"),
        (("--target", "x", "--rule", "best"), "'best' is not one of"),
    ],
)
def test_bad_input_is_one_line(given, said, capsys):
    assert said in complaint(capsys, "generate", *PROMPT, *given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--rule", "spechub"), "spechub verifies exactly 2 drafts"),
        (("--rule", "token"), "token verifies one drafted block"),
        (("--temperature", "0"), "for greedy decoding use top_k=1"),
        (("--top-p", "2"), "top_p is 2.0"),
        (("--min-p", "2"), "min_p is 2.0"),
        (("--max-new-tokens", "100"), "positions for 64"),
        (("--tree", "1000x1000"), "nodes"),
    ],
)
def test_what_does_not_go_together_is_one_line(options, given, said, capsys):
    assert said in complaint(capsys, *options, *given)


def test_a_missing_package_is_named_with_its_extra(options, capsys, monkeypatch):
    for package in ("torch", "transformers"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            message = complaint(capsys, *options)
        assert f"needs the package {package}: pip install 'otspec[hf]'" in message


def test_help_needs_no_model(capsys):
    assert main(["generate", "--help"]) == 0
    assert "block-preprint verify one drafted block" in " ".join(capsys.readouterr().out.split())
