"""What each fault puts in place of a part of a verifier, by hand."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from each_case import each

from otspec import rules
from otspec.conformance.cases.cases import mixed, remembering
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.library import small_cases
from otspec.conformance.evidence.evidence import requirement
from otspec.conformance.faults import FAULTS, Machine
from otspec.conformance.faults import two_faults as two_faults_module
from otspec.conformance.faults.base import Seen, joint_law
from otspec.conformance.faults.explanations import looked_at
from otspec.conformance.faults.randomness import inverted
from otspec.conformance.faults.rules import _kernel, rules_of
from otspec.conformance.faults.setting import TEXT, setting_of
from otspec.conformance.faults.shared_noise import Seen as SharedSeen
from otspec.conformance.faults.shared_noise import SharedNoise
from otspec.conformance.keyed import Rows

# Rows after the text and after each of four symbols, which are already distributions.
D = np.array([[4, 3, 2, 1], [1, 2, 3, 4], [2.5, 2.5, 2.5, 2.5], [1, 1, 2, 6], [7, 1, 1, 1]]) / 10
T = np.array([[1, 2, 3, 4], [4, 2, 2, 2], [0, 5, 5, 0], [2, 2, 2, 4], [0.5, 0.5, 1, 8]]) / 10
CASE = remembering("four symbols", D, T)
TREE = Tree((-1, -1, 0, 0))
DRAFTS = 2, 1, 0, 3
ROWS = 0, 3, 2, 1, 4  # which row follows the text, and each node of these drafts
INF = float("inf")


class Recorded:
    """A chance that answers with what it is asked for: the weights, or the probability."""

    def choose(self, masses):
        return masses

    def accept(self, wanted, offered=1):
        return wanted / offered


def machine_of(name, kind=TREE, drafts=DRAFTS):
    machine = FAULTS[name].machine if name else Machine
    return machine(setting_of(kind, CASE), 0, Recorded(), drafts)


def scaled(*weights):
    return np.array(weights) / sum(weights)


def powers(rows, power):
    return [scaled(*row) for row in rows**power]


def rows_after(table, *symbols):
    """The rows that a fault takes for those after the text, and nodes 0 to 3."""
    return table[list(symbols)]


CUT = [scaled(4, 3, 0, 0), scaled(0, 0, 3, 4), scaled(1, 1, 0, 0), scaled(0, 0, 2, 6),
       scaled(7, 1, 0, 0)]  # fmt: skip
T_CUT = [scaled(0, 0, 3, 4), scaled(4, 2, 0, 0), scaled(0, 5, 5, 0), scaled(2, 0, 0, 4),
         scaled(0, 0, 1, 8)]  # fmt: skip
OF_NODES = list(ROWS)


@each(
    "name,model,expected",
    [
        (None, "draft", D[OF_NODES]),
        (None, "target", T[OF_NODES]),
        ("draft declared at another temperature", "draft", np.array(powers(D, 2 / 3))[OF_NODES]),
        ("draft declared sharper than sampled", "draft", np.array(powers(D, 5 / 3))[OF_NODES]),
        ("draft declared truncated", "draft", np.array(CUT)[OF_NODES]),
        ("uniform distribution mixed into the declared draft", "draft", 0.8 * D[OF_NODES] + 0.05),
        ("drawn drafts taken for certain", "draft",
         [*np.eye(4)[[2, 0]], D[2], D[1], D[4]]),
        ("draft's row of the place before", "draft", rows_after(D, 0, 0, 0, 3, 3)),
        ("draft's first row at every place", "draft", rows_after(D, 0, 0, 0, 0, 0)),
        ("target's row of the place before", "target", rows_after(T, 0, 0, 0, 3, 3)),
        ("target's first row at every place", "target", rows_after(T, 0, 0, 0, 0, 0)),
        # Behind the text is node 0, and behind it node 2.
        ("target's row of the place after", "target", rows_after(T, 3, 1, 2, 1, 4)),
        ("draft's row of the place after", "draft", rows_after(D, 3, 3, 2, 1, 4)),
        ("target's row of a sibling", "target", rows_after(T, 0, 3, 3, 1, 1)),
        ("draft's row of a sibling", "draft", rows_after(D, 0, 3, 3, 1, 1)),
        ("warping applied to the draft only", "target", np.array(powers(T, 2 / 3))[OF_NODES]),
        ("target warped twice", "target", np.array(powers(T, 5 / 3))[OF_NODES]),
        ("target truncated once more", "target", np.array(T_CUT)[OF_NODES]),
        ("grammar's mask not applied to the target", "target",
         [T[0], T[3], [0.1, 0.4, 0.4, 0.1], T[1], T[4]]),
        ("small number added to each probability", "draft", D[OF_NODES] + 0.01),
        ("small number added to each probability", "target", T[OF_NODES] + 0.01),
        ("last token of the vocabulary lost", "target",
         [scaled(1, 2, 3, 0), scaled(2, 2, 2, 0), T[2], scaled(4, 2, 2, 0),
          scaled(0.5, 0.5, 1, 0)]),
        # Eight bits from the first that is not 0.
        ("rows in half precision", "target",
         np.array([[205 / 2048, 205 / 1024, 154 / 512, 205 / 512],
                   [205 / 1024, 205 / 1024, 205 / 1024, 205 / 512], [0, 0.5, 0.5, 0],
                   [205 / 512, 205 / 1024, 205 / 1024, 205 / 1024],
                   [205 / 4096, 205 / 4096, 205 / 2048, 205 / 256]])),
        ("target's row does not sum to 1", "target", 0.8 * T[OF_NODES]),
        ("draft's row does not sum to 1", "draft", 0.8 * D[OF_NODES]),
        ("draft and target exchanged", "draft", T[OF_NODES]),
        ("draft and target exchanged", "target", D[OF_NODES]),
        ("drafts drawn at another temperature", "draft", D[OF_NODES]),
        ("drafts drawn at another temperature", "sampled", np.array(powers(D, 5 / 4))[OF_NODES]),
        ("draft truncated and declared whole", "draft", D[OF_NODES]),
        ("draft truncated and declared whole", "sampled", np.array(CUT)[OF_NODES]),
    ],
)  # fmt: skip
def test_the_rows_that_a_fault_is_told(name, model, expected):
    machine = machine_of(name)
    found = [getattr(machine, model)(node) for node in range(TEXT, 4)]
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)


WANT, GIVE = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
SQUARED = scaled(0.01, 0.09, 0.36, 0)


@each(
    "name,part,given,expected",
    [
        # Tests: the chance that is asked for.
        (None, "passes", (0.3, 0), 0.3),
        ("ratio without randomness", "passes", (0.99, 0), 0),
        ("ratio without randomness", "passes", (1.0, 0), 1),
        ("lenience factor", "passes", (0.4, 0), 0.5),
        ("lenience factor", "passes", (0.9, 0), 1),
        ("strictness factor", "passes", (0.5, 0), 0.45),
        ("drafts accepted above a ratio", "passes", (0.7, 0), 0.7),
        ("drafts accepted above a ratio", "passes", (0.71, 0), 1),
        ("drafts rejected below a ratio", "passes", (0.3, 0), 0.3),
        ("drafts rejected below a ratio", "passes", (0.29, 0), 0),
        ("last draft is never tested", "passes", (0.5, 1), 0),
        ("last draft is never tested", "passes", (0.5, 2), 0.5),
        ("first draft is never tested", "passes", (0.5, 2), 0),
        ("first draft is never tested", "passes", (0.5, 1), 0.5),
        ("product of random numbers", "passes", (0.5, 0), 0.5 + 0.5 * np.log(2)),
        ("product of random numbers", "passes", (0.0, 0), 0),
        ("larger of two random numbers", "passes", (0.3, 0), 0.09),
        ("random numbers of few bits", "passes", (0.7, 0), 45 / 64),
        ("random numbers of few bits", "passes", (0.0, 0), 1 / 64),
        ("random numbers that are not uniform", "passes", (0.25, 0), 0.5),
        ("always accepted", "passes", (1e-9, 0), 1),
        ("always accepted", "passes", (0.0, 0), 0),
        (None, "accept", (0.2, 0.4), 0.5),
        (None, "accept", (0.4, 0.2), 1),
        (None, "accept", (0.4,), 0.4),
        # Ratios.
        (None, "odds", (0.2, 0.4), 0.5),
        (None, "odds", (0.1, 0.0), INF),
        (None, "odds", (0.0, 0.0), 0),
        ("ratio upside down", "odds", (0.2, 0.4), 2),
        ("draft's probability left out of the ratio", "odds", (0.2, 0.4), 0.2),
        ("drafts accepted above a probability", "odds", (0.3, 0.4), 0.75),
        ("drafts accepted above a probability", "odds", (0.31, 0.9), 1),
        ("0 / 0 accepted", "odds", (0.0, 0.0), 1),
        ("0 / 0 accepted", "odds", (0.2, 0.4), 0.5),
        ("unlikely drafts always accepted", "odds", (0.2, 0.1), 2),
        ("unlikely drafts always accepted", "odds", (0.05, 0.09), INF),
        ("second draw after a mismatch", "odds", (0.2, 0.4), 0.2),
        (None, "selected", (0.2, 0.4), 0.5),
        (None, "selected", (0.2, 0.0), 0),
        ("independent numbers select among several drafts", "selected", (0.2, 0.4), 0.2),
        # Weights.
        (None, "weight", (0.5, 0.2, 0.4), 0.25),
        (None, "weight", (0.5, 0.4, 0.1), 1),
        (None, "weight", (0.0, 0.4, 0.0), 0),
        ("running product without the cap", "weight", (2.0, 0.4, 0.2), 4),
        ("running product without the cap", "weight", (0.0, 0.4, 0.0), 0),
        ("weight of the last draft only", "weight", (0.1, 0.2, 0.4), 0.5),
        (None, "allowed", (0.25, 0.5), 1 / 3),
        (None, "allowed", (0.0, 1.0), 1),
        ("running product without the cap", "allowed", (0.5, 3.0), 1),
        ("running product without the cap", "allowed", (0.25, 0.5), 1 / 3),
        ("inner drafts tested with their weight", "allowed", (0.25, 0.5), 0.5),
        ("inner drafts tested with the residual's sum", "allowed", (0.25, 0.5), 0.25),
        (None, "keeps", (TEXT, 0.0, None), 1),
        (None, "keeps", (1, 0.5, None), 0.5),
        (None, "keeps", (1, 2.0, None), 1),
        (None, "scaled", (0.5, WANT), [0.05, 0.1, 0.15, 0.2]),
        ("residual without the weight", "scaled", (0.5, WANT), WANT),
        (None, "left_over", (TEXT, 0.5, WANT, GIVE), (0.1, (0, 0, 0, 1))),
        # Residuals: right is (0, 0, 1/4, 3/4).
        (None, "residual", (TEXT, WANT, GIVE), [0, 0, 0.25, 0.75]),
        (None, "residual", (TEXT, WANT, WANT), WANT),
        ("draft not subtracted after a rejection", "residual", (TEXT, WANT, GIVE), WANT),
        ("residual of the first round", "residual", (1, WANT, GIVE), [0, 0.4, 0.6, 0]),
        ("residual subtracted after the last draft only", "residual", (TEXT, WANT, GIVE), WANT),
        ("residual subtracted after the last draft only", "correction", (TEXT, GIVE),
         [0, 0, 0.25, 0.75]),
        ("residual not renormalized", "residual", (TEXT, WANT, GIVE), [0, 0, 0.1, 0.3]),
        ("draw from a residual that is not renormalized", "residual", (TEXT, WANT, GIVE),
         [0, 0, 0.1, 0.9]),
        ("absolute difference for a residual", "residual", (TEXT, WANT, GIVE), scaled(3, 1, 1, 3)),
        ("residual upside down", "residual", (TEXT, WANT, GIVE), [0.75, 0.25, 0, 0]),
        ("residual clipped", "residual", (TEXT, [0.1, 0.2, 0.7, 0], [0, 0, 0, 1]),
         [0.1, 0.2, 0.7, 0]),
        ("residual clipped", "residual", (TEXT, [0.09, 0.21, 0.7, 0], [0, 0, 0, 1]),
         scaled(0, 21, 70, 0)),
        ("residual kept above 0", "residual", (TEXT, WANT, GIVE), scaled(1, 1, 26, 76)),
        ("half of the draft subtracted", "residual", (TEXT, WANT, GIVE), scaled(0, 1, 4, 7)),
        ("rejected tokens removed from the target", "residual", (TEXT, WANT, GIVE),
         [0.2, 0, 0, 0.8]),
        ("rejected tokens removed from the target", "residual", (0, WANT, GIVE), [0, 0.4, 0.6, 0]),
        ("residual of rows that follow", "residual", (TEXT, WANT, GIVE), [0, 0.5, 0.5, 0]),
        ("residual of rows that follow", "residual", (1, WANT, GIVE), [0, 0, 0.25, 0.75]),
        ("second draw after a mismatch", "residual", (TEXT, WANT, GIVE), WANT),
        (None, "left", (GIVE, 0), GIVE),
        ("distinct drafts verified as independent", "left", (GIVE, 0), GIVE),
        ("independent drafts verified as distinct", "left", (GIVE, 0), scaled(0, 3, 2, 1)),
        ("draft's row not renormalized without siblings", "left", (GIVE, 0), [0, 0.3, 0.2, 0.1]),
        ("draft removed before the residual", "residual", (TEXT, WANT, GIVE),
         scaled(0, 0, 300, 275)),
        # Draws: the weights.
        (None, "correction", (0, WANT), WANT),
        (None, "correction", (0, [0, 0, 0, 0]), T[3]),
        (None, "bonus", (2,), T[1]),
        ("correction drawn from the target", "correction", (0, WANT), T[3]),
        ("second draw after a mismatch", "correction", (0, WANT), T[3]),
        ("correction drawn from the draft", "correction", (0, WANT), D[3]),
        ("correction is the likeliest token", "correction", (0, (0.1, 0.4, 0.4, 0.1)), 1),
        ("correction is the target's likeliest token", "correction", (TEXT, GIVE), 3),
        ("correction is the target's likeliest token", "correction", (1, WANT), 1),
        ("correction uniform over the residual", "correction", (0, (0, 0.3, 0, 0.7)), [0, 1, 0, 1]),
        ("correction at another temperature", "correction", (0, (0.1, 0.3, 0.6, 0)), SQUARED),
        ("correction of the first place at every place", "correction", (0, GIVE),
         [0, 0, 0.25, 0.75]),
        ("correction of the first rejected draft only", "correction", (0, GIVE), [0.5, 0.5, 0, 0]),
        ("correction may be a rejected draft", "correction", (0, GIVE), 0),
        ("correction may be a rejected draft", "correction", (1, GIVE), GIVE),
        ("last token never drawn", "draw", (WANT,), scaled(1, 2, 3, 0)),
        ("bonus token is the likeliest one", "bonus", (1,), 1),
        ("bonus token is the likeliest one", "bonus", (2,), 0),
        ("bonus token from the row before", "bonus", (2,), T[3]),
        ("bonus token from the row before", "bonus", (TEXT,), T[0]),
        ("bonus token from the draft", "bonus", (2,), D[1]),
        ("bonus token before warping", "bonus", (1,), [0, 0.5, 0.5, 0]),
        ("bonus token before warping", "bonus", (2,), powers(T, 2 / 3)[1]),
        ("bonus token from a residual", "bonus", (0,), [0.5, 0.5, 0, 0]),
        ("bonus token repeats the last draft", "bonus", (3,), 3),
        ("bonus token repeats the last draft", "bonus", (TEXT,), T[0]),
        ("drafts are the likeliest tokens", "drafted", (0, (0.2, 0.4, 0.4, 0)), 1),
        # The first sibling of each token, and the likeliest for the target first.
        (None, "children", (TEXT,), [0, 1]),
        ("best draft taken", "children", (TEXT,), [0, 1]),
        ("best draft taken", "children", (0,), [3, 2]),
        ("duplicates skipped", "children", (0,), [2, 3]),
        # Texts.
        ("text ends with a draft that is not verified", "ending", ((),), D[0]),
        ("text ends with a draft that is not verified", "ending", ((1, 3),), D[4]),
        ("text ends with padding", "ending", ((1, 3),), 0),
        ("text ends with its last token once more", "ending", ((1, 3),), 3),
    ],
)  # fmt: skip
def test_what_a_part_of_a_fault_returns(name, part, given, expected):
    found, machine = getattr(machine_of(name), part)(*given), name or "a correct verifier"
    if part == "left_over":
        found, expected = [found[0], *found[1]], [expected[0], *expected[1]]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15, err_msg=machine)


def test_after_a_node_that_is_not_drafted_all_symbols_are_equally_likely():
    setting = setting_of(TREE, CASE)
    assert setting.draft[0][-1] == setting.target[0][-1] == [0.25] * 4


def test_a_draft_equal_to_an_earlier_sibling_is_skipped():
    assert machine_of("duplicates skipped", drafts=(2, 2, 0, 1)).children(TEXT) == [0]


def test_a_rejected_draft_is_returned_once_in_ten_times():
    machine, asked = machine_of("correction may be a rejected draft"), []
    machine.chance.accept = asked.append
    assert machine.correction(TEXT, WANT) == WANT
    assert asked == [0.1]


def test_a_whole_block_is_tested_with_the_product_of_its_ratios():
    name, block = "full block accepted without the running cap", Block.of_length(2)
    machine = machine_of(name, block, (2, 1))
    assert machine.last_weight(machine, 0.5) == pytest.approx(0.3 / 0.2 * 0.2 / 0.1)
    machine = machine_of(name, block, (1, 0))
    assert machine.last_weight(machine, 0.5) == 0  # the target never says 0 after 1
    machine = machine_of(None, block, (2, 1))
    assert machine.last_weight(machine, 0.5) == 0.5


@pytest.mark.parametrize(("drawn", "said"), [(0, 0), (1, 0), (3, 2)])
def test_the_token_before_the_one_that_was_drawn(drawn, said):
    machine = machine_of("first token drawn too often")
    machine.chance.choose = lambda _: drawn
    assert machine.draw(WANT) == said


THREE, FIVE = (Tokens(3), (2, 1, 2)), (Tokens(5), (0, 0, 1, 1, 1))


@each(
    "name,given,mark,text",
    [
        (None, (TEXT, 3), 0, (3,)),
        (None, (3, 1), 4, (2, 3, 1)),
        ("kept length one too short", (TEXT, 3), 0, (3,)),
        ("kept length one too short", (2, 1), 1, (2, 1)),
        ("kept length one too long", (TEXT, 3), 1, (2, 3)),
        ("kept length one too long", (1, 3), 2, (1, 3)),
        ("whole path kept wherever a draft was rejected", (TEXT, 3), 3, (2, 0, 3)),
        ("path of the first sibling returned", (TEXT, 3), 0, (3,)),
        ("path of the first sibling returned", (1, 3), 1, (2, 3)),
        ("path of the first sibling returned", (3, 1), 3, (2, 0, 1)),
        ("next node returned", (TEXT, 3), 1, (2, 3)),
        ("next node returned", (0, 3), 2, (1, 3)),
        ("next node returned", (3, 1), 4, (2, 3, 1)),
        ("token after a whole path lost", (0, 3), 1, (2, 3)),
        ("token after a whole path lost", (1, 3), 2, (1,)),
        ("last token of each step lost", (0, 3), 1, (2,)),
    ],
)  # fmt: skip
def test_what_a_fault_says_of_a_kept_node(name, given, mark, text):
    assert machine_of(name).answer(*given) == (mark, text)


@each(
    "name,block,given,mark,token",
    [
        (None, THREE, (TEXT, 3), 0, 3),
        (None, THREE, (2, 2), 1, 2),
        (None, THREE, (1, 1), 2, 1),
        ("first draft returned for the accepted one", THREE, (1, 1), 2, 2),
        ("first draft returned for the accepted one", THREE, (TEXT, 3), 0, 3),
        ("last draft returned for the accepted one", THREE, (1, 1), 2, 2),
        ("last draft returned for the accepted one", THREE, (TEXT, 3), 0, 3),
        ("accepted index returned for the token", THREE, (0, 2), 1, 0),
        ("accepted index returned for the token", FIVE, (4, 1), 3, 3),
        ("accepted index returned for the token", FIVE, (TEXT, 2), 0, 2),
        ("correction dropped", THREE, (TEXT, 3), 0, 2),
        ("correction dropped", THREE, (1, 1), 2, 1),
    ],
)  # fmt: skip
def test_what_a_fault_says_of_an_accepted_draft(name, block, given, mark, token):
    assert machine_of(name, *block).answer(*given) == (mark, (token,))


def test_a_node_that_was_not_drafted_is_not_returned():
    machine = machine_of("next node returned")
    machine.there = (True, True, False, True)
    assert machine.answer(1, 3) == (2, (1, 3))


@each(
    "name,node,after",
    [
        ("token after a whole path lost", 0, None),
        ("token after a whole path lost", 1, 3),
        ("last token of each step lost", 0, 3),
        # The first child of node 0 is token 0.
        ("next step follows the rejected draft", 0, 0),
        ("next step follows the rejected draft", 1, 3),
    ],
)
def test_what_the_next_step_follows(name, node, after):
    machine = machine_of(name)
    machine.answer(node, 3)
    assert machine.last == after


def test_a_step_hands_on_its_last_token():
    machine = machine_of("last token of each step doubled")
    assert machine.answer(0, 3) == (1, (2, 3))
    assert machine.handed() == 3
    machine.goes_on(1)
    assert machine.answer(0, 3) == (1, (1, 2, 3))
    assert machine_of("text ends with its last token once more").ending(()) is None
    repeated = machine_of("text ends with its last token once more")
    repeated.goes_on(1)
    assert repeated.ending(()) == 1


@pytest.mark.parametrize(("needed", "text"), [(1, (0,)), (2, (2, 0)), (3, (2, 0, 1))])
def test_only_the_last_token_of_a_text_is_replaced(needed, text):
    machine = machine_of("text ends with padding")
    machine.needed = needed
    assert machine.answer(2, 1).text == (text if needed < 3 else (2, 0, 0))
    machine.needed = needed + 10
    assert machine.answer(2, 1).text == (2, 0, 1)


def test_drafts_fill_up_what_is_left_of_a_text():
    machine = machine_of("text filled up with drafts that are not verified")
    found = []
    for needed in (1, 2, 3):
        machine.needed = needed
        found.append(machine.says(lambda _: "verified"))
    assert found == [(0, (2,)), (0, (2, 0)), "verified"]


def test_padding_stands_where_a_text_has_no_more_drafts():
    machine = machine_of("padding counted as drafts", drafts=(2, 1, 3, 3))
    machine.needed = 2
    assert [machine.token(node) for node in range(4)] == [2, 1, 0, 0]


def test_rows_of_another_text_follow_a_rejection():
    machine = machine_of("target of another text after a rejection")
    machine.other = machine_of(None, drafts=(1, 1, 1, 1))
    assert machine.target(0) == T[3].tolist()
    machine.answer(1, 3)
    assert not machine.handed()  # a whole path
    machine.answer(0, 3)
    assert machine.handed()
    machine.goes_on(True)
    assert machine.target(0) == T[2].tolist()


def test_a_whole_path_is_kept_without_its_last_draft():
    machine = machine_of("bonus token overwrites the last kept draft")
    assert machine.answer(2, 1) == (3, (2, 0, 1))
    machine.bonus(TEXT)
    assert machine.answer(0, 1) == (1, (2, 1))
    machine.bonus(2)
    assert machine.answer(2, 1) == (1, (2, 1))


class At:
    """A random number of a value."""

    def __init__(self, value):
        self.value = value

    def below(self, threshold):
        return self.value < threshold


@pytest.mark.parametrize(
    ("value", "weights", "symbol"),
    [(0.0, (0, 2, 3), 1), (0.39, (0, 2, 3), 1), (0.41, (0, 2, 3), 2), (0.9, (2, 3, 0), 1),
     (1.0, (2, 3, 0), 1), (0.5, (0, 0, 0), 3)],
)  # fmt: skip
def test_a_number_draws_the_symbol_at_which_the_sums_pass_it(value, weights, symbol):
    assert inverted(At(value), weights, 3) == symbol


@each(
    "name,part,given,number",
    [
        ("one random number for all tests", "passes", (0.4, 3), TEXT),
        ("one random number for all siblings", "passes", (0.4, 1), 0),
        ("one random number for all siblings", "passes", (0.4, 3), 2),
        ("random numbers off by one", "passes", (0.4, 0), 0),
        ("random numbers off by one", "passes", (0.4, 1), 0),
        ("random numbers off by one", "passes", (0.4, 3), 2),
        ("random number shared by test and draw", "passes", (0.4, 2), 2),
        ("random number shared by test and draw", "draw", (WANT,), 0),
        ("random number shared by first test and draw", "passes", (0.4, 2), 2),
        ("random number shared by first test and draw", "draw", (WANT,), 0),
        ("one random number for all tests and the draw", "passes", (0.4, 2), TEXT),
        ("one random number for all tests and the draw", "draw", (WANT,), TEXT),
        ("random number shared by draft and test", "passes", (0.4, 2), 2),
        ("random number shared by draft and test", "drafted", (2, WANT), 2),
        ("random number shared by draft and correction", "passes", (0.4, 2), None),
        ("random number shared by draft and correction", "drafted", (2, WANT), 2),
        ("random number shared by draft and correction", "correction", (0, WANT), 2),
        ("random number shared by draft and correction", "correction", (1, WANT), None),
        ("one random number for all drafts", "passes", (0.4, 2), None),
        ("one random number for all drafts", "drafted", (2, WANT), TEXT),
        ("seed set again in each step", "passes", (0.4, 2), 2),
        ("seed set again in each step", "drafted", (2, WANT), 6),
        ("seed set again in each step", "draw", (WANT,), TEXT),
        ("numbers of verification used again in each step", "passes", (0.4, 2), 2),
        ("numbers of verification used again in each step", "drafted", (2, WANT), None),
        ("numbers of verification used again in each step", "draw", (WANT,), TEXT),
        ("numbers of drafts used again in each step", "passes", (0.4, 2), None),
        ("numbers of drafts used again in each step", "drafted", (2, WANT), 6),
        ("numbers of drafts used again in each step", "draw", (WANT,), None),
        ("number of the draw used again for the next draft", "passes", (0.4, 2), None),
        ("number of the draw used again for the next draft", "drafted", (0, WANT), 4),
        ("number of the draw used again for the next draft", "drafted", (1, WANT), None),
        ("number of the draw used again for the next draft", "draw", (WANT,), TEXT),
    ],
)  # fmt: skip
def test_which_number_a_fault_uses(name, part, given, number):
    machine, named = machine_of(name), []

    def numbered(name):
        named.append(name)
        return At(0.2)

    machine.number = numbered
    found = getattr(machine, part)(*given)
    assert named == ([] if number is None else [number])
    if number is None:
        assert found == (0.4 if part == "passes" else WANT)
    else:
        assert found == 1  # 0.2 is below 0.4, and between the first two sums of WANT


def test_the_number_of_the_last_test_draws():
    machine, named = machine_of("random number shared by test and draw"), []
    machine.number = lambda name: named.append(name) or At(0.2)
    machine.passes(0.4, 3)
    machine.draw(WANT)
    assert named == [3, 3]


def test_the_number_of_a_draw_is_that_of_the_next_draft():
    machine, drawn = machine_of("number of the draw used again for the next draft"), At(0.2)
    machine.goes_on(defaultdict(lambda: None))
    assert not machine._numbers
    machine.goes_on({TEXT: drawn})
    assert dict(machine._numbers) == {4: drawn}


@each(
    "name,node,depth,ahead",
    [
        (None, TEXT, 2, 2),
        ("one noise for neighboring positions", TEXT, 2, -1),  # of positions 4 and 5
        ("one noise for neighboring positions", TEXT, 3, 0),  # of positions 6 and 7
        ("noise of a step's first position at all its positions", 0, 1, 0),
        ("noise of the last draft after a whole path", 0, 1, 1),
        ("noise of the last draft after a whole path", 2, 2, 1),
        ("noise of the last draft after a whole path", 1, 0, 0),
        ("noise indexed by node", 1, 1, 2),
        ("noise counted from the beginning of each step", 0, 1, -2),
        ("noise indexed by step", 0, 1, 5),
    ],
)
def test_from_which_position_noise_is_taken(name, node, depth, ahead):
    machine = FAULTS[name or "noise of the first row for all rows"].machine
    step = machine(3, 3, 7, TREE.parents, DRAFTS, (True,) * 4, T[list(ROWS)], D[list(ROWS)], None)
    assert step.ahead(node, depth) == ahead
    assert step.row() == (3 if name else 0)


def test_what_is_raced_over_after_a_rejection():
    step = FAULTS["residual raced with the noise of its draft"].machine(*FIRST_CHILD)
    assert step.left(np.array(WANT), np.array(GIVE)) == pytest.approx([0, 0, 0.1, 0.3])
    assert step.left(np.array(WANT), np.array(WANT)) is None
    right = FAULTS["noise indexed by step"].machine(*FIRST_CHILD)
    assert right.left(np.array(WANT), np.array(GIVE)) is None


FIRST_CHILD = (
    0, 5, 0, TREE.parents, DRAFTS, (True, True, True, False), T[list(ROWS)], D[list(ROWS)],
    lambda weights, _row, ahead: int(np.argmax(weights)) if ahead else 2,
)  # fmt: skip


@each(
    "name,left,said",
    [
        # The race gives token 2 at the text, which is node 0; then the target's likeliest, 3.
        ("noise of the first row for all rows", None, (0, [2, 3])),
        # After token 2 the target has (2, 2, 2, 4) / 10 and the draft (1, 1, 2, 6) / 10.
        ("residual raced with the noise of its draft", [0.1, 0.1, 0, 0], (0, [2, 0])),
    ],
)
def test_a_text_of_shared_noise_goes_down_the_drafts_that_agree(name, left, said):
    given = []

    class Spied(FAULTS[name].machine):
        def left(self, *rows):
            given.append(super().left(*rows))
            return given[-1]

    step = Spied(*FIRST_CHILD)
    assert step.verify() == said
    assert len(given) == 1
    assert given[0] is None if left is None else given[0] == pytest.approx(left)
    # Behind a leaf no draft was rejected.
    assert replace(step, parents=(-1,), drafts=(2,), there=(True,)).verify() == (0, [2, 3])
    assert len(given) == 1


def test_a_fault_of_shared_noise_explains_the_beginnings_of_all_texts():
    """Each row has the models of its variant: after the text, and after each of its drafts."""
    steps = []

    class Recorder(SharedNoise):
        def verify(self):
            steps.append(self)
            return 0, [2, 3]

    both = mixed("two", [CASE, remembering("exchanged", T, D)])
    sample = Sample(
        np.array([1, 0]), np.array([DRAFTS] * 2), np.array([DRAFTS] * 2), np.ones((2, 4)) > 0
    )
    rows = Rows(sample, np.array([7, 8]), np.array([30, 40]))
    for texts, explained, looked in (
        ([[2, 3], [2, 3]], True, 2), ([[2, -1], [-1, -1]], True, 2), ([[2, 3], [2, 2]], False, 2),
        ([[0, 3], [2, 3]], False, 1),
    ):  # fmt: skip
        steps.clear()
        said = SharedSeen(TREE, both, rows, np.array(texts))
        assert said.explained(Recorder, None) == explained
        assert len(steps) == looked
        for row, (target, draft) in enumerate(((D, T), (T, D))[:looked]):
            step = steps[row]
            assert (step.place, step.start, step.number) == (row, (30, 40)[row], 0)
            assert (step.parents, list(step.drafts), list(step.there)) == (
                TREE.parents, list(DRAFTS), [True] * 4
            )  # fmt: skip
            assert step.target == pytest.approx(target[OF_NODES])
            assert step.draft == pytest.approx(draft[OF_NODES])


DRAFTING = {  # what drafts that are given hide
    "drafts drawn at another temperature", "draft truncated and declared whole",
    "drafts are the likeliest tokens", "draft and correction raced with the same noise",
    "random number shared by draft and test", "random number shared by draft and correction",
    "one random number for all drafts", "drafts of neighboring positions raced with the same noise",
    "noise indexed by step", "token after a whole path lost", "last token of each step lost",
    "last token of each step doubled", "text ends with a draft that is not verified",
    "text filled up with drafts that are not verified", "text ends with padding",
    "text ends with its last token once more", "padding counted as drafts",
    "target of another text after a rejection", "seed set again in each step",
    "numbers of verification used again in each step", "numbers of drafts used again in each step",
    "number of the draw used again for the next draft", "next step follows the rejected draft",
}  # fmt: skip


def test_which_faults_only_an_engine_that_drafts_has():
    assert {name for name, fault in FAULTS.items() if fault.pipeline} == DRAFTING
    for name in DRAFTING:
        across = getattr(FAULTS[name].machine, "across", False)
        # What passes from step to step is nothing of a single token.
        assert not across or FAULTS[name].kinds == ("block", "tree")


def test_the_law_of_a_fault_is_kept_and_no_one_writes_to_it():
    law = joint_law(Machine, rules_of(Tokens(1))[0], Tokens(1), CASE)
    with pytest.raises(ValueError, match="read-only"):
        law[0, 0] = 1


def test_drafts_that_a_draft_cannot_have_drawn_are_rejected():
    """There are no two distinct drafts of one token."""
    rule, wanted = rules.PooledSelectionWithoutReplacement, (0.2, 0.4, 0.4)
    assert _kernel(rule, (1.0, 0.0, 0.0), wanted, (0, 0)) == ([0.0, 0.0], list(wanted))
    accepted, _ = _kernel(rule, (0.5, 0.25, 0.25), wanted, (0, 1))
    assert 0 < sum(accepted) <= 1


def seen_as(law, off=True):
    """What is seen of a law without chance, on one text of two tokens."""
    counts = np.round(10_000 * np.array([law])).astype(int)
    return Seen(CASE, counts, requirement(len(law), 0.1, 1e-6, 0.0), off)


def test_a_law_of_the_first_token_fits_or_does_not():
    # Of the texts of two symbols only the first is told apart.
    first = np.repeat(WANT, 4) / 4
    uneven = (np.array(WANT)[:, None] * np.array(GIVE)).ravel()
    seen = seen_as([*uneven, 0.0])
    assert seen.first_fits(np.array([[*first, 0.0]]))
    assert seen.likelihood(np.array([[*first, 0.0]])) is None
    other = (np.array(GIVE)[:, None] * np.array(GIVE)).ravel()
    assert not seen.first_fits(np.array([[*other, 0.0]]))


def test_some_cases_with_findings_and_the_last_others_are_compared():
    """Simple ones come first; of the others the last are the hardest."""
    simple = sorted(small_cases(Tokens(2))[:20], key=lambda case: case.ways)
    seen = [
        replace(seen_as([0.5, 0.5], off=off), case=case)
        for off in (True, False)
        for case in reversed(simple)
    ]
    found = looked_at(seen)
    assert [each.off for each in found] == [True] * 8 + [False] * 6
    ways = [case.ways for case in simple]
    assert [each.case.ways for each in found] == ways[:8] + ways[-6:]
    few = [each for each in seen if each.case in simple[:3]]
    assert len(looked_at(few)) == 6


def test_what_explains_most_cases_alone_is_the_first_of_two_faults(monkeypatch):
    """A law is the name of its fault; a case says which laws fit it, and which its first token."""

    class Fits:
        def __init__(self, whole, first, off=True):
            self.whole, self.first, self.off, self.case = whole, first, off, None

        def likelihood(self, law):
            return 0.0 if law in self.whole else None

        def first_fits(self, law):
            return law in self.first

    faults = [(FAULTS[name], name) for name in list(FAULTS)[:7]]
    none, token, whole, two, unknown, right, late = (name for _, name in faults)
    laws = {FAULTS[name].machine: name for _, name in faults if name != unknown}
    monkeypatch.setattr(
        two_faults_module, "law_or_none", lambda machine, *_: laws.get(machine, "right")
    )
    laws[FAULTS[unknown].machine] = None
    seen = [
        Fits({whole, two}, {token, two, whole}),
        Fits({two}, {right, "right"}),
        Fits({late}, {late}, off=False),
        *[Fits({unknown}, {unknown})] * 2,
        Fits({late}, {late}),  # the fifth with a finding
    ]
    found = list(two_faults_module._alone(TREE, seen, faults))
    # Two whole cases and a first token; a whole case and a token; a token. Where the correct
    # verifier has the first token of a case, a fault does not explain it.
    assert [rule for _, rule in found] == [two, whole, token]
    many = [(FAULTS[two], two)] * 12
    assert len(list(two_faults_module._alone(TREE, seen, many))) == 10
    assert none not in [rule for _, rule in found]
