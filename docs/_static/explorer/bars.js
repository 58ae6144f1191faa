// Bars of draft and target that are dragged, or moved by keys.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { make, rect, text, scale, ticks, levels, widthOf } = explorer.svg;
  const HEIGHT = 260;
  const TOP = 26;
  const BASE = HEIGHT - 30;
  const LEFT = 40;
  const STEP = 0.005; // of a mass that is dragged
  const KEYS = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1 };
  const NAMES = { draft: "Draft", target: "Target" };

  /** Return the top of the axis for masses: the next of 0.25, 0.5, 1. */
  function topOf(most) {
    return [0.25, 0.5].find((top) => most * 1.08 <= top) ?? 1;
  }

  /** Make the bars in a container; `move(side, token, value, masses)` is called as they move. */
  function editor(container, move) {
    let shown = null; // what was drawn last: results and geometry
    let held = null; // the bar that is being dragged

    function geometry(results) {
      const n = results.draft.length;
      const width = widthOf(container);
      const most = Math.max(...results.draft, ...results.target);
      const top = held ? Math.max(held.top, topOf(most)) : topOf(most);
      const group = (width - LEFT - 4) / n;
      const bar = Math.min(34, group * 0.38);
      return { n, width, top, group, bar, y: scale(0, top, BASE, TOP) };
    }

    function left(side, token, shape) {
      const middle = LEFT + shape.group * (token + 0.5);
      return side === "draft" ? middle - shape.bar - 1 : middle + 1;
    }

    function valueAt(event) {
      const box = container.firstChild.getBoundingClientRect();
      const height = ((event.clientY - box.top) / box.height) * HEIGHT;
      // By the axis as it was when the bar was taken: it may grow under way.
      const value = ((BASE - height) / (BASE - TOP)) * (held ?? shown.shape).top;
      return Math.round(Math.min(1, Math.max(0, value)) / STEP) * STEP;
    }

    function grab(event, side, token) {
      event.preventDefault();
      const slider = event.currentTarget;
      slider.focus({ preventScroll: true }); // the page would move away under the finger
      slider.setPointerCapture(event.pointerId);
      held = { side, token, masses: shown.results[side], top: shown.shape.top };
      move(side, token, valueAt(event), held.masses);
    }

    function drag(event) {
      if (held) move(held.side, held.token, valueAt(event), held.masses);
    }

    function release() {
      held = null;
      update(shown.results);
    }

    function press(event, side, token) {
      const masses = shown.results[side];
      const ends = { Home: 0, End: 1 };
      if (event.key in KEYS) {
        const step = event.shiftKey ? KEYS[event.key] / 10 : KEYS[event.key];
        move(side, token, Math.min(1, Math.max(0, masses[token] + step)), masses);
      } else if (event.key in ends) move(side, token, ends[event.key], masses);
      else return;
      event.preventDefault();
    }

    function slider(side, token) {
      const bar = make("g", { class: `ot-bar ot-bar-${side}`, role: "slider", tabindex: 0,
        "aria-label": `${NAMES[side]} mass of token ${token}`, "aria-valuemin": 0, "aria-valuemax": 1,
        "aria-orientation": "vertical", "data-side": side, "data-token": token },
        make("title"), rect(0, 0, 0, 0, { class: "ot-bar-hit" }),
        rect(0, 0, 0, 0, { class: `ot-bar-body ot-fill-${side}` }),
        rect(0, 0, 0, 0, { class: "ot-bar-grip" }),
        text(0, 0, "", { class: "ot-bar-value", "text-anchor": "middle" }));
      explorer.svg.holdPage(bar, () => true);
      bar.addEventListener("pointerdown", (event) => grab(event, side, token));
      bar.addEventListener("pointermove", drag);
      bar.addEventListener("pointerup", release);
      bar.addEventListener("pointercancel", release);
      bar.addEventListener("keydown", (event) => press(event, side, token));
      return bar;
    }

    function place(element, attributes) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }

    function draw(bar, shape, results) {
      const { side } = bar.dataset;
      const token = Number(bar.dataset.token);
      const mass = results[side][token];
      const x = left(side, token, shape);
      const y = shape.y(mass);
      const words = explorer.words.percent(mass);
      place(bar, { "aria-valuenow": mass, "aria-valuetext": words });
      const [title, hit, body, grip, value] = bar.children;
      title.textContent = `${NAMES[side]} mass of token ${token}: ${words}. Drag it, or use the arrow keys.`;
      place(hit, { x: x - 3, y: y - 16, width: shape.bar + 6, height: BASE - y + 26 });
      place(body, { x, y, width: shape.bar, height: BASE - y });
      place(grip, { x: x - 1, y: y - 2.5, width: shape.bar + 2, height: 5, rx: 2.5 });
      place(value, { x: x + shape.bar / 2, y: y - 7 });
      value.textContent = shape.bar >= 25 ? explorer.words.number(mass, 3) : "";
    }

    function background(shape, cut) {
      const parts = levels(ticks(0, shape.top), shape.y, LEFT, shape.width);
      for (let token = 0; token < shape.n; token += 1) {
        const x = LEFT + shape.group * token;
        const inside = cut.has(token);
        if (inside) {
          parts.push(rect(x + 1, TOP - 22, shape.group - 2, BASE - TOP + 48, { class: "ot-in-cut", rx: 4 }));
          parts.push(text(x + shape.group / 2, TOP - 8, "A", { class: "ot-cut-name", "text-anchor": "middle" }));
        }
        const name = { class: inside ? "ot-token ot-token-cut" : "ot-token", "text-anchor": "middle" };
        parts.push(text(x + shape.group / 2, BASE + 18, String(token), name));
      }
      return make("g", { class: "ot-bars-back", "aria-hidden": "true" }, ...parts);
    }

    function built(shape) {
      const svg = make("svg", { role: "group", "aria-label": "Masses of draft and target, token by token" });
      svg.append(make("g"));
      for (let token = 0; token < shape.n; token += 1) svg.append(slider("draft", token), slider("target", token));
      container.replaceChildren(svg);
      return svg;
    }

    function update(results) {
      const shape = geometry(results);
      const svg = shown?.shape.n === shape.n && container.firstChild?.isConnected && shown.svg === container.firstChild
        ? shown.svg : built(shape);
      place(svg, { viewBox: `0 0 ${shape.width} ${HEIGHT}`, width: shape.width, height: HEIGHT });
      svg.firstChild.replaceWith(background(shape, new Set(results.cut)));
      for (const bar of svg.querySelectorAll(".ot-bar")) draw(bar, shape, results);
      shown = { svg, shape, results };
    }

    return { update };
  }

  explorer.bars = { editor };
})();
