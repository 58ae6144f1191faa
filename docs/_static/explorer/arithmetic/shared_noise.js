/**
 * @file What is accepted where drafter and verifier read the same noise (Theory, 33).
 *
 * Both are integrals over the time t at which the target's race ends. They are trapezoid sums in
 * log t, whose error falls with e^{−π²/(2 STEP)}, since the integrands are analytic wherever t is
 * off the real axis by less than a quarter of a turn.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** Most tokens: one race takes a sum over all pairs of them. */
  const MOST_TOKENS = 256;
  const STEP = 0.15;
  /** Logarithms of the first time, before which nobody arrives, and of the last, after which all have. */
  const EARLY = -32;
  const LATE = Math.log(40);

  /**
   * Return why the acceptance of one race takes too long to integrate, or null.
   *
   * @param {number[]} draft - Shape (n,).
   * @returns {?string}
   */
  function noiseRefusal(draft) {
    if (draft.length <= MOST_TOKENS) return null;
    return (
      `${draft.length} tokens are more than the ${MOST_TOKENS} that are integrated over here: ` +
      "otspec compare --rule gumbel-coupling has no limit"
    );
  }

  /** Yield the times, and the weights of a sum that stands for ∫ k e^{−kt} … dt. */
  function quadrature(k) {
    const count = Math.ceil((LATE - EARLY) / STEP);
    return Array.from({ length: count + 1 }, (_, i) => {
      const time = Math.exp(EARLY + i * STEP) / k;
      return { time, weight: STEP * k * time * Math.exp(-k * time) };
    });
  }

  /**
   * Return the acceptance of the first k tokens of one race, which are distinct drafts.
   *
   * Given that y is the output at time t, others come before it independently, with probability
   * 1 − e^{−t c(z)}, c(z) = (q(y) p(z)/p(y) − q(z))₊; y is drafted if fewer than k of them do.
   *
   * @param {number[]} draft - Shape (n,), sum 1.
   * @param {number[]} target - Shape (n,), sum 1.
   * @param {number} k - At most as many as tokens of positive probability.
   * @returns {number}
   */
  function raceAcceptance(draft, target, k) {
    const nodes = quadrature(1);
    return arithmetic.sum(
      target.map((q, y) => {
        if (!(q > 0 && draft[y] > 0)) return 0;
        const rates = draft
          .map((p, z) => (z === y ? 0 : faster(q, p, draft[y]) - target[z]))
          .filter((rate) => rate > 0);
        if (rates.length < k) return q;
        return q * arithmetic.sum(nodes.map(({ time, weight }) => weight * fewer(rates, time, k)));
      }),
    );
  }

  /** Return q p/p(y), whatever of it is beyond the floats or below the normal ones. */
  function faster(q, p, own) {
    const ratio = p / own;
    return Number.isFinite(ratio) ? q * ratio : (q * p) / own;
  }

  /** Return the probability that fewer than k tokens of these rates arrive by a time. */
  function fewer(rates, time, k) {
    const counts = new Float64Array(k);
    counts[0] = 1;
    for (const rate of rates) {
      const arrived = -Math.expm1(-rate * time);
      const missing = 1 - arrived;
      for (let i = k - 1; i > 0; i -= 1) counts[i] = counts[i] * missing + counts[i - 1] * arrived;
      counts[0] *= missing;
    }
    return counts.reduce((total, count) => total + count, 0);
  }

  /**
   * Return the acceptance of k lists: 1 − Σ q ∫ k e^{−kt} (1 − a)(1 − b)^{k−1} dt.
   *
   * a = e^{−tΛ} is the probability that the list that wins drafts y, and b that another one does.
   * With the tokens by ascending r = q/p and h(r) = Σ (r p − q)₊, Λ is h at y; b is p(y) times
   * the sum, from y on, of how much e^{−th} falls from token to token over the draft mass so far.
   *
   * @param {number[]} draft - Shape (n,), sum 1.
   * @param {number[]} target - Shape (n,), sum 1.
   * @param {number} k
   * @returns {number}
   */
  function listsAcceptance(draft, target, k) {
    const order = draft.map((_, y) => y).filter((y) => draft[y] > 0);
    const ratios = draft.map((p, y) => target[y] / p);
    order.sort((y, z) => (ratios[y] < ratios[z] ? -1 : ratios[y] > ratios[z] ? 1 : 0));
    const masses = arithmetic.prefixSums(order.map((y) => draft[y])).slice(1);
    const heights = order.map(() => 0);
    for (let j = 1; j < order.length; j += 1) {
      const step = ratios[order[j]] - ratios[order[j - 1]];
      heights[j] = heights[j - 1] + (step > 0 ? step * masses[j - 1] : 0);
    }
    let missed = arithmetic.sum(target.filter((_, y) => !(draft[y] > 0)));
    for (const { time, weight } of quadrature(k)) {
      let beyond = 0;
      let falls = 0;
      for (let j = order.length - 1; j >= 0; j -= 1) {
        const y = order[j];
        const here = Math.exp(-time * heights[j]);
        falls += (here - beyond) / masses[j];
        beyond = here;
        const other = Math.min(1, draft[y] * falls);
        missed += weight * target[y] * -Math.expm1(-time * heights[j]) * (1 - other) ** (k - 1);
      }
    }
    return 1 - missed;
  }

  Object.assign(arithmetic, { noiseRefusal, raceAcceptance, listsAcceptance });
})(globalThis);
