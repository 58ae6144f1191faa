/**
 * @file Sums, orders and powers that the other files of the arithmetic share.
 *
 * All files here are classic scripts in any order: each adds its functions to the one object
 * `otspec.arithmetic`, and looks the others up when it is called. Numbers are float64.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** How far a sum may be from 1 before it is refused, as in Python. */
  const SUM_TOLERANCE = 1e-9;

  /** Makes a quotient of any two masses a float. */
  const SCALE = 2 ** 512;

  /**
   * Return the sum of numbers, in which what each addition rounds off is added at the end.
   *
   * @param {number[]} values
   * @returns {number}
   */
  function sum(values) {
    let total = 0;
    let lost = 0;
    for (const value of values) {
      const next = total + value;
      lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
      total = next;
    }
    return Number.isFinite(lost) ? total + lost : total;
  }

  /**
   * Return the sums of the first j values, for every j.
   *
   * @param {number[]} values - Shape (n,).
   * @returns {number[]} Shape (n + 1,), from 0 on.
   */
  function prefixSums(values) {
    const sums = [0];
    for (const value of values) sums.push(sums[sums.length - 1] + value);
    return sums;
  }

  /**
   * Return the sums of the values from place j on, for every j.
   *
   * @param {number[]} values - Shape (n,).
   * @returns {number[]} Shape (n + 1,), down to 0.
   */
  function suffixSums(values) {
    return prefixSums([...values].reverse()).reverse();
  }

  /**
   * Return target/draft token by token: infinite where the draft is 0, as in `otspec.ratios`.
   *
   * @param {number[]} draft - Shape (n,).
   * @param {number[]} target - Shape (n,).
   * @returns {number[]} Shape (n,).
   */
  function ratios(draft, target) {
    return draft.map((mass, i) =>
      mass > 0 ? Math.min(target[i] / mass, Number.MAX_VALUE) : Infinity,
    );
  }

  /**
   * Return the token ids by ascending target/draft, those that are never drafted last.
   *
   * That is the order in which prefixes hold the best cut (Theory, 2). Of equal ratios the lower id
   * comes first; quotients beyond the floats are told apart.
   *
   * @param {number[]} draft - Shape (n,).
   * @param {number[]} target - Shape (n,).
   * @returns {number[]} Shape (n,).
   */
  function byRatio(draft, target) {
    const keys = target.map((mass, i) => (draft[i] > 0 ? mass / (draft[i] * SCALE) : Infinity));
    // Infinity − Infinity is no number, so that keys are compared and not subtracted.
    const compare = (i, j) => (keys[i] < keys[j] ? -1 : keys[i] > keys[j] ? 1 : i - j);
    return draft.map((_, i) => i).sort(compare);
  }

  /**
   * Return the tokens of the largest masses, descending; of equal ones the lower id first.
   *
   * @param {number[]} draft - Shape (n,).
   * @param {number} count
   * @returns {number[]} Shape (count,), or (n,) if that is less.
   */
  function likeliest(draft, count) {
    const order = draft.map((_, i) => i).sort((i, j) => draft[j] - draft[i] || i - j);
    return order.slice(0, count);
  }

  /**
   * Return 1 − p token by token, with the digits of a token close to 1 kept.
   *
   * Only one token can exceed one half; for that one the others are added up instead.
   *
   * @param {number[]} draft - Shape (n,).
   * @returns {number[]} Shape (n,).
   */
  function complement(draft) {
    const heavy = likeliest(draft, 1)[0];
    return draft.map((mass, i) =>
      i === heavy ? sum(draft.filter((_, j) => j !== heavy)) : 1 - mass,
    );
  }

  /**
   * Return 1 + ratio + … + ratio^(k−1): all terms are positive, so that no digits cancel.
   *
   * @param {number} ratio - From 0 to 1.
   * @param {number} k
   * @returns {number}
   */
  function geometric(ratio, k) {
    let total = 0;
    for (let i = 0; i < k; i += 1) total = total * ratio + 1;
    return total;
  }

  /**
   * Return how many tokens have positive mass.
   *
   * @param {number[]} draft - Shape (n,).
   * @returns {number}
   */
  function supportSize(draft) {
    return draft.filter((mass) => mass > 0).length;
  }

  /**
   * Return values scaled to sum to 1.
   *
   * @param {number[]} values - Shape (n,), at least 0 and not all 0.
   * @returns {number[]} Shape (n,).
   */
  function normalized(values) {
    // By the largest first, so that neither very large nor subnormal weights leave the floats.
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    if (!(most > 0)) throw new RangeError("zero everywhere: there is nothing to normalize");
    const scaled = values.map((value) => value / most);
    const total = sum(scaled);
    return scaled.map((value) => value / total);
  }

  Object.assign(arithmetic, {
    SUM_TOLERANCE,
    sum,
    prefixSums,
    suffixSums,
    ratios,
    byRatio,
    likeliest,
    complement,
    geometric,
    supportSize,
    normalized,
  });
})(globalThis);
