/**
 * @file The verification rules whose acceptance is a small formula (Theory, 5; Python's RULES).
 *
 * Left out are `importance-sampling`, which goes through maximum flows: with more than two drafts
 * or 32 tokens what it accepts depends on which of several equally large ones is found, and so on
 * rounding, in the fifth decimal; `priority-mixture` and `planned`, which solve linear programs;
 * `truncated-alphabet` and `recursive-rejection-independent`, which take other things than a draft,
 * a target and k; and `earliest-pooled-selection`, which accepts as much as `pooled-selection`.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /**
   * @typedef {object} Rule
   * @property {string} name - As in Python.
   * @property {string} title - What a reader is shown; Python's.
   * @property {string} law - The law of the drafts that it verifies, a name of LAWS.
   * @property {number} [onlyK] - The one number of drafts that it verifies.
   * @property {boolean} optimal - Whether no rule for these drafts accepts more.
   * @property {string} source - Paper and number.
   */

  const overlap = (draft, target) =>
    arithmetic.sum(draft.map((mass, i) => Math.min(mass, target[i])));
  const best = (law) => (draft, target, k) =>
    arithmetic.optimum(law, draft, target, k).acceptance;

  const entries = [
    {
      name: "maximal-coupling",
      title: "maximal coupling",
      law: "iid",
      onlyK: 1,
      optimal: true,
      source: "SpecTr, alg. 1",
      formula: overlap,
    },
    {
      name: "naive-sampling",
      title: "naive sampling",
      law: "iid",
      optimal: false,
      source: "MCSD, sec. 4.5",
      formula: naiveSampling,
    },
    {
      name: "k-sequential",
      title: "k-sequential",
      law: "iid",
      optimal: false,
      source: "SpecTr, alg. 2",
      formula: kSequential,
    },
    {
      name: "recursive-rejection",
      title: "recursive rejection",
      law: "iid",
      optimal: false,
      source: "MCSD, alg. 1",
      formula: recursiveRejection,
    },
    {
      name: "pooled-selection",
      title: "pooled selection",
      law: "iid",
      optimal: true,
      source: "Pooled, prop. 3",
      formula: best("iid"),
    },
    {
      name: "recursive-rejection-without-replacement",
      title: "recursive rejection (distinct)",
      law: "without-replacement",
      optimal: false,
      source: "MCSD, alg. 2",
      formula: (draft, target, k) => arithmetic.distinctRejection(draft, target, k),
    },
    {
      name: "pooled-selection-without-replacement",
      title: "pooled selection (distinct)",
      law: "without-replacement",
      optimal: true,
      source: "Beyond, prop. 3",
      formula: best("without-replacement"),
    },
    {
      name: "spechub",
      title: "SpecHub",
      law: "hub",
      onlyK: 2,
      optimal: true,
      source: "SpecHub, alg. 3",
      formula: specHub,
    },
    {
      name: "spechub-two-hubs",
      title: "SpecHub (two hubs)",
      law: "two-hubs",
      onlyK: 2,
      optimal: true,
      source: "after SpecHub, app. C.3",
      formula: specTwoHubs,
    },
    {
      name: "drawn-draft",
      title: "coupling of the drawn draft",
      law: "top-plus-one",
      optimal: true,
      source: "Theory, 14",
      formula: drawnDraft,
    },
    {
      name: "gumbel-coupling",
      title: "shared noise",
      law: "without-replacement",
      optimal: false,
      source: "Daliri et al.; Theory, 33",
      formula: (draft, target, k) => arithmetic.raceAcceptance(draft, target, k),
    },
    {
      name: "gumbel-lists",
      title: "shared noise (lists)",
      law: "iid",
      optimal: false,
      source: "Rowan et al.; Theory, 33",
      formula: (draft, target, k) => arithmetic.listsAcceptance(draft, target, k),
    },
    {
      name: "target-only",
      title: "target-only verification",
      law: "top",
      optimal: true,
      source: "Theory, 13",
      formula: (draft, target, k) =>
        arithmetic.sum(arithmetic.likeliest(draft, k).map((i) => target[i])),
    },
  ];

  /** @type {Rule[]} */
  const RULES = entries.map(({ formula, ...rule }) => rule);

  function entryOf(rule) {
    const entry = entries.find((each) => each.name === rule);
    if (!entry) {
      const known = entries.map((each) => each.name).join(", ");
      throw new RangeError(`no rule is called ${rule}: there are ${known}`);
    }
    return entry;
  }

  /**
   * Return why a rule does not verify k drafts of a draft distribution, or null if it does.
   *
   * @param {string} rule - A name of RULES.
   * @param {number[]} draft - Shape (n,).
   * @param {number} k
   * @returns {?string}
   */
  function ruleRefusal(rule, draft, k) {
    const { law, onlyK, title } = entryOf(rule);
    if (onlyK && k !== onlyK) {
      return `k is ${k}, but ${title} verifies exactly ${onlyK} draft${onlyK > 1 ? "s" : ""}`;
    }
    const why = arithmetic.refusal(law, draft, k);
    if (why) return why;
    if (rule === "recursive-rejection-without-replacement") return arithmetic.distinctRefusal(draft, k);
    return rule === "gumbel-coupling" ? arithmetic.noiseRefusal(draft) : null;
  }

  /**
   * Return the probability that a rule's output is one of the drafts.
   *
   * @param {string} rule - A name of RULES.
   * @param {number[]} draft - Shape (n,), sum 1.
   * @param {number[]} target - Shape (n,), sum 1.
   * @param {number} k
   * @returns {number} From 0 to 1.
   * @throws {RangeError} Where `ruleRefusal` says why.
   */
  function acceptance(rule, draft, target, k) {
    const why = ruleRefusal(rule, draft, k);
    if (why) throw new RangeError(why);
    return Math.min(1, Math.max(0, entryOf(rule).formula(draft, target, k)));
  }

  /** Σ q (1 − (1 − p)^k). */
  function naiveSampling(draft, target, k) {
    return arithmetic.sum(draft.map((p, i) => target[i] * p * arithmetic.geometric(1 - p, k)));
  }

  /** 1 − (1 − β)^k at ρ*, where β = Σ min(p, q/ρ): then the residual is no draft (Theory, 6). */
  function kSequential(draft, target, k) {
    const beta = (rho) => arithmetic.sum(draft.map((p, i) => Math.min(p, target[i] / rho)));
    const suffices = (rho) => rho >= arithmetic.geometric(Math.max(0, 1 - beta(rho)), k);
    let [low, high] = [1, k];
    for (let middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
      if (suffices(middle)) high = middle;
      else low = middle;
    }
    const accepted = beta(suffices(low) ? low : high);
    return accepted * arithmetic.geometric(Math.max(0, 1 - accepted), k);
  }

  /** 1 − W_k, where W_{i+1} = Σ (q − (W_0 + … + W_i) p)₊ and W_0 = 1. */
  function recursiveRejection(draft, target, k) {
    let rejected = 1;
    let drafted = 0;
    for (let i = 0; i < k; i += 1) {
      drafted += rejected;
      const offered = drafted;
      rejected = arithmetic.sum(target.map((q, j) => Math.max(0, q - offered * draft[j])));
    }
    return 1 - rejected;
  }

  /** What tokens off the hub take, q(a) + Σ min(q, p/(1 − p(a))), which is 1 at most. */
  function specHub(draft, target) {
    return drawnDraft(draft, target, 2);
  }

  /** The target on the certain drafts, and off them the less of it and of the drawn one's law. */
  function drawnDraft(draft, target, k) {
    const { fixed, free } = arithmetic.fixedAndFree("top-plus-one", draft, k);
    const certain = fixed.map((i) => target[i]);
    const drawn = free === null ? [] : free.map((mass, i) => Math.min(mass, target[i]));
    return arithmetic.sum([...certain, ...drawn.filter((_, i) => !fixed.includes(i))]);
  }

  /**
   * Every token off the hubs takes what it can of its two pairs; what is left, the hubs share.
   *
   * What hub a can have of it is between a least and a most: it gets what is nearest to q(a).
   */
  function specTwoHubs(draft, target) {
    const { hubs, pairs, both } = arithmetic.twoHubs(draft);
    const off = draft.map((_, x) => x).filter((x) => !hubs.includes(x));
    const total = off.map((x) => pairs[0][x] + pairs[1][x]);
    const left = off.map((x, i) => Math.max(0, total[i] - target[x]));
    const least = arithmetic.sum(off.map((x, i) => Math.max(0, left[i] - pairs[1][x])));
    const most = both + arithmetic.sum(off.map((x, i) => Math.min(left[i], pairs[0][x])));
    const shared = both + arithmetic.sum(left);
    const [wantedFirst, wantedSecond] = hubs.map((hub) => target[hub]);
    const first = Math.min(Math.max(wantedFirst, least), most);
    const taken = arithmetic.sum(off.map((x, i) => Math.min(total[i], target[x])));
    return taken + Math.min(first, wantedFirst) + Math.min(shared - first, wantedSecond);
  }

  Object.assign(arithmetic, { RULES, ruleRefusal, acceptance });
})(globalThis);
