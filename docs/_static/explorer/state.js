// The state, all that a link carries: the masses as texts, k, the draft law, a uniform number.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const UNITS = 10000; // masses that a hand makes are multiples of 1/10000
  const MOST_TOKENS = 16; // that are dragged
  const MOST_DRAFTS = 16;

  /** Hold a state and tell who listens when it changes. */
  function store(first) {
    let state = Object.freeze({ ...first });
    const listeners = [];
    return {
      get: () => state,
      set(change) {
        state = Object.freeze({ ...state, ...change });
        for (const listener of listeners) listener(state);
      },
      listen: (listener) => listeners.push(listener),
    };
  }

  /** Share out units in proportion to weights; what rounding leaves goes to the largest rests. */
  function shares(weights, units) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const wanted = weights.map((weight) => (weight / total) * units);
    const given = wanted.map(Math.floor);
    const left = units - given.reduce((sum, unit) => sum + unit, 0);
    const order = wanted.map((_, i) => i).sort((i, j) => wanted[j] - given[j] - wanted[i] + given[i]);
    for (const i of order.slice(0, left)) given[i] += 1;
    return given;
  }

  function text(units) {
    return String(units / UNITS);
  }

  /** Return texts of masses in multiples of 1/10000 that sum to 1. */
  function rounded(masses) {
    return shares(masses, UNITS).map(text);
  }

  /**
   * Return texts of masses after one of them was moved: the others keep their ratios.
   * @param {number[]} masses as they were when the movement began
   */
  function moved(masses, token, value) {
    if (masses.length === 1) return ["1"];
    const units = Math.round(Math.min(1, Math.max(0, value)) * UNITS);
    let weights = masses.map((mass, i) => (i === token ? 0 : mass));
    if (!weights.some((weight) => weight > 0)) weights = masses.map((_, i) => Number(i !== token));
    const found = shares(weights, UNITS - units);
    found[token] = units;
    return found.map(text);
  }

  /** Return texts of masses without the last token. */
  function shortened(texts, masses) {
    if (masses.at(-1) === 0) return texts.slice(0, -1);
    const kept = masses.slice(0, -1);
    const weights = kept.some((mass) => mass > 0) ? kept : kept.map(() => 1);
    return rounded(weights);
  }

  function withToken(state) {
    return { draft: [...state.draft, "0"], target: [...state.target, "0"] };
  }

  function withoutToken(state, masses) {
    return {
      draft: shortened(state.draft, masses.draft),
      target: shortened(state.target, masses.target),
    };
  }

  explorer.state = { MOST_DRAFTS, MOST_TOKENS, moved, rounded, store, withToken, withoutToken };
})();
