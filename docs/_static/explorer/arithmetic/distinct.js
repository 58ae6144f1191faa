/**
 * @file Recursive rejection of distinct drafts, which is a sum over the drafts (MCSD, alg. 2).
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** Most tuples of earlier drafts that are summed over, as in Python. */
  const SUM_LIMIT = 4000;

  /**
   * Return why the acceptance of k distinct drafts takes too long to sum up, or null.
   *
   * @param {number[]} draft - Shape (n,).
   * @param {number} k
   * @returns {?string}
   */
  function distinctRefusal(draft, k) {
    const support = arithmetic.supportSize(draft);
    if (support ** Math.max(k - 2, 0) <= SUM_LIMIT) return null;
    return (
      `${support} tokens have too many beginnings of k = ${k} distinct drafts to sum over (more ` +
      `than ${SUM_LIMIT}): otspec.rules.RecursiveRejectionWithoutReplacement estimates it`
    );
  }

  /**
   * Return the acceptance of recursive rejection of k distinct drafts.
   *
   * After the first draft x was rejected, the rest is the same rule for k − 1 drafts, with p off x
   * and the residual (q − p)₊, scaled.
   *
   * @param {number[]} draft - Shape (n,).
   * @param {number[]} target - Shape (n,).
   * @param {number} k - At most as many as tokens of positive probability.
   * @returns {number}
   */
  function distinctRejection(draft, target, k) {
    return 1 - missed(draft, target, k);
  }

  /** Return how much of a target is left over by k drafts of what is left of the draft. */
  function missed(left, target, k) {
    const draft = arithmetic.normalized(left);
    const residual = target.map((q, i) => Math.max(0, q - draft[i]));
    const total = arithmetic.sum(residual);
    if (k === 1 || total === 0) return total;
    const lost = draft.map((p, i) => Math.max(0, p - target[i]));
    const rest = (x) => draft.map((p, i) => (i === x ? 0 : p));
    const rejected = draft.map((_, i) => i).filter((i) => lost[i] > 0);
    if (k === 2) return missedByTwo(draft, residual, total, lost, rejected);
    const scaled = residual.map((r) => r / total);
    return arithmetic.sum(rejected.map((x) => lost[x] * missed(rest(x), scaled, k - 1)));
  }

  /**
   * Return Σ_x lost(x) Σ_y (r − c(x) p)₊ / W, c(x) = W/(1 − p(x)), from one sort by r/p.
   *
   * The residual r is 0 where a draft can be rejected, so that x itself needs no exception. After
   * the heaviest token c may be beyond the floats: what is left of the draft is scaled instead.
   */
  function missedByTwo(draft, residual, total, lost, rejected) {
    const order = arithmetic.byRatio(draft, residual);
    const keys = arithmetic.ratios(draft, residual);
    const wanted = arithmetic.suffixSums(order.map((y) => residual[y]));
    const offered = arithmetic.suffixSums(order.map((y) => draft[y]));
    const [heavy] = arithmetic.likeliest(draft, 1);
    const afterHeavy = () => {
      const rest = arithmetic.normalized(draft.map((p, i) => (i === heavy ? 0 : p)));
      return arithmetic.sum(residual.map((r, i) => Math.max(0, r - total * rest[i])));
    };
    const parts = rejected.map((x) => {
      if (x === heavy) return lost[x] * afterHeavy();
      const scale = total / (1 - draft[x]);
      const j = firstAbove(order, keys, scale);
      return lost[x] * Math.max(0, wanted[j] - scale * offered[j]);
    });
    return arithmetic.sum(parts) / total;
  }

  /** Return the first place of an order whose key is above a level. */
  function firstAbove(order, keys, level) {
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keys[order[middle]] > level) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  Object.assign(arithmetic, { distinctRejection, distinctRefusal });
})(globalThis);
