// Numbers and sets as words.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const SHOWN = 12; // tokens of a set that are listed

  const ROUNDING = 1e-12; // by which a probability may be off in floats
  const MOST_DIGITS = 12;

  /** Return how many digits a value needs, at least so many, not to be rounded to a whole that it is not. */
  function digitsOf(value, whole, digits) {
    const off = Math.abs(whole - value);
    if (off === 0 || off <= ROUNDING * whole) return digits;
    let needed = digits;
    while (needed < MOST_DIGITS && Number(value.toFixed(needed)) === whole) needed += 1;
    return needed;
  }

  /** Return a probability with few digits: 0.85, 0.0333; only what is 1 is shown as 1. */
  function number(value, digits = 4) {
    if (value !== 0 && Math.abs(value) < 10 ** -digits / 2) return value.toExponential(1);
    return String(Number(value.toFixed(digitsOf(value, 1, digits))));
  }

  /** Return a probability as per cent: 85.00 %; only what is 0 or 1 is shown as 0.00 % or 100.00 %. */
  function percent(value, digits = 2) {
    const hundred = 100 * value;
    const [low, high] = [0, 100].map((whole) => digitsOf(hundred, whole, digits));
    const shown = hundred.toFixed(Math.max(low, high));
    return `${hundred !== 0 && Number(shown) === 0 ? hundred.toExponential(1) : shown} %`;
  }

  /** Return how far below something is, in points: only what is 0 is shown as 0.00 points. */
  function points(gap) {
    const hundred = 100 * Math.max(0, gap);
    const shown = hundred === 0 || hundred >= 0.005 ? hundred.toFixed(2) : String(Number(hundred.toPrecision(2)));
    return `${shown} points`;
  }

  /** Return the digits with which numbers show that they differ by a gap: two of the gap itself. */
  function digitsFor(gap, digits) {
    return gap > 0 ? Math.min(MOST_DIGITS, Math.max(digits, 1 - Math.floor(Math.log10(gap)))) : digits;
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

  explorer.words = { count, digitsFor, number, percent, points, set };
})();
