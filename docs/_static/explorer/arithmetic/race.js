/**
 * @file P(all drafts without replacement are inside a prefix of the tokens), by a race (Theory, 2).
 *
 * Token y arrives at an exponential time of rate p(y); the first k arrivals are k successive draws
 * without replacement. Let A be the tokens before y, c the mass after y, N(t) how many of A arrive
 * by time t and f_i the density of the time of the i-th of them. Then all drafts are inside A ∪ y,
 * and y is one of them, with probability
 *
 *     rise(y) = ∫ e^{−ct} [p e^{−pt} P(N(t) = k−1) + (1 − e^{−pt}) f_{k−1}(t)] dt.
 *
 * All terms are positive, so that no digits cancel. It is a trapezoid sum in log t, as in Python's
 * `otspec.drafts.race.inside`, which says why so few nodes suffice.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  // Errors as negative logarithms: of the step, before the first node, after the last one.
  const STEP = 34;
  const EARLY = 37;
  const LATE = 40;

  /**
   * Return by how much P(all drafts inside) rises at each token of an order, for several k.
   *
   * @param {number[]} rates - The draft in that order, shape (n,).
   * @param {number[]} ks - Each at most the number of positive rates.
   * @returns {number[][]} Shape (ks.length, n).
   */
  function rises(rates, ks) {
    const support = rates.map((_, j) => j).filter((j) => rates[j] > 0);
    const positive = support.map((j) => rates[j]);
    const many = ks.filter((k) => k > 2);
    const swept = many.length ? sweep(positive, many) : [];
    return ks.map((k) => {
      const found = rates.map(() => 0);
      const some = k === 1 ? positive : k === 2 ? ofPairs(positive) : swept[many.indexOf(k)];
      support.forEach((j, i) => {
        found[j] = some[i];
      });
      return found;
    });
  }

  /**
   * Return P(all drafts inside the first j tokens) for every j, for several k.
   *
   * @param {number[]} rates - The draft in the order of the prefixes, shape (n,).
   * @param {number[]} ks
   * @returns {number[][]} Shape (ks.length, n + 1).
   */
  function insideOfRace(rates, ks) {
    const end = rates.reduce((last, rate, j) => (rate > 0 ? j + 1 : last), 0);
    return rises(rates, ks).map((each) =>
      arithmetic.prefixSums(each).map((total, j) => (j >= end ? 1 : Math.min(total, 1))),
    );
  }

  /** Two drafts: p(y) Σ_{x before y} p(x) (1/(1−p(x)) + 1/(1−p(y))). */
  function ofPairs(rates) {
    const off = arithmetic.complement(rates);
    const [heavy] = arithmetic.likeliest(rates, 1);
    let mass = 0;
    let odds = 0;
    return rates.map((rate, j) => {
      // Divided first: odds of the heaviest token may be beyond the floats, these shares are not.
      const afterHeavy = j > heavy ? (rate / off[heavy]) * rates[heavy] : 0;
      const found = rate * odds + afterHeavy + (mass / off[j]) * rate;
      odds += j === heavy ? 0 : rate / off[j];
      mass += rate;
      return found;
    });
  }

  function sweep(rates, ks) {
    const { logTimes, step } = nodes(rates, ks);
    const outside = arithmetic.suffixSums(rates);
    const logRates = rates.map(Math.log);
    const logOutside = outside.map(Math.log);
    const depth = Math.max(...ks);
    const found = ks.map(() => rates.map(() => 0));
    for (const logTime of logTimes) {
      // Row i: P(N = i), and t times the density of the i-th arrival.
      const counts = new Float64Array(depth);
      const density = new Float64Array(depth);
      const terms = new Float64Array(depth);
      counts[0] = 1;
      for (let j = 0; j < rates.length; j += 1) {
        // Of logarithms: the product of a tiny rate and a long time leaves no float.
        const due = Math.exp(logRates[j] + logTime);
        const missing = Math.exp(-due);
        const hit = missing > 0 ? due * missing : 0;
        const arrived = -Math.expm1(-due);
        for (let i = 0; i < depth; i += 1) terms[i] = hit * counts[i] + arrived * density[i];
        const weight = step * Math.exp(-Math.exp(logOutside[j + 1] + logTime));
        if (weight > 0) {
          for (let a = 0; a < ks.length; a += 1) found[a][j] += weight * terms[ks[a] - 1];
        }
        for (let i = depth - 1; i > 0; i -= 1) {
          counts[i] = missing * counts[i] + arrived * counts[i - 1];
          density[i] = missing * density[i] + terms[i - 1];
        }
        counts[0] *= missing;
      }
    }
    return found;
  }

  /** Return the logarithms of the times that are looked at, and their step. */
  function nodes(rates, ks) {
    const depth = Math.max(...ks);
    let perUnit = Infinity;
    for (let angle = 0.01; angle < 1.56; angle += 0.005) {
      // On the ray of this angle the sum of step h is off by 2 cos^{−k} / (e^{2π angle/h} − 1).
      const needed = (STEP - depth * Math.log(Math.cos(angle))) / angle / (2 * Math.PI);
      perUnit = Math.min(perUnit, needed);
    }
    const logFactorial = (k) => (k < 2 ? 0 : Math.log(k) + logFactorial(k - 1));
    const start = Math.min(...ks.map((k) => (logFactorial(k) - EARLY) / k));
    // After the last node a token outside has arrived, or, with all inside, the k heaviest have.
    const heaviest = [...rates].sort((a, b) => b - a)[depth - 1];
    const stop = Math.log(LATE) - Math.log(Math.min(heaviest, rates[rates.length - 1]));
    const count = Math.ceil(Math.max(stop - start, 0) * perUnit) + 2;
    const logTimes = Array.from({ length: count }, (_, i) => start + i / perUnit);
    return { logTimes, step: 1 / perUnit };
  }

  Object.assign(arithmetic, { rises, insideOfRace });
})(globalThis);
