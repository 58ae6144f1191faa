/**
 * @file The most that any lossless rule accepts, and the cut that proves it (Theory, 1).
 *
 *     α = min over token sets A of  target(A) + 1 − P(all drafts inside A).
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /**
   * @typedef {object} Optimum
   * @property {number} acceptance - α, from 0 to 1.
   * @property {number[]} cut - The token ids of a best A, ascending; of equally good prefixes the
   *   shortest.
   * @property {number} inside - P(all drafts inside the cut).
   * @property {number} target - The target's mass of the cut.
   */

  /**
   * Return the optimum of a draft law and a target.
   *
   * I.i.d. and distinct drafts: the best prefix by ascending target/draft (Theory, 2). Fixed drafts
   * and one that is drawn: token by token (Theory, 14); certain drafts (Theory, 13): the drafts.
   *
   * @param {string} law - A name of LAWS.
   * @param {number[]} draft - Shape (n,), sum 1.
   * @param {number[]} target - Shape (n,), sum 1.
   * @param {number} k
   * @returns {Optimum}
   * @throws {RangeError} Where the law has no k drafts over this draft: see `refusal`.
   */
  function optimum(law, draft, target, k) {
    const why = arithmetic.refusal(law, draft, k);
    if (why) throw new RangeError(why);
    if (law === "two-hubs") return ofTwoHubs(draft, target);
    if (law === "iid" || law === "without-replacement") {
      const order = arithmetic.byRatio(draft, target);
      return ofPrefixes(order, target, arithmetic.insidePrefixes(law, draft, k, order));
    }
    const { fixed, free } = arithmetic.fixedAndFree(law, draft, k);
    const inFixed = arithmetic.sum(fixed.map((i) => target[i]));
    if (free === null) return ofCut(target, [...fixed], 1, inFixed);
    const others = draft.map((_, i) => i).filter((i) => !fixed.includes(i) && target[i] < free[i]);
    const cut = [...fixed, ...others];
    const inside = Math.min(1, arithmetic.sum(others.map((i) => free[i])));
    return ofCut(target, cut, inside, arithmetic.sum(cut.map((i) => target[i])));
  }

  /**
   * Return α for several numbers of drafts.
   *
   * @param {string} law
   * @param {number[]} draft - Shape (n,).
   * @param {number[]} target - Shape (n,).
   * @param {number[]} ks
   * @returns {(?number)[]} Shape (ks.length,): null for a k that the law does not have here.
   */
  function optima(law, draft, target, ks) {
    const some = ks.filter((k) => arithmetic.refusal(law, draft, k) === null);
    if (law !== "without-replacement") {
      return ks.map((k) => (some.includes(k) ? optimum(law, draft, target, k).acceptance : null));
    }
    // One pass of the race has all of them.
    const order = arithmetic.byRatio(draft, target);
    const inside = arithmetic.insideOfRace(
      order.map((i) => draft[i]),
      some,
    );
    return ks.map((k) =>
      some.includes(k) ? ofPrefixes(order, target, inside[some.indexOf(k)]).acceptance : null,
    );
  }

  function ofPrefixes(order, target, inside) {
    const cost = arithmetic.prefixSums(order.map((i) => target[i]));
    let best = 0;
    for (let j = 1; j < inside.length; j += 1) {
      // What is less by rounding only is no better: sums of n terms of at most 1.
      const rounding = 4 * Number.EPSILON * Math.max(inside[j], inside[best]) * inside.length;
      if (cost[j] - inside[j] < cost[best] - inside[best] - rounding) best = j;
    }
    return ofCut(target, order.slice(0, best), inside[best], cost[best]);
  }

  function ofCut(target, cut, inside, mass) {
    const acceptance = Math.max(0, mass + (1 - inside));
    // The empty cut is worth 1, and is the shorter one.
    if (acceptance >= 1) return { acceptance: 1, cut: [], inside: 0, target: 0 };
    return { acceptance, cut: cut.sort((i, j) => i - j), inside, target: mass };
  }

  /** Return the optimum of two hubs: with each of them, both or none in the cut. */
  function ofTwoHubs(draft, target) {
    const { hubs, pairs, both } = arithmetic.twoHubs(draft);
    let best = ofCut(target, [], 0, 0);
    for (const rows of [[0], [1], [0, 1]]) {
      const held = rows.map((row) => hubs[row]);
      const gain = draft.map((_, x) => arithmetic.sum(rows.map((row) => pairs[row][x])));
      const others = draft.map((_, x) => x).filter((x) => !hubs.includes(x) && target[x] < gain[x]);
      const cut = [...held, ...others];
      const inside = Math.min(1, arithmetic.inside("two-hubs", draft, 2, cut));
      const found = ofCut(target, cut, inside, arithmetic.sum(cut.map((i) => target[i])));
      if (found.acceptance < best.acceptance) best = found;
    }
    return best;
  }

  Object.assign(arithmetic, { optimum, optima });
})(globalThis);
