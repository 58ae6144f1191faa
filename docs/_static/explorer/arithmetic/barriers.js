/**
 * @file Barriers: lifetimes of the knots, and which drafts compete at a moment (Pooled, prop. 4).
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /**
   * Return below which uniform number each knot is a barrier.
   *
   * Every knot starts alive, with a budget: the kink of the law that is wanted. It spends it at the
   * rate of the kink that the chords between alive knots make there, and dies when it is used up;
   * then its two chords become one. A knot without a kink is never a barrier.
   *
   * @param {number[]} widths - Draft mass of each pool, shape (m,).
   * @param {number[]} rises - By how much P(all drafts below) rises over each pool, shape (m,).
   * @param {number[]} slopes - Selected/draft of each pool, ascending, shape (m,).
   * @param {boolean[]} tight - Knots that never die; the first and the last do not, shape (m + 1,).
   * @returns {number[]} Shape (m + 1,): from 0 to 1, and infinity for the tight ones.
   */
  function lifetimes(widths, rises, slopes, tight) {
    const count = widths.length;
    const found = tight.map((each) => (each ? Infinity : 0));
    const budget = found.map((_, j) => (tight[j] ? 0 : Math.max(0, slopes[j] - slopes[j - 1])));
    const alive = found.map((_, j) => j).filter((j) => tight[j] || budget[j] > 0);
    const mass = arithmetic.prefixSums(widths);
    const chord = (low, high) => {
      // Sums of what is between keep the digits of light pools.
      if (high - low === 1) return rises[low] / widths[low];
      const width = arithmetic.sum(widths.slice(low, high));
      return arithmetic.sum(rises.slice(low, high)) / width;
    };
    const before = new Map();
    const after = new Map();
    const right = new Map();
    alive.forEach((knot, i) => {
      if (knot === count) return;
      after.set(knot, alive[i + 1]);
      before.set(alive[i + 1], knot);
      right.set(knot, chord(knot, alive[i + 1]));
    });
    const since = found.map(() => 0);
    const rate = (knot) => right.get(knot) - right.get(before.get(knot));
    const rates = found.map((_, j) => (mortal(j) ? rate(j) : 0));
    const deaths = found.map((_, j) => (mortal(j) ? deathOf(j, 0) : Infinity));

    function mortal(knot) {
      return !tight[knot] && budget[knot] > 0;
    }
    function deathOf(knot, now) {
      return rates[knot] > 0 ? now + budget[knot] / rates[knot] : Infinity;
    }

    const left = new Set(alive.filter((knot) => !tight[knot]));
    while (left.size > 0) {
      let next = -1;
      for (const knot of left) if (next < 0 || deaths[knot] < deaths[next]) next = knot;
      const now = deaths[next];
      if (!(now < 1)) break;
      found[next] = now;
      left.delete(next);
      const [low, high] = [before.get(next), after.get(next)];
      after.set(low, high);
      before.set(high, low);
      right.set(low, chord(low, high));
      for (const knot of [low, high]) {
        if (left.has(knot)) {
          budget[knot] = Math.max(0, budget[knot] - rates[knot] * (now - since[knot]));
          since[knot] = now;
          rates[knot] = rate(knot);
          deaths[knot] = deathOf(knot, now);
        }
      }
    }
    for (const knot of left) found[knot] = 1;
    return found;
  }

  /**
   * @typedef {object} Group
   * @property {number} from - Index of the knot below it.
   * @property {number} to - Index of the knot above it.
   * @property {number[]} tokens - Ids: of the highest group with a draft one is selected.
   * @property {number} chance - The probability that the highest draft is in this group.
   */

  /**
   * Return the groups of tokens between the barriers at a uniform number.
   *
   * @param {Selection} found - What `selection` returns.
   * @param {number} uniform - w, from 0 up to and without 1.
   * @returns {Group[]} From the lowest ratios to the highest.
   */
  function groupsAt(found, uniform) {
    const knots = found.knots.map((_, j) => j).filter((j) => found.knots[j].lifetime > uniform);
    return knots.slice(1).map((to, i) => {
      const from = knots[i];
      const tokens = found.pools.slice(from, to).flatMap((pool) => pool.tokens);
      const chance = found.knots[to].inside - found.knots[from].inside;
      return { from, to, tokens, chance };
    });
  }

  Object.assign(arithmetic, { lifetimes, groupsAt });
})(globalThis);
