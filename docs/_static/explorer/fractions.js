// Exact numbers: texts such as 1/3 or 0.25 as fractions of BigInts, to keep what was typed exact.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const NUMBER = /^\+?(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?(?:\/(\d+))?$/i;
  const MOST = 60; // of an exponent or of digits: beyond that floats will do

  function divisor(a, b) {
    while (b) [a, b] = [b, a % b];
    return a;
  }

  function reduced(above, below) {
    const common = divisor(above, below) || 1n;
    return [above / common, below / common];
  }

  /** Return [numerator, denominator] of a text, or null if it is no short number. */
  function fraction(text) {
    const found = NUMBER.exec(text.trim().replace(/^(\+?)\./, "$10."));
    if (!found || text.length > MOST) return null;
    const [, whole, decimals = "", power = "0", below = "1"] = found;
    const shift = Number(power) - decimals.length;
    if (Math.abs(shift) > MOST || BigInt(below) === 0n) return null;
    const scale = 10n ** BigInt(Math.abs(shift));
    const above = BigInt(whole + decimals);
    const under = BigInt(below);
    return shift < 0 ? reduced(above, under * scale) : reduced(above * scale, under);
  }

  function add([a, b], [c, d]) {
    return reduced(a * d + c * b, b * d);
  }

  /** Return the exact sum of texts as a fraction; null if a text has none or they are many. */
  function sum(texts) {
    if (texts.length > 64) return null;
    const found = texts.map(fraction);
    return found.includes(null) ? null : found.reduce(add, [0n, 1n]);
  }

  function written([above, below]) {
    return below === 1n ? String(above) : `${above}/${below}`;
  }

  /** Say whether texts sum to 1 exactly. */
  function exact(texts) {
    const total = sum(texts);
    return total !== null && total[0] === total[1];
  }

  /** Return texts scaled to sum to 1 exactly; null if that cannot be done exactly. */
  function scaled(texts) {
    const total = sum(texts);
    if (total === null || total[0] === 0n) return null;
    return texts.map((text) => {
      const [above, below] = fraction(text);
      return written(reduced(above * total[1], below * total[0]));
    });
  }

  explorer.fractions = { exact, scaled };
})();
