// From the state to everything that is shown.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { arithmetic } = globalThis.otspec;
  const KS = Array.from({ length: explorer.state.MOST_DRAFTS }, (_, i) => i + 1);
  const TRIANGLES = [1, 2, 3, 4];
  const SELECTED = ["iid", "without-replacement"]; // laws that pooled selection is for

  /** Return a rule's acceptance; of pooled selection it is the optimum, which is known by then. */
  function accepted(rule, draft, target, k, optimum) {
    return rule.name.startsWith("pooled") ? optimum : arithmetic.acceptance(rule.name, draft, target, k);
  }

  function rules(law, draft, target, k, optimum) {
    return arithmetic.RULES.filter((rule) => rule.law === law).map((rule) => {
      const why = arithmetic.ruleRefusal(rule.name, draft, k);
      return { ...rule, why, acceptance: why ? null : accepted(rule, draft, target, k, optimum) };
    });
  }

  /** Return k → the corners of the targets of which everything can be accepted, for three tokens. */
  function regions(law, draft, k) {
    if (draft.length !== 3) return null;
    const some = new Set([...TRIANGLES, k].filter((each) => arithmetic.refusal(law, draft, each) === null));
    return Object.fromEntries([...some].map((each) => [each, arithmetic.everythingAccepted(law, draft, each)]));
  }

  function selection(law, draft, target, k) {
    return SELECTED.includes(law) ? arithmetic.selection(law, draft, target, k) : null;
  }

  /** Return the answer for a state; `problem` says in words why there is none. */
  function compute(state) {
    const { law, k, uniform } = state;
    const draft = explorer.pair.masses(state.draft);
    const target = explorer.pair.masses(state.target);
    const base = { law, k, uniform, draft, target, cut: [], problem: null };
    const why = arithmetic.refusal(law, draft, k);
    if (why) return { ...base, problem: why };
    const best = arithmetic.optimum(law, draft, target, k);
    const { acceptance, cut, inside } = best;
    return { ...base, acceptance, cut, inside, targetMass: best.target, rules: rules(law, draft, target, k, acceptance) };
  }

  /** Add what the charts need to the answer, with a breath after each piece: for many tokens it takes long. */
  function* complete(results) {
    const { law, k, draft, target } = results;
    yield; // so that the answer is seen
    results.selection = selection(law, draft, target, k);
    results.regions = regions(law, draft, k);
    yield;
    // Of distinct drafts one pass has all k.
    results.optima = [];
    for (const ks of law === "without-replacement" ? [KS] : KS.map((each) => [each])) {
      results.optima.push(...arithmetic.optima(law, draft, target, ks));
      yield;
    }
    results.lines = {};
    for (const rule of results.rules) {
      const line = results.lines[rule.name] = [];
      for (const each of KS) {
        const why = arithmetic.ruleRefusal(rule.name, draft, each);
        line.push(why ? null : accepted(rule, draft, target, each, results.optima[each - 1]));
        yield;
      }
    }
  }

  explorer.results = { complete, compute };
})();
