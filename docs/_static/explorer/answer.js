// The answer: the optimum, the set that proves it, and the sentences that say so.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { part } = explorer.dom;
  const { digitsFor, number, percent, points, set } = explorer.words;

  function drafts(results) {
    return results.k === 1 ? "the draft" : `one of the ${results.k} drafts`;
  }

  /** Return the first sentence: how much can be accepted at best. */
  function optimumSentence(results) {
    return `At best ${drafts(results)} is accepted with probability ${percent(results.acceptance)}.`;
  }

  /** Return why no rule is better. */
  function proof(results) {
    if (results.acceptance >= 1 - 1e-12) {
      return "Everything can be accepted: there is no set of tokens into which all drafts fall " +
        "more often than the target does.";
    }
    const { k, cut } = results;
    const [inside, target, lost] = shown(results, results.inside, results.targetMass, results.inside - results.targetMass);
    const fall = k === 1 ? "the draft falls" : `${k === 2 ? "both" : `all ${k}`} drafts fall`;
    const output = cut.length === 1 ? `is token ${cut[0]}` : "is in A";
    return `The set A = ${set(cut)} proves it. With probability ${inside} ${fall} into A, ` +
      `and then only an output in A is an accepted one; but a lossless output ${output} with ` +
      `probability ${target} only. So at least ${lost} is lost, by any rule.`;
  }

  /** Return numbers with as many digits as show what is lost. */
  function shown(results, ...values) {
    const digits = digitsFor(results.inside - results.targetMass, 6);
    return values.map((value) => number(value, digits));
  }

  /** Return the bound as a formula with its numbers: ≈ where rounding shows in the last digit. */
  function formula(results) {
    const [target, inside, acceptance] = shown(results, results.targetMass, results.inside, results.acceptance);
    const sign = Math.abs(Number(target) + 1 - Number(inside) - Number(acceptance)) < 1e-12 ? "=" : "≈";
    return `target(A) + 1 − P(all drafts in A) = ${target} + 1 − ${inside} ${sign} ${acceptance}`;
  }

  /** Return what the rules make of it: who attains the optimum, and the best that does not. */
  function rulesSentence(results) {
    const known = results.rules.filter((rule) => rule.acceptance !== null);
    const best = known.filter((rule) => results.acceptance - rule.acceptance <= 1e-9);
    const others = known.filter((rule) => results.acceptance - rule.acceptance > 1e-9);
    const parts = [];
    if (best.length) {
      const names = best.map((rule) => rule.title);
      parts.push(`${join(names)} ${names.length === 1 ? "attains" : "attain"} it`);
    }
    if (others.length) {
      const next = others.reduce((a, b) => (b.acceptance > a.acceptance ? b : a));
      const words = `${next.title} reaches ${percent(next.acceptance)}, ${points(results.acceptance - next.acceptance)} less`;
      parts.push(best.length ? `the best of the others here, ${words.replace(" reaches", ", reaches")}` : words);
    }
    if (!parts.length) return "";
    const sentence = parts.join("; ");
    return `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;
  }

  function join(names) {
    return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  }

  function show(results) {
    const big = part("optimum");
    big.textContent = percent(results.acceptance);
    big.dataset.value = results.acceptance;
    part("brief").textContent = percent(results.acceptance);
    part("optimum-words").textContent = `of the time ${drafts(results)} can be accepted, at best`;
    part("proof").textContent = proof(results);
    const bound = part("formula");
    bound.hidden = results.cut.length === 0;
    bound.textContent = formula(results);
    Object.assign(bound.dataset, { inside: results.inside, target: results.targetMass, cut: results.cut.join(",") });
    part("rules-words").textContent = rulesSentence(results);
  }

  /** Say the result to those who hear the page, once it rests. */
  function announce(results) {
    part("live").textContent = `${optimumSentence(results)} ${rulesSentence(results)}`;
  }

  explorer.answer = { announce, formula, optimumSentence, proof, rulesSentence, show };
})();
