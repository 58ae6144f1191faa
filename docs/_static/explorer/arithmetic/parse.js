/**
 * @file What a person pastes, read as numbers; and the check that they are a distribution.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** Most numbers that are read: more than any vocabulary has. */
  const MOST_VALUES = 1000000;
  /** Longest piece of a text that an error repeats. */
  const MOST_SHOWN = 24;

  const DECIMAL = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;
  const NUMBER = new RegExp(`^(${DECIMAL})(%)?$`);
  const FRACTION = new RegExp(`^(${DECIMAL})/(${DECIMAL})$`);
  const OPENING = { "]": "[", ")": "(", "}": "{" };

  /**
   * Read numbers: separated by commas, semicolons, spaces or lines, perhaps inside brackets.
   *
   * Each is a decimal number, such as `0.25`, `.25` or `2.5e-1`, a percentage, `25%`, or a
   * fraction, `1/4`; quotation marks around it are dropped. So is what Python prints around lists
   * and numbers: `array([…])`, `tensor([…])`, `np.float64(0.25)`, `Fraction(1, 4)`.
   *
   * @param {string} text
   * A comma between two whole numbers without a space, `0,5`, may be a decimal comma: it is refused.
   *
   * @returns {{values: number[]}|{error: string, negative: ?boolean}} Values are at least 0 and
   *   finite, at least one; an error names the place, what stands there, and what to do.
   */
  function parse(text) {
    const given = String(text);
    const separated = plain(given);
    const pieces = split(separated);
    const wrong = wrongBrackets(given) || wrongSeparators(separated) || decimalComma(separated, pieces);
    if (wrong) return { error: wrong };
    const count = pieces.length;
    if (count === 0) return { error: "there is no number: write some, such as 0.5, 0.3, 0.2" };
    if (count > MOST_VALUES) {
      return { error: `there are ${count} numbers, more than ${MOST_VALUES}: leave some out` };
    }
    const values = [];
    for (const [i, piece] of pieces.entries()) {
      const found = read(piece);
      if (found.error) return { ...found, error: `number ${i + 1} is ${shown(piece)}${found.error}` };
      values.push(found.value);
    }
    return { values };
  }

  /** Return a text without what Python writes around numbers and lists. */
  function plain(text) {
    return text
      .replace(/[\u2212\u2013]/g, "-")
      .replace(/Fraction\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\)/g, "$1/$2")
      .replace(/\b(?:np\.)?float(?:16|32|64)?\(\s*([^()\s]*)\s*\)/g, "$1")
      .replace(/,\s*dtype\s*=\s*[\w.]+/g, "")
      .replace(/\b(?:np\.)?(?:array|tensor|asarray)\s*(?=\()/g, "")
      .replace(/["'`\u2018\u2019\u201c\u201d]/g, "")
      .replace(/\s+/g, " ")
      .replace(/ ?\/ ?/g, "/")
      .replace(/ %/g, "%")
      .trim();
  }

  /** Return what is wrong with the brackets of a text, or null. */
  function wrongBrackets(text) {
    const open = [];
    for (const [place, sign] of [...text].entries()) {
      if ("[({".includes(sign)) open.push(sign);
      if (sign in OPENING && open.pop() !== OPENING[sign]) {
        return `${sign} at character ${place + 1} closes no bracket: delete it`;
      }
    }
    return open.length ? `${open[0]} is never closed: write the whole list` : null;
  }

  /** Return what is wrong with what separates numbers, or null. */
  function wrongSeparators(text) {
    if (text.includes(";") && text.includes(",")) {
      return "both , and ; separate numbers: write 0.5 for 0,5, and one of the two between";
    }
    if (/[\])}] ?[,;]? ?[[({]/.test(text)) {
      return "there are several lists: paste one of them, the numbers of one distribution";
    }
    return null;
  }

  /**
   * Return what is wrong with a comma that may be a decimal one, or null.
   *
   * So may the comma of `0,5`, and those of `0,5,0,5`; none in a list with brackets, and none where
   * whole numbers are a distribution, as `0,1` is.
   */
  function decimalComma(text, pieces) {
    if (/[[({]/.test(text)) return null;
    const whole = (piece) => /^\d+$/.test(piece);
    if (pieces.every(whole) && pieces.reduce((sum, piece) => sum + Number(piece), 0) === 1) return null;
    for (const run of text.split(/[ ;]+|,(?= |$)/)) {
      const parts = run.replace(/^[+-]/, "").replace(/%$/, "").split(",");
      const paired = parts.length === 2 || parts.every((part, i) => i % 2 === 1 || part === "0");
      if (parts.length % 2 === 0 && parts.every(whole) && paired) {
        const [units, digits] = parts;
        return `${shown(`${units},${digits}`)} may be one number or two: write ${shown(`${units}.${digits}`)} ` +
          "for one, and a space after the comma for two";
      }
    }
    return null;
  }

  /** Return the pieces between separators. */
  function split(text) {
    const bare = text.replace(/[[\](){}]/g, " ").replace(/ +/g, " ").trim();
    const pieces = bare.split(/ ?[,;] ?| /);
    // A list may end with a comma.
    if (pieces[pieces.length - 1] === "") pieces.pop();
    return pieces;
  }

  /** Return the value of one number, or how the sentence about it goes on. */
  function read(piece) {
    const error = (words) => ({ error: words });
    if (piece === "") return error(": there is nothing between two commas; write 0 or delete one");
    if (/^[+-]?(nan|inf|infinity)$/i.test(piece)) {
      return error(", which is no probability: look at where it was computed");
    }
    const number = NUMBER.exec(piece);
    const fraction = FRACTION.exec(piece);
    if (!number && !fraction) {
      return error(", not a number: write such as 0.25, 1/4, 25% or 2.5e-1");
    }
    if (fraction && Number(fraction[2]) === 0) {
      return error(", which divides by 0: write 0 or a number");
    }
    const value = number
      ? Number(number[1]) / (number[2] ? 100 : 1)
      : Number(fraction[1]) / Number(fraction[2]);
    if (value < 0) {
      const words = ", which is negative: no probability is below 0 (take the softmax of logits)";
      return { ...error(words), negative: true };
    }
    if (!Number.isFinite(value)) return error(", beyond the floats: scale all numbers down");
    return { value: value + 0 };
  }

  function shown(piece) {
    const signs = [...piece];
    if (signs.length === 0) return "empty";
    return signs.length > MOST_SHOWN ? `${signs.slice(0, MOST_SHOWN).join("")}…` : piece;
  }

  /**
   * Check that values are a distribution: sum 1 within 1e-9, scaled to 1 then as in Python.
   *
   * @param {number[]} values - At least 0 and finite, at least one; shape (n,).
   * @param {string} [name] - What the error calls them.
   * @returns {{values: number[]}|{error: string, sum: number, normalized: ?number[]}} With an
   *   error, what normalizing gives, or null where all are 0; the caller decides.
   */
  function asDistribution(values, name = "distribution") {
    const total = arithmetic.sum(values);
    if (Math.abs(total - 1) <= arithmetic.SUM_TOLERANCE) {
      return { values: arithmetic.normalized(values) };
    }
    if (!(total > 0)) {
      const error = `${name} is zero everywhere: there is nothing to normalize`;
      return { error, sum: total, normalized: null };
    }
    const error = `${name} sums to ${total}, not 1: change a number, or normalize`;
    return { error, sum: total, normalized: arithmetic.normalized(values) };
  }

  Object.assign(arithmetic, { MOST_VALUES, parse, asDistribution });
})(globalThis);
