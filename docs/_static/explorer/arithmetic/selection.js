/**
 * @file Pooled selection: the law of the selected draft (Pooled, prop. 3; Beyond, prop. 3).
 *
 * Tokens of one ratio target/draft are a pool; the boundaries of pools, ascending, are the knots.
 * Over the draft mass u of the knots, G is the probability that all drafts are below, Q the mass of
 * the target below, and B the probability that the selected token is below. With c the most of
 * G − Q, at the knot s of the cut, B is the lifted target Q + c between a tangent from (0, 0) and
 * one from (1, 1). Which of the drafts is selected is decided by barriers: see `barriers.js`.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** Ratios that differ by less are those of one pool: quotients of floats are rounded. */
  const SAME = 1e-12;
  /** Differences of sums of n masses that are less, of the size of the sums, are rounding. */
  const ROUNDING = 1e-13;

  /**
   * @typedef {object} Pool
   * @property {number[]} tokens - Ids.
   * @property {number} draft - Mass of the draft, and so on.
   * @property {number} target
   * @property {number} ratio - Target/draft.
   * @property {number} slope - Selected/draft: the ratio clipped to the slopes of the tangents.
   * @property {number} selected - The probability that the selected draft is in the pool.
   *
   * @typedef {object} Knot
   * @property {number} mass - u, draft mass below it, from 0 to 1.
   * @property {number} inside - G, the probability that all drafts are below it.
   * @property {number} target - Q, target mass below it.
   * @property {number} lifted - Q + c: at least G everywhere, and G at the cut.
   * @property {number} selected - B, the probability that the selected draft is below it.
   * @property {boolean} tight - Whether B = G for sure: at both ends and at the best cuts.
   * @property {number} lifetime - It is a barrier while the uniform number w is below: from 0 to 1,
   *   or infinite for a tight one.
   *
   * @typedef {object} Token
   * @property {number} draft
   * @property {number} target
   * @property {number} ratio - Infinite for a token that is never drafted.
   * @property {?number} pool - Index of its pool; null for such a token.
   * @property {boolean} inCut - Whether it is below the knot of the cut: drafted too often.
   * @property {number} selected - b, the probability that it is the selected draft.
   * @property {number} chance - min(1, target/b), with which it is accepted then.
   * @property {number} accepted - min(b, target).
   * @property {number} residual - (target − b)₊, not scaled; the output is drawn of it otherwise.
   *
   * @typedef {object} Selection
   * @property {string} law
   * @property {number} k
   * @property {Pool[]} pools - By ascending ratio.
   * @property {Knot[]} knots - One more than pools.
   * @property {number} cut - s, index of the knot of the cut.
   * @property {number[]} cutTokens - Ids of the tokens below it, ascending.
   * @property {number} rejected - c = 1 − acceptance.
   * @property {number} acceptance - Σ min(b, target), which is the optimum.
   * @property {Token[]} tokens - By id.
   */

  /**
   * Return the optimal selection of one of k drafts, with all that a picture of it shows.
   *
   * @param {string} law - `iid` or `without-replacement`.
   * @param {number[]} draft - Shape (n,), sum 1.
   * @param {number[]} target - Shape (n,), sum 1.
   * @param {number} k
   * @returns {Selection}
   * @throws {RangeError} Another law, or no k drafts of it: see `refusal`.
   */
  function selection(law, draft, target, k) {
    const why = arithmetic.refusal(law, draft, k);
    if (why) throw new RangeError(why);
    if (law !== "iid" && law !== "without-replacement") {
      throw new RangeError(`pooled selection is for iid and without-replacement, not for ${law}`);
    }
    const pools = poolsOf(draft, target);
    const rises = risesOf(law, draft, k, pools);
    const curves = curvesOf(pools, rises);
    const slopes = slopesOf(pools, curves);
    const lifetimes = arithmetic.lifetimes(
      pools.map((pool) => pool.draft),
      rises,
      slopes,
      curves.tight,
    );
    const selected = pools.map((pool, j) => slopes[j] * pool.draft);
    const below = arithmetic.prefixSums(selected);
    const knots = curves.mass.map((mass, j) => ({
      mass,
      inside: curves.inside[j],
      target: curves.target[j],
      lifted: curves.target[j] + curves.most,
      selected: below[j],
      tight: curves.tight[j],
      lifetime: lifetimes[j],
    }));
    const tokens = tokensOf(draft, target, pools, slopes, curves.cut);
    const inCut = tokens.map((_, i) => i).filter((i) => tokens[i].inCut);
    return {
      law,
      k,
      pools: pools.map((pool, j) => ({ ...pool, slope: slopes[j], selected: selected[j] })),
      knots,
      cut: curves.cut,
      cutTokens: inCut,
      rejected: curves.most,
      acceptance: Math.min(1, arithmetic.sum(tokens.map((token) => token.accepted))),
      tokens,
    };
  }

  function poolsOf(draft, target) {
    const keys = arithmetic.ratios(draft, target);
    const pools = [];
    let key = -1;
    for (const token of arithmetic.byRatio(draft, target)) {
      if (draft[token] > 0) {
        if (!(keys[token] - key <= SAME * keys[token])) {
          pools.push({ tokens: [] });
          key = keys[token];
        }
        pools[pools.length - 1].tokens.push(token);
      }
    }
    return pools.map(({ tokens }) => {
      const masses = [draft, target].map((law) => arithmetic.sum(tokens.map((i) => law[i])));
      const ratio = Math.min(masses[1] / masses[0], Number.MAX_VALUE);
      return { tokens, draft: masses[0], target: masses[1], ratio };
    });
  }

  /** Return by how much G rises over each pool: of positive terms, so that digits are kept. */
  function risesOf(law, draft, k, pools) {
    if (law === "without-replacement") {
      const order = pools.flatMap((pool) => pool.tokens);
      const [each] = arithmetic.rises(
        order.map((token) => draft[token]),
        [k],
      );
      let start = 0;
      return pools.map(({ tokens }) => {
        start += tokens.length;
        return arithmetic.sum(each.slice(start - tokens.length, start));
      });
    }
    const mass = arithmetic.prefixSums(pools.map((pool) => pool.draft));
    return pools.map((pool, j) => {
      // v^k − u^k = (v − u) Σ u^a v^{k−1−a}.
      let total = 0;
      for (let a = 0; a < k; a += 1) total += mass[j] ** a * mass[j + 1] ** (k - 1 - a);
      return pool.draft * total;
    });
  }

  /** Return u, Q and G at the knots, the most of G − Q, where it is, and which knots are tight. */
  function curvesOf(pools, rises) {
    const mass = arithmetic.prefixSums(pools.map((pool) => pool.draft));
    const target = arithmetic.prefixSums(pools.map((pool) => pool.target));
    const inside = arithmetic.prefixSums(rises);
    const excess = inside.map((height, j) => height - target[j]);
    const peak = excess.indexOf(excess.reduce((a, b) => Math.max(a, b)));
    const isMost = (j) =>
      excess[peak] - excess[j] <= ROUNDING * Math.max(inside[j], inside[peak], target[j]);
    const cut = excess.findIndex((_, j) => isMost(j));
    const tight = excess.map((_, j) => j === 0 || j === pools.length || isMost(j));
    const left = arithmetic.suffixSums(pools.map((pool) => pool.target));
    return { mass, target, inside, cut, tight, left, most: Math.max(0, excess[cut]) };
  }

  /**
   * Return the ratios clipped: at least the slope of the tangent from (0, 0) to Q + c below the
   * cut, at most that of the tangent from (1, 1) above it.
   */
  function slopesOf(pools, { mass, target, cut, left, most }) {
    const above = arithmetic.suffixSums(pools.map((pool) => pool.draft));
    const undrafted = Math.max(0, 1 - target[pools.length]);
    const over = most > undrafted ? most - undrafted : 0;
    let low = Infinity;
    for (let j = 1; j <= cut; j += 1) low = Math.min(low, (target[j] + most) / mass[j]);
    let high = 0;
    for (let j = cut; j < pools.length; j += 1) {
      high = Math.max(high, Math.max(0, left[j] - over) / above[j]);
    }
    // Where nothing is to be clipped the tangent is the last ratio, but for rounding.
    return pools.map(({ ratio }, j) => (j < cut ? Math.max(ratio, low) : Math.min(ratio, high)));
  }

  function tokensOf(draft, target, pools, slopes, cut) {
    const poolOf = new Map(pools.flatMap(({ tokens }, j) => tokens.map((token) => [token, j])));
    const keys = arithmetic.ratios(draft, target);
    return draft.map((mass, i) => {
      const pool = poolOf.has(i) ? poolOf.get(i) : null;
      const selected = pool === null ? 0 : slopes[pool] * mass;
      const wanted = target[i];
      return {
        draft: mass,
        target: wanted,
        ratio: keys[i],
        pool,
        inCut: pool !== null && pool < cut,
        selected,
        chance: wanted < selected ? wanted / selected : wanted > 0 ? 1 : 0,
        accepted: Math.min(selected, wanted),
        residual: Math.max(0, wanted - selected),
      };
    });
  }

  Object.assign(arithmetic, { selection });
})(globalThis);
