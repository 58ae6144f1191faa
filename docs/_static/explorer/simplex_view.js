// Three tokens: the triangle of targets, and those of which everything can be accepted.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { make, marker, picture, text, titled, widthOf } = explorer.svg;
  const { dom, words } = explorer;
  const MARGIN = 34;
  const WIDEST = 460;
  const HEIGHT_OF = Math.sqrt(3) / 2;
  const REACH = 28; // pixels around a point that take hold of it

  function geometry(width) {
    const side = Math.min(width, WIDEST) - 2 * MARGIN;
    return { side, left: (width - side) / 2, base: MARGIN + side * HEIGHT_OF, height: side * HEIGHT_OF + 2 * MARGIN };
  }

  /** Return where masses lie: token 0 to the left, 1 to the right, 2 above. */
  function place(masses, shape) {
    return [
      shape.left + shape.side * (masses[1] + masses[2] / 2),
      shape.base - shape.side * HEIGHT_OF * masses[2],
    ];
  }

  /** Return the masses at a place, the nearest in the triangle. */
  function masses(x, y, shape) {
    const above = (shape.base - y) / (shape.side * HEIGHT_OF);
    const right = (x - shape.left) / shape.side - above / 2;
    const found = [1 - above - right, right, above].map((mass) => Math.max(0, mass));
    const total = found.reduce((sum, mass) => sum + mass, 0);
    return found.map((mass) => mass / total);
  }

  function polygon(corners, shape, attributes) {
    const points = corners.map((corner) => place(corner, shape).map((at) => at.toFixed(2)).join(",")).join(" ");
    return make("polygon", { points, ...attributes });
  }

  function region(corners, k, now, shape) {
    if (corners.length < 3) return [];
    const words_ = `targets of which everything can be accepted with k = ${k}`;
    return [titled(polygon(corners, shape, { class: now ? "ot-region" : "ot-region-other" }), words_)];
  }

  function regions(results, shape) {
    const others = [2, 3, 4].filter((k) => k !== results.k && results.regions[k]);
    const now = results.regions[results.k]?.vertices;
    return [...(now ? region(now, results.k, true, shape) : []),
      ...others.flatMap((k) => region(results.regions[k].vertices, k, false, shape))];
  }

  function corner(token, dx, dy, shape) {
    const unit = [0, 1, 2].map((i) => Number(i === token));
    const [x, y] = place(unit, shape);
    return text(x + dx, y + dy, `all on ${token}`, { class: "ot-tick", "text-anchor": "middle" });
  }

  function point(side, results, shape) {
    const [x, y] = place(results[side], shape);
    const kind = side === "draft" ? "s" : "o";
    const says = `${side}: ${results[side].map((mass) => words.number(mass)).join(", ")}; drag it`;
    return titled(make("g", { class: "ot-simplex-point", "data-side": side },
      marker("o", x, y, 15, { class: "ot-simplex-reach" }), marker(kind, x, y, 7, { class: `ot-fill-${side} ot-simplex-mark` }),
      text(x, y - 13, side, { class: "ot-point-name", "text-anchor": "middle" })), says);
  }

  function drawn(results, shape) {
    const whole = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    return [
      polygon(whole, shape, { class: "ot-triangle" }),
      ...regions(results, shape),
      corner(0, 0, 20, shape), corner(1, 0, 20, shape), corner(2, 0, -10, shape),
      point("draft", results, shape), point("target", results, shape),
    ];
  }

  /** Make the triangle draggable; `move(side, masses)` is called as a point moves. */
  function plane(container, move) {
    let shown = null;
    let held = null;

    function at(event) {
      const box = container.firstChild.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    function nearest(x, y) {
      const far = (side) => Math.hypot(...place(shown.results[side], shown.shape).map((value, i) => value - [x, y][i]));
      const side = far("target") <= far("draft") ? "target" : "draft";
      return far(side) <= REACH ? side : null;
    }

    explorer.svg.holdPage(container, () => held); // pointers are told before touches
    container.addEventListener("pointerdown", (event) => {
      held = shown && nearest(...at(event));
      if (!held) return;
      event.preventDefault();
      container.setPointerCapture(event.pointerId);
    });
    container.addEventListener("pointermove", (event) => {
      if (held) move(held, masses(...at(event), shown.shape));
    });
    for (const end of ["pointerup", "pointercancel"]) container.addEventListener(end, () => { held = null; });

    return {
      update(results) {
        dom.part("simplex").hidden = !results.regions;
        if (!results.regions) return;
        const shape = geometry(widthOf(container));
        shown = { shape, results };
        const label = "The triangle of targets over three tokens, with the region of which everything can be accepted. The bars above move the points by keys";
        picture(container, shape.height, label, () => drawn(results, shape));
      },
    };
  }

  explorer.simplexView = { masses, place, plane };
})();
