// The state as the part of an address behind #, and back.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const LONGEST = 8000; // characters: mail and chat programs cut longer addresses
  const KEYS = { draft: "d", target: "t", k: "k", law: "law", uniform: "w" };

  /** Return the state as #d=…&t=…&k=…&law=…&w=…; null if that is too long for a link. */
  function written(state) {
    const parts = {
      draft: state.draft.join(","),
      target: state.target.join(","),
      k: state.k,
      law: state.law,
      uniform: state.uniform,
    };
    const pairs = Object.entries(parts).map(([name, value]) => `${KEYS[name]}=${value}`);
    const hash = "#" + pairs.join("&");
    return hash.length <= LONGEST ? hash : null;
  }

  function wholeNumber(text, most) {
    const value = Number(text);
    return Number.isInteger(value) && value >= 1 && value <= most ? value : null;
  }

  function fieldsOf(hash) {
    return new URLSearchParams(hash.replace(/^#/, "").replaceAll("+", "%2B"));
  }

  /** Return what in a hash of ours could not be read, in words; null if all could, or it is none of ours. */
  function damage(hash, laws) {
    const fields = fieldsOf(hash);
    if (!fields.has("d") && !fields.has("t")) return null;
    const pair = explorer.pair.read(fields.get("d") ?? "", fields.get("t") ?? "");
    if (pair.problem) return `${pair.problem.words} What is shown is not what the link was made for.`;
    const most = explorer.state.MOST_DRAFTS;
    if (fields.has("k") && wholeNumber(fields.get("k"), most) === null) {
      return `its k is no whole number from 1 to ${most}, so that k is as before.`;
    }
    return fields.has("law") && !laws.includes(fields.get("law")) ? "it has an unknown draft law, so that drafts are as before." : null;
  }

  /** Return the changes of the state that a hash asks for; null if it is none of ours or broken. */
  function read(hash, laws) {
    const fields = fieldsOf(hash);
    if (!fields.has("d") || !fields.has("t")) return null;
    const pair = explorer.pair.read(fields.get("d"), fields.get("t"));
    if (pair.problem) return null;
    const change = { draft: pair.draft, target: pair.target };
    const k = wholeNumber(fields.get("k"), explorer.state.MOST_DRAFTS);
    if (k !== null) change.k = k;
    if (laws.includes(fields.get("law"))) change.law = fields.get("law");
    const uniform = Number(fields.get("w") ?? NaN);
    if (uniform >= 0 && uniform < 1) change.uniform = uniform;
    return change;
  }

  explorer.link = { damage, read, written };
})();
