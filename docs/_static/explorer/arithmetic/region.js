/**
 * @file The targets that can be served in full: those whose optimum is 1 (Theory, 1 and 3).
 */
(function (root) {
  "use strict";

  const otspec = (root.otspec ??= {});
  const arithmetic = (otspec.arithmetic ??= {});

  /** By how much a target may miss a bound: sums of a few roundings, and what pictures round. */
  const SLACK = 1e-12;
  /** The orders of three tokens, each with a neighbor exchanged for the next: once around. */
  const AROUND = [
    [0, 1, 2],
    [1, 0, 2],
    [1, 2, 0],
    [2, 1, 0],
    [2, 0, 1],
    [0, 2, 1],
  ];

  /**
   * @typedef {object} Region
   * @property {number[][]} vertices - Of the polygon in order, each a target of shape (3,); one
   *   vertex if it is a point, two if it is a segment.
   * @property {{tokens: number[], least: number}[]} bounds - For each set A of one or two tokens
   *   target(A) ≥ least = P(all drafts inside A).
   * @property {(target: number[]) => boolean} isInside - Whether a target meets all bounds, within
   *   1e-12.
   */

  /**
   * Return the targets over three tokens of which a lossless rule accepts everything.
   *
   * The optimum is 1 if and only if target(A) ≥ P(all drafts inside A) for all A. The vertices are
   * the laws of the priority orders, which select the draft that comes first in an order of the
   * tokens: P(all drafts inside A) is supermodular (Cones, 6; Python's `selection_polytope`).
   *
   * @param {string} law
   * @param {number[]} draft - Shape (3,), sum 1.
   * @param {number} k
   * @returns {Region}
   * @throws {RangeError} Not three tokens, or no k drafts of the law: see `refusal`.
   */
  function everythingAccepted(law, draft, k) {
    if (draft.length !== 3) {
      throw new RangeError(`the draft has ${draft.length} tokens: the region is drawn for three`);
    }
    const least = (tokens) => arithmetic.inside(law, draft, k, tokens);
    const sets = [[0], [1], [2], [0, 1], [0, 2], [1, 2]];
    const bounds = sets.map((tokens) => ({ tokens, least: least(tokens) }));
    const isInside = (target) =>
      bounds.every(
        (bound) => arithmetic.sum(bound.tokens.map((i) => target[i])) >= bound.least - SLACK,
      );
    return { vertices: distinct(AROUND.map((order) => vertexOf(order, least))), bounds, isInside };
  }

  /** Return the law of the selected draft if it is the last one that comes in an order. */
  function vertexOf([first, second, third], least) {
    const vertex = [0, 0, 0];
    const one = least([first]);
    const two = Math.max(one, least([first, second]));
    vertex[first] = one;
    vertex[second] = two - one;
    vertex[third] = 1 - two;
    return vertex;
  }

  function distinct(vertices) {
    const same = (a, b) => a.every((value, i) => Math.abs(value - b[i]) <= SLACK);
    return vertices.filter((each, i) => !vertices.slice(0, i).some((other) => same(each, other)));
  }

  Object.assign(arithmetic, { everythingAccepted });
})(globalThis);
