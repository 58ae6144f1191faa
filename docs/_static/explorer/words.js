// Numbers and sets as words.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const SHOWN = 12; // tokens of a set that are listed

  /** Return a probability with at most so many digits: 0.85, 0.0333. */
  function number(value, digits = 4) {
    if (value !== 0 && Math.abs(value) < 10 ** -digits / 2) return value.toExponential(1);
    return String(Number(value.toFixed(digits)));
  }

  /** Return a probability as per cent: 85.00 %. */
  function percent(value, digits = 2) {
    return `${(100 * value).toFixed(digits)} %`;
  }

  /** Return how far below something is, in points. */
  function points(gap) {
    return `${(100 * Math.max(0, gap)).toFixed(2)} points`;
  }

  function count(value, singular) {
    return `${value.toLocaleString("en")} ${singular}${value === 1 ? "" : "s"}`;
  }

  /** Return a set of tokens: {0, 2}. */
  function set(tokens) {
    if (tokens.length <= SHOWN) return `{${tokens.join(", ")}}`;
    const rest = count(tokens.length - SHOWN, "more token");
    return `{${tokens.slice(0, SHOWN).join(", ")} and ${rest}}`;
  }

  explorer.words = { count, number, percent, points, set };
})();
