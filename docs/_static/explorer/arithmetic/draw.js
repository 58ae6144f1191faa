/**
 * @file One draw from uniform numbers: pooled selection (Pooled, prop. 4), and shared noise.
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** Return the token at which the cumulative masses pass a uniform part of their sum. */
  function pick(masses, uniform) {
    const total = masses.reduce((sum, mass) => sum + mass, 0);
    let left = uniform * total;
    let last = -1;
    for (let token = 0; token < masses.length; token += 1) {
      if (masses[token] > 0) {
        last = token;
        if (left < masses[token]) return token;
        left -= masses[token];
      }
    }
    return last;
  }

  /** Draw i.i.d. drafts, or without replacement. */
  function draftsOf(law, masses, uniforms) {
    const left = [...masses];
    return uniforms.map((uniform) => {
      const token = pick(left, uniform);
      if (law === "without-replacement") left[token] = 0;
      return token;
    });
  }

  /**
   * @typedef {object} Uniforms
   * @property {number[]} drafts - One for each draft.
   * @property {number} w - For the barriers.
   * @property {number} member - For the draft of the group.
   * @property {number} keep - For keeping or replacing.
   * @property {number} correction - For the token that replaces it.
   */

  /**
   * Select one of the distinct drafts of a group (Beyond, prop. 3): with probability λ in proportion
   * to the draft distribution, otherwise the first drawn.
   */
  function chosenOfDistinct(found, drafts, candidates, group, uniform) {
    const massOf = (places) => places.reduce((sum, i) => sum + found.tokens[drafts[i]].draft, 0);
    const [below, above] = [found.knots[group.from].mass, 1 - found.knots[group.to].mass];
    const left = 1 - massOf(drafts.map((_, i) => i));
    const proportion = above > 0 && left > 0
      ? Math.min(1, (above / left) * (massOf(candidates) / (found.knots[group.to].mass - below))) : 0;
    if (uniform >= proportion) return candidates[0];
    return candidates[pick(candidates.map((i) => found.tokens[drafts[i]].draft), uniform / proportion)];
  }

  /**
   * Follow pooled selection once.
   *
   * @param {Selection} found - What `selection` returns.
   * @param {Uniforms} uniforms
   * @returns {object} The drafts, the groups, the index of the taken one, the places of its drafts,
   *   the place of the selected one, its chance to be kept, whether it is, and the output.
   */
  function pooledDraw(found, uniforms) {
    const masses = found.tokens.map((token) => token.draft);
    const drafts = draftsOf(found.law, masses, uniforms.drafts);
    const groups = arithmetic.groupsAt(found, uniforms.w);
    const groupOf = (token) => groups.findIndex((group) => group.tokens.includes(token));
    const taken = Math.max(...drafts.map(groupOf));
    const candidates = drafts.map((_, i) => i).filter((i) => groupOf(drafts[i]) === taken);
    const selected = found.law === "iid" ? candidates[Math.floor(uniforms.member * candidates.length)]
      : chosenOfDistinct(found, drafts, candidates, groups[taken], uniforms.member);
    const { chance } = found.tokens[drafts[selected]];
    const kept = uniforms.keep < chance;
    const output = kept ? drafts[selected]
      : pick(found.tokens.map((token) => token.residual), uniforms.correction);
    return { drafts, groups, taken, candidates, selected, chance, kept, output };
  }

  /**
   * Let draft and target race with the same exponential noise (Theory, 33).
   *
   * @param {number[]} draft
   * @param {number[]} target
   * @param {number} k
   * @param {number[]} uniforms - One for each token.
   * @returns {object} The noise, the arrivals of both, the k first of the draft's, and the output.
   */
  function sharedDraw(draft, target, k, uniforms) {
    const noise = uniforms.map((uniform) => -Math.log1p(-uniform));
    const arrivals = (masses) => masses.map((mass, i) => (mass > 0 ? noise[i] / mass : Infinity));
    const ofDraft = arrivals(draft);
    const ofTarget = arrivals(target);
    const first = (times) => times.map((_, i) => i).filter((i) => times[i] < Infinity).sort((i, j) => times[i] - times[j]);
    const drafts = first(ofDraft).slice(0, k);
    const [output] = first(ofTarget);
    return { noise, ofDraft, ofTarget, drafts, output, kept: drafts.includes(output) };
  }

  Object.assign(arithmetic, { pooledDraw, sharedDraw });
})(globalThis);
