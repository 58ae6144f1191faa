// From the state to everything that is shown.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { arithmetic } = globalThis.otspec;
  const KS = Array.from({ length: explorer.state.MOST_DRAFTS }, (_, i) => i + 1);
  const TRIANGLES = [1, 2, 3, 4];
  const SELECTED = ["iid", "without-replacement"]; // laws that pooled selection is for

  function lineOf(rule, draft, target) {
    return KS.map((k) => (arithmetic.ruleRefusal(rule.name, draft, k) === null
      ? arithmetic.acceptance(rule.name, draft, target, k) : null));
  }

  function rules(law, draft, target, k) {
    return arithmetic.RULES.filter((rule) => rule.law === law).map((rule) => {
      const why = arithmetic.ruleRefusal(rule.name, draft, k);
      return { ...rule, why, acceptance: why ? null : arithmetic.acceptance(rule.name, draft, target, k) };
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
    return { ...base, acceptance, cut, inside, targetMass: best.target, rules: rules(law, draft, target, k) };
  }

  /** Yield what the charts need beyond the answer, piece by piece: for many tokens it takes long. */
  function* pieces({ law, k, draft, target, rules: found }) {
    yield { selection: selection(law, draft, target, k), regions: regions(law, draft, k) };
    yield { optima: arithmetic.optima(law, draft, target, KS) };
    const lines = {};
    for (const rule of found) {
      lines[rule.name] = lineOf(rule, draft, target);
      yield { lines };
    }
  }

  explorer.results = { compute, pieces };
})();
