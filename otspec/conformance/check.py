"""Is an engine's verification lossless: a check with a stated power and a stated rate of alarms."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from otspec._base import arguments
from otspec.blocks.policies import Policy
from otspec.conformance.cases.arrays import DTYPES, LIBRARIES, Form, Named, as_reserved
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.engine_tasks import engine_tasks
from otspec.conformance.cases.kinds import as_kind
from otspec.conformance.cases.ruled import Maker, as_maker, law_asked_for
from otspec.conformance.cases.tasks import beside_tasks, followable, kernel_tasks
from otspec.conformance.evidence.case_by_case import COARSE, Check
from otspec.conformance.keyed import Plain, keyed
from otspec.conformance.report.certificate import settings_of
from otspec.conformance.report.report import Report
from otspec.conformance.same_seed import SameSeed

BUDGET = 10**11  # default: most target probabilities that a verifier is given
VOCABULARY = 65_539  # of the large cases: a prime, no multiple of a warp, over 16 bits
ENTRIES = 1 << 24  # entries of an array before those that are counted: more than float32 counts
MOST_ENTRIES = 1 << 36  # most entries of an array
MOST_BUDGET = 10**15  # largest budget
MOST_TOKENS = 1 << 20  # most tokens of the large cases
LEAST = 1e-100  # smallest rate of false alarms; less rounding counts as none
KINDS = ("tokens", "block", "tree")
MODES = ("kernel", "exact", "pipeline")


def check(
    verifier: Callable[..., Any],
    *,
    kind: str = "tokens",
    mode: str = "kernel",
    detect: float = 0.005,
    coarse: float | None = None,
    false_alarm: float = 1e-6,
    budget: int = BUDGET,
    require: float = 1.0,
    seconds: float | None = None,
    seed: int = 0,
    shape: Any = None,
    distinct: bool = False,
    drafts: str | None = None,
    rule: str | Maker | None = None,
    same_seed: bool | Callable[..., Any] = False,
    policy: Policy | None = None,
    arrays: str = "numpy",
    dtype: str = "float32",
    rounding: float | None = None,
    device: str = "cpu",
    vocabulary: int = VOCABULARY,
    least_vocabulary: int = 1,
    reserved: Collection[int] = (),
    entries: int = ENTRIES,
    names: Mapping[str, str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Try a verifier on small adversarial cases, and say whether its output is the target's.

    Parameters
    ----------
    verifier : callable
        Takes arrays of a batch by the names of its parameters, as many as it wants of ``draft``,
        ``target``, ``drafts``, ``lengths``, ``mask``, ``parents``, ``corrections``, and its
        randomness as ``rng`` (of NumPy), ``generator`` (of torch), ``seed`` or ``uniforms``; one
        that names none of these has the global generators, which are seeded. See Notes for shapes
        and answers.
    kind : str
        ``"tokens"``, ``"block"`` or ``"tree"``.
    mode : str
        ``"kernel"``: drafts are drawn here. ``"exact"``: on the small cases all drafts are
        enumerated, and every random choice of the verifier is followed, as :func:`exact_law` does;
        ``detect``, ``false_alarm`` and ``budget`` are not used. ``"pipeline"``: the engine drafts,
        too.
    detect : float
        The total variation between output and target to be found with probability 0.999.
    coarse : float, optional
        The same where rows are expensive: in large vocabularies, in calls of one to seven rows,
        and of two rows of a call together; by default 0.1, or ``detect`` if that is more. In calls
        of very many rows it is doubled.
    false_alarm : float
        The probability with which a correct verifier has findings.
    budget : int
        The most probabilities of the target that the verifier is given. If that is too few for
        ``detect`` and ``coarse``, the outcome is ``"undecided"``, and the report says what was
        detectable and which budget is enough.
    require : float
        A total variation that has to be detectable on each case without a finding, whatever
        ``detect`` and ``coarse`` say; otherwise the outcome is ``"undecided"``.
    seconds : float, optional
        In exact mode, after how long to stop: the cases with the fewest ways come first, and the
        outcome is ``"undecided"`` if any are left.
    seed : int
    shape : int, or a tree as :func:`otspec.blocks.as_shape` takes it, optional
        How many drafts of one token (3), how long a block (2), or which tree (``"2x1"``).
    distinct : bool
        Whether drafts of one token, and siblings of a tree, are drawn without replacement.
    drafts : str, optional
        Their draft law, a name of :data:`otspec.drafts.LAWS`, such as ``"hub"``. By default
        i.i.d., or as ``rule`` has them.
    rule : str or callable, optional
        The acceptance is compared with the law of this rule, too: a name of
        :data:`otspec.rules.RULES`, of :data:`otspec.blocks.BLOCK_RULES`, or of
        :data:`otspec.blocks.TREE_VERIFIERS` and :data:`otspec.blocks.TREE_RULES` (equal siblings
        stay apart); or what makes such a rule, from (draft, target, k), (draft, target, length) or
        (draft, target, tree).
    same_seed : bool or callable
        Whether the verifier claims that the same seed gives the same text. Then its texts must
        equal those of plain decoding; ``detect``, ``coarse``, ``false_alarm`` and ``budget`` are
        not used. True: plain decoding is the verifier with nothing drafted. Or the engine's own
        plain decoding, which takes what the verifier takes.
    policy : Policy, optional
        What drafts, and cuts its drafts: the verifier is given the rest. Any but one that masks,
        in kernel or exact mode. The verifier has to take rows of fewer drafts.
    arrays : str
        ``"numpy"`` or ``"torch"``.
    dtype : str
        Of probabilities, such as ``"float32"``.
    rounding : float, optional
        The errors of a probability that count as rounding; by default those of the type.
    device : str
        Of torch tensors.
    vocabulary : int
        Tokens of the large cases.
    least_vocabulary : int
        The fewest tokens of the small cases: those beyond a case's own have probability 0.
    reserved : collection of int
        Ids of probability 0 in all cases, such as those of special tokens.
    entries : int
        In one call, this many entries of each array come before those that are counted, so that
        overflowing indices show: 2²⁴ for float32, 2³¹ for 32 bits. At most what half of the
        memory holds.
    names : mapping, optional
        The names above by those of the verifier's parameters, such as ``{"p": "draft"}``.
    progress : callable, optional
        Called after each case with how many are done, and how many there are.

    Raises
    ------
    ValueError
        Unusable options, a verifier that takes or returns something else, or one that cannot be
        followed exactly.

    Notes
    -----
    Shapes, for B rows and V tokens:

    ======  ==========================  ===================================================
    kind    draft, target, drafts       answer
    ======  ==========================  ===================================================
    tokens  (B, V), (B, V), (B, k)      token (B,), alone or with the accepted index, or −1
    block   (B, L, V), (B, L + 1, V),   kept length (B,) and token (B,), or tokens
            (B, L)                      (B, L + 1) with −1 behind
    tree    (B, N + 1, V) twice: after  last kept node (B,), −1 for none, and token (B,)
            the text, and each node;
            (B, N)
    ======  ==========================  ===================================================

    Of an answer to one row the axis of rows may be squeezed away, as any axis of length 1.

    ``lengths`` is how many drafts count in each row, shape (B,); ``mask`` says which, shape
    (B, k), (B, L) or (B, N), also of a tree. What stands behind is garbage or NaN. A verifier
    that takes neither is not tried on rows of fewer drafts, which is a note of the report.
    Each row has one more of ``uniforms`` than it has drafts. ``parents`` is a tuple.

    A verifier of blocks that corrects more than one token takes ``corrections``, and returns them
    after kept length and token: whatever it needs with the next block of the same texts, None at
    their beginning. Its texts are made of its own blocks, without the target. Where rows have fewer
    drafts, it also gets the draft's row after the last one.

    A verifier may warp logits itself: it takes ``draft_logits``, ``target_logits``, settings such
    as ``temperature`` or, for each row, ``temperatures``, the draft's with ``draft_`` before them,
    and ``allowed``, the mask of a grammar; see the page "Other verifiers to check".

    In pipeline mode an engine for tokens takes ``draft`` and ``target`` or ``draft_logits`` and
    ``target_logits``, shape (B, V), and ``k``; it returns tokens (B,), alone or with its drafts
    (B, k) and the accepted index. One for blocks or trees takes the models ``draft`` and
    ``target``, ``prompts`` (B, 1), ``length`` T, ``block`` (how deep a step drafts) or
    ``parents``, and returns texts (B, T) without their prompts. ``model(texts)`` gives rows
    (B, V), ``model.rows(texts)`` and ``model.logits(texts)`` those after each token, (B, t, V).
    Both may take settings as a verifier that warps, which the target's law then has; one for blocks
    or trees also ``frequency_penalty``, ``bad_words`` and ``grammar``: see the page "Engines that
    draft and verify". Randomness is ``rng``, ``generator`` or ``seed``. See :func:`one_by_one` for
    an engine of single texts.

    With ``same_seed`` randomness is ``seed``, one for all rows, or ``seeds``, (B,), from 0 to
    2⁶³ − 1.
    ``positions``, (B,) for one token, (B, L + 1) or (B, N + 1), says for each row of the target
    which position of the text its token has. A verifier may take ``noise`` instead, exponential
    numbers of the target's shape, equal for siblings: it races, argmin noise/target,
    and positions where errors of ``rounding`` decide are left out. In pipeline mode a decoder that
    takes ``seed`` gets one text in each call; it may take ``prompt``, a list, and return a list of
    tokens.
    """
    arguments.as_choice(kind, "kind", KINDS)
    arguments.as_choice(mode, "mode", MODES)
    form = Form(
        arguments.as_choice(arrays, "arrays", LIBRARIES),
        arguments.as_choice(dtype, "dtype", DTYPES),
        arguments.as_instance(device, "device", str, "the name of a device, such as 'cpu'"),
    )
    maker = None if rule is None else as_maker(rule, kind)
    law = law_asked_for(rule, kind, arguments.as_flag(distinct, "distinct"), drafts)
    tried_kind = as_kind(kind, shape, law, policy)
    tokens = arguments.as_integer(vocabulary, "vocabulary", 8, MOST_TOKENS)
    least = arguments.as_integer(least_vocabulary, "least_vocabulary", 1, tokens)
    unused = as_reserved(reserved, tokens)
    before = arguments.as_integer(entries, "entries", 1, MOST_ENTRIES)
    verifier = verifier if names is None else Named(verifier, names)
    errors = float(
        DTYPES[dtype] if rounding is None else arguments.as_real(rounding, "rounding", 0, 0.1)
    )
    shown = (lambda *_: None) if progress is None else progress
    arguments.as_callable(shown, "progress", "a callable")
    if callable(same_seed) or arguments.as_flag(same_seed, "same_seed"):
        if least > 1 or unused:
            raise ValueError(
                "least_vocabulary and reserved are for laws, and same_seed for equality: leave one "
                "of them out"
            )
        if maker is not None:
            raise ValueError("rule is for laws, and same_seed for equality: leave one of them out")
        try:
            engine = keyed(verifier, form, tried_kind, mode)
            other = engine if same_seed is True else keyed(same_seed, form, tried_kind, mode)
        except ValueError as error:
            raise ValueError(f"{error}; or leave out same_seed") from error
        plain = Plain(other, same_seed is True and "noise" in engine.wanted, errors)
        equal = SameSeed(engine, plain, tried_kind, mode, arguments.as_seed(seed), tokens, before)
        return replace(equal.run(shown), settings=settings_of(check, locals()))
    if policy is not None and (mode == "pipeline" or maker is not None):
        raise ValueError("policy is for laws of drafts made here: leave out rule, mode='pipeline'")
    if mode in ("kernel", "exact"):
        asked = Verifier(verifier, form)
        if policy is not None and not asked.uneven:
            raise ValueError(
                "policy leaves fewer drafts in some rows: let verifier take lengths or a mask"
            )
        if mode == "exact" and asked.corrects:
            raise ValueError(
                "verifier takes corrections, so that texts take several blocks: leave out "
                "mode='exact', which follows one"
            )
        tasks = kernel_tasks(asked, tried_kind, tokens, before)
        if mode == "exact":
            tasks = [*followable(tasks), *beside_tasks(asked, tried_kind)]
    elif maker is None:
        tasks = engine_tasks(verifier, form, tried_kind, tokens, before)
    else:
        raise ValueError("rule is for drafts that are drawn here: leave it out in pipeline mode")
    if seconds is not None and mode != "exact":
        raise ValueError(f"seconds is {seconds}, which is for mode='exact': pass budget instead")
    tasks = [task.placed(least, unused) for task in tasks]
    form.refuse_too_many(before, max(task.handed for task in tasks if task.before or task.large))
    found = arguments.as_float_above(detect, "detect", 0, 1)
    rough = (
        max(COARSE, found)
        if coarse is None
        else float(arguments.as_real(coarse, "coarse", found, 1))
    )
    whole = Check(
        tuple(tasks),
        kind,
        mode,
        maker,
        found,
        float(arguments.as_real(false_alarm, "false_alarm", LEAST, 0.5)),
        errors if errors >= LEAST else 0.0,
        arguments.as_integer(budget, "budget", 1, MOST_BUDGET),
        arguments.as_seed(seed),
        rough,
        require=arguments.as_float_above(require, "require", 0, 1),
        seconds=math.inf if seconds is None else arguments.as_float_above(seconds, "seconds", 0),
    )
    return replace(whole.run(shown), settings=settings_of(check, locals()))
