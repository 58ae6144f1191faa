/**
 * @file Draft laws: which there are, how many drafts each has, P(all drafts inside A).
 *
 * Names are those of `otspec.drafts.LAWS` in Python; `two-hubs` is the law of its rule
 * `spechub-two-hubs`.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** Most drafts here. */
  const MOST_DRAFTS = 16;

  /**
   * @typedef {object} Law
   * @property {string} name - As in Python.
   * @property {string} title - What a reader is shown.
   * @property {boolean} distinct - Whether no token is drafted twice.
   * @property {(n: number) => number[]} ks - The numbers of drafts that it has over n tokens of
   *   positive probability.
   */

  const pairs = () => [2];
  const any = () => upTo(MOST_DRAFTS);
  const noMoreThanTokens = (n) => upTo(Math.min(n, MOST_DRAFTS));

  /** @type {Law[]} */
  const LAWS = [
    { name: "iid", title: "i.i.d. drafts", distinct: false, ks: any },
    {
      name: "without-replacement",
      title: "distinct drafts (without replacement)",
      distinct: true,
      ks: noMoreThanTokens,
    },
    { name: "hub", title: "the likeliest token and one drawn (hub)", distinct: false, ks: pairs },
    {
      name: "top-plus-one",
      title: "the k − 1 likeliest tokens and one drawn",
      distinct: true,
      ks: noMoreThanTokens,
    },
    { name: "top", title: "the k likeliest tokens", distinct: true, ks: noMoreThanTokens },
    {
      name: "two-hubs",
      title: "one of the two likeliest tokens and another (two hubs)",
      distinct: true,
      ks: (n) => (n < 2 ? [] : [2]),
    },
  ];

  function upTo(most) {
    return Array.from({ length: most }, (_, i) => i + 1);
  }

  function lawNamed(name) {
    const law = LAWS.find((each) => each.name === name);
    if (!law) {
      const known = LAWS.map((each) => each.name).join(", ");
      throw new RangeError(`no draft law is called ${name}: there are ${known}`);
    }
    return law;
  }

  /**
   * Return why a law has no k drafts over a draft distribution, or null if it has.
   *
   * @param {string} law
   * @param {number[]} draft - Shape (n,).
   * @param {number} k
   * @returns {?string}
   */
  function refusal(law, draft, k) {
    const { ks, distinct } = lawNamed(law);
    if (!Number.isInteger(k) || k < 1 || k > MOST_DRAFTS) {
      return `k is ${k}: the number of drafts is a whole number from 1 to ${MOST_DRAFTS}`;
    }
    const support = arithmetic.supportSize(draft);
    if (ks(support).includes(k)) return null;
    if (distinct && support < k) {
      return (
        `the draft has ${support} token${support === 1 ? "" : "s"} of positive probability, too ` +
        `few for ${k} distinct drafts: lower k to ${support} or take another law`
      );
    }
    return `k is ${k}, but such drafts come in pairs: take k = 2 or another law`;
  }

  function check(law, draft, k) {
    const why = refusal(law, draft, k);
    if (why) throw new RangeError(why);
  }

  /**
   * Return P(all drafts inside A).
   *
   * @param {string} law
   * @param {number[]} draft - Shape (n,).
   * @param {number} k
   * @param {number[]} tokens - A, each id once.
   * @returns {number}
   */
  function inside(law, draft, k, tokens) {
    check(law, draft, k);
    const members = new Set(tokens);
    if (members.size === 0) return 0;
    if (law === "two-hubs") return insideOfTwoHubs(draft, members);
    if (law === "iid" || law === "without-replacement") {
      const others = draft.map((_, i) => i).filter((i) => !members.has(i));
      return insidePrefixes(law, draft, k, [...members, ...others])[members.size];
    }
    const { fixed, free } = fixedAndFree(law, draft, k);
    if (!fixed.every((token) => members.has(token))) return 0;
    // Where the fixed tokens are certain to be all, nothing is free.
    return free === null ? 1 : Math.min(1, arithmetic.sum([...members].map((i) => free[i])));
  }

  /**
   * Return P(all drafts inside the first j tokens of an order), for every j at once.
   *
   * For i.i.d. drafts p(A)^k; for distinct ones the race of Theory, 2.
   *
   * @param {string} law - `iid` or `without-replacement`.
   * @param {number[]} draft - Shape (n,).
   * @param {number} k
   * @param {number[]} order - Each token id once.
   * @returns {number[]} Shape (n + 1,), from 0 to 1.
   */
  function insidePrefixes(law, draft, k, order) {
    check(law, draft, k);
    const rates = order.map((token) => draft[token]);
    if (law === "without-replacement") return arithmetic.insideOfRace(rates, [k])[0];
    const support = rates.reduce((last, rate, j) => (rate > 0 ? j + 1 : last), 0);
    return arithmetic
      .prefixSums(rates)
      .map((mass, j) => (j >= support ? 1 : Math.min(mass, 1) ** k));
  }

  /**
   * Return the tokens that are drafts for certain, and how likely each other token is the last one.
   *
   * @param {string} law - `hub`, `top-plus-one` or `top`.
   * @param {number[]} draft - Shape (n,).
   * @param {number} k
   * @returns {{fixed: number[], free: ?number[]}} `free` has shape (n,) and sum 1, or is null where
   *   the fixed tokens are all drafts that there are.
   */
  function fixedAndFree(law, draft, k) {
    const fixed = arithmetic.likeliest(draft, law === "top" ? k : k - 1);
    if (law === "top") return { fixed, free: null };
    const rest = draft.map((mass, i) => (fixed.includes(i) ? 0 : mass));
    const some = rest.some((mass) => mass > 0);
    return { fixed, free: some ? arithmetic.normalized(rest) : null };
  }

  /**
   * Return how likely each pair of drafts with two hubs is, whatever its order.
   *
   * P(x, a) = p(x) p(a)/(p(a) + p(b)) and P(a, x) = p(a) p(x)/(1 − p(a)) for x off the hubs a and
   * b, P(a, b) = p(a) p(b)/(1 − p(a)), alike with b (Python's `TwoHubs`; after SpecHub, app. C.3).
   *
   * @param {number[]} draft - Shape (n,).
   * @returns {{hubs: number[], pairs: number[][], both: number}} `pairs` has shape (2, n): of hub a
   *   and x, and of hub b and x; 0 at the hubs. `both` is the pair of the hubs.
   */
  function twoHubs(draft) {
    const hubs = arithmetic.likeliest(draft, 2);
    const off = arithmetic.complement(draft);
    const together = draft[hubs[0]] + draft[hubs[1]];
    const after = hubs.map((hub) => draft.map((mass) => (mass / off[hub]) * draft[hub]));
    const pairsOf = (row) =>
      draft.map((mass, x) =>
        hubs.includes(x) ? 0 : mass * (draft[hubs[row]] / together) + after[row][x],
      );
    const both = after[0][hubs[1]] + after[1][hubs[0]];
    return { hubs, pairs: [pairsOf(0), pairsOf(1)], both };
  }

  function insideOfTwoHubs(draft, members) {
    const { hubs, pairs: ofHubs, both } = twoHubs(draft);
    const parts = hubs.every((hub) => members.has(hub)) ? [both] : [];
    hubs.forEach((hub, row) => {
      if (members.has(hub)) parts.push(...[...members].map((x) => ofHubs[row][x]));
    });
    return Math.min(1, arithmetic.sum(parts));
  }

  Object.assign(arithmetic, {
    MOST_DRAFTS,
    LAWS,
    refusal,
    inside,
    insidePrefixes,
    fixedAndFree,
    twoHubs,
  });
})(globalThis);
