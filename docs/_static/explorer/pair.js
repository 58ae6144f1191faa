// What is pasted or linked as draft and target: texts that stay exact, or what is wrong, in words.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { arithmetic } = globalThis.otspec;
  const NAMES = { draft: "The draft", target: "The target" };

  /** Return the numbers as they were written where they are written plainly, 1/3 as 1/3. */
  function asWritten(text, values) {
    const pieces = text.replace(/[[\](){}"']/g, " ").trim().split(/[\s,;]+/).filter(Boolean);
    const plain = pieces.length === values.length && pieces.every((piece, i) => {
      const [above, below = "1"] = piece.split("/");
      return /^[\d./e+-]+$/i.test(piece) && Number(above) / Number(below) === values[i];
    });
    return plain ? pieces : values.map(String);
  }

  function problem(side, words, offer = null) {
    return { problem: { side, words, offer } };
  }

  /** Read one side: {texts, values} of masses that may have any sum, or {problem}. */
  function side(name, text) {
    const found = arithmetic.parse(text);
    if (found.error) return problem(name, `${NAMES[name]}: ${found.error}.`, found.negative && logits(text) ? "softmax" : null);
    return { texts: asWritten(text, found.values), values: found.values };
  }

  /** Return the numbers of a list of which some are negative, as logits are; null if it is none. */
  function logits(text) {
    const pieces = text.replace(/[[\]()]/g, " ").trim().split(/[\s,;]+/).filter(Boolean);
    const values = pieces.map(Number);
    return values.length && values.every(Number.isFinite) && values.some((value) => value < 0) ? values : null;
  }

  function unequal(draft, target) {
    const { count } = explorer.words;
    return `The draft has ${count(draft, "number")} and the target ${target.toLocaleString("en")}: ` +
      "both need one for each token, so paste the other one, too.";
  }

  /** Read both sides: {draft, target} as texts, or {problem: {side, words, offer}}. */
  function read(draftText, targetText) {
    const sides = { draft: side("draft", draftText), target: side("target", targetText) };
    for (const name of ["draft", "target"]) if (sides[name].problem) return sides[name];
    const [n, m] = [sides.draft.values.length, sides.target.values.length];
    if (n !== m) return problem(null, unequal(n, m));
    for (const name of ["draft", "target"]) {
      const found = arithmetic.asDistribution(sides[name].values, NAMES[name]);
      if (found.error) return problem(name, `${found.error}.`, found.normalized ? "normalize" : null);
    }
    return { draft: sides.draft.texts, target: sides.target.texts };
  }

  /** Return a text scaled to sum to 1: exactly where its numbers are few and exact. */
  function normalized(text) {
    const { values } = arithmetic.parse(text);
    const exact = explorer.fractions.scaled(asWritten(text, values));
    return (exact ?? arithmetic.normalized(values).map(String)).join(", ");
  }

  /** Return the softmax of a text of logits. */
  function softmax(text) {
    const values = logits(text);
    const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
    return arithmetic.normalized(values.map((value) => Math.exp(value - most))).map(String).join(", ");
  }

  /** Return the masses of texts that were read before. */
  function masses(texts) {
    return arithmetic.asDistribution(arithmetic.parse(texts.join(", ")).values).values;
  }

  explorer.pair = { masses, normalized, read, softmax };
})();
