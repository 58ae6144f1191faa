// The page: one state, its results, and all that shows them.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { dom, presets, state: states } = explorer;
  const { arithmetic } = globalThis.otspec;
  const RESTS = 400; // milliseconds without a change before the address and the live sentence follow
  const SAME = ["draft", "target"];
  const NUMBERS = ["draft", "target", "law", "k"]; // that the results are of
  const AT_ONCE = 300; // tokens whose charts are computed within a tenth of a second

  const PICTURES = ["bars", "ranked", "k-chart", "simplex-chart", "selection-chart", "law-chart", "draw-chart"];

  function ofPreset({ draft, target, law, k }) {
    return { draft: draft.split(","), target: target.split(","), law, k };
  }

  function isPreset(state, preset) {
    const other = ofPreset(preset);
    return SAME.every((side) => state[side].join() === other[side].join()) &&
      state.k === other.k && state.law === other.law;
  }

  function fillChoices() {
    const examples = presets.map((preset, i) => dom.make("option", { value: String(i) }, `${preset.title} (${preset.source})`));
    dom.part("preset").replaceChildren(dom.make("option", { value: "" }, "your own numbers"), ...examples);
    const laws = arithmetic.LAWS.map((law) => dom.make("option", { value: law.name }, law.title));
    dom.part("law-choice").replaceChildren(...laws);
  }

  function showSource(index) {
    const preset = presets[index];
    const source = dom.part("source");
    if (!preset) return source.replaceChildren("Drag the bars, or paste numbers below them.");
    return source.replaceChildren("From ", dom.make("a", { href: preset.place }, preset.source), `. ${preset.note}`);
  }

  function showControls(state) {
    const index = presets.findIndex((preset) => isPreset(state, preset));
    dom.part("preset").value = index < 0 ? "" : String(index);
    showSource(index);
    dom.part("law-choice").value = state.law;
    dom.part("k").value = state.k;
    dom.part("k-value").textContent = state.k;
    dom.part("w").value = state.uniform;
    dom.part("w-value").textContent = state.uniform;
    const n = state.draft.length;
    dom.part("tokens").textContent = explorer.words.count(n, "token");
    dom.part("add").disabled = n >= states.MOST_TOKENS;
    dom.part("remove").disabled = n <= 1 || n > states.MOST_TOKENS;
  }

  function showAnswer(results, views) {
    const few = results.draft.length <= states.MOST_TOKENS;
    dom.part("bars").hidden = !few;
    dom.part("ranked").hidden = few;
    if (few) views.bars.update(results);
    else explorer.ranked.draw(dom.part("ranked"), results);
    dom.part("waiting").hidden = true;
    dom.part("refusal").hidden = !results.problem;
    dom.part("refusal").textContent = results.problem ? `There is no answer: ${results.problem}.` : "";
    for (const name of ["results", "results-first"]) dom.part(name).hidden = Boolean(results.problem);
    if (results.problem) {
      dom.part("brief").textContent = "no answer";
      return;
    }
    explorer.answer.show(results);
    explorer.rulesView.show(results);
  }

  function showCharts(results, views, pictures) {
    dom.part("computing").hidden = true;
    if (dom.part("charts").hidden) {
      dom.part("charts").hidden = false; // before they are drawn: what is hidden has no width
      explorer.svg.measure(pictures);
    }
    explorer.kChart.show(results, views.chooseK);
    explorer.selectionView.show(results);
    views.plane.update(results);
  }

  /** Say that the answer and the charts are being computed, until they are shown. */
  function showWaiting() {
    for (const name of ["waiting", "computing"]) dom.part(name).hidden = false;
    for (const name of ["refusal", "results-first", "results", "charts"]) dom.part(name).hidden = true;
    dom.part("brief").textContent = "computing …";
  }

  /** Do a work whose yields are breaths: at once, or so that the page goes on; return what ends it. */
  function go(work, atOnce) {
    if (atOnce) {
      while (!work.next().done);
      return () => {};
    }
    let waiting = setTimeout(function step() {
      if (!work.next().done) waiting = setTimeout(step);
    });
    return () => clearTimeout(waiting);
  }

  /** Call a function once nothing was asked for a while. */
  function later(call) {
    let waiting = null;
    return () => {
      clearTimeout(waiting);
      waiting = setTimeout(call, RESTS);
    };
  }

  /** Call a function before the next picture, once however often it is asked for. */
  function soon(call) {
    let asked = false;
    return () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        call();
      });
    };
  }

  function wire(store, masses) {
    const listen = (name, event, change) => dom.part(name).addEventListener(event, (happened) => change(happened.target));
    listen("preset", "change", ({ value }) => value && store.set(ofPreset(presets[Number(value)])));
    listen("law-choice", "change", ({ value }) => store.set({ law: value }));
    listen("k", "input", ({ value }) => store.set({ k: Number(value) }));
    listen("w", "input", ({ value }) => store.set({ uniform: Number(value) }));
    listen("add", "click", () => store.set(states.withToken(store.get())));
    listen("remove", "click", () => store.set(states.withoutToken(store.get(), masses())));
    explorer.share.wire(store.get);
  }

  /** Make what changes the state by hand: the bars, the triangle, the fields, the chart. */
  function makeViews(store) {
    const move = (side, token, value, from) => store.set({ [side]: states.moved(from, token, value) });
    const place = (side, masses) => store.set({ [side]: states.rounded(masses) });
    return {
      bars: explorer.bars.editor(dom.part("bars"), move),
      plane: explorer.simplexView.plane(dom.part("simplex-chart"), place),
      fields: explorer.fields.fields((pair) => store.set(pair)),
      chooseK: (k) => store.set({ k }),
    };
  }

  /** Say what of a link could not be read: those who follow it would take the page for what was meant. */
  function showDamage(hash, laws) {
    const words = explorer.link.damage(hash, laws);
    dom.part("damage").hidden = words === null;
    dom.part("damage").textContent = words === null ? "" : `The link is damaged: ${words}`;
  }

  /** Let the address follow the state. */
  function settle(state) {
    const bare = location.href.replace(/#.*$/, "");
    history.replaceState(null, "", explorer.link.written(state) ?? bare);
  }

  /** Draw anew when a picture has another width, also one that was hidden. */
  function watchWidths(pictures, redraw) {
    const observer = new ResizeObserver(() => {
      if (pictures.some(explorer.svg.resized)) redraw();
    });
    for (const container of pictures) observer.observe(container);
  }

  function start() {
    fillChoices();
    const laws = arithmetic.LAWS.map((law) => law.name);
    const asked = (hash) => explorer.link.read(hash, laws);
    const store = states.store({ ...ofPreset(presets[0]), uniform: 0.4, ...asked(location.hash) });
    const views = makeViews(store);
    const pictures = PICTURES.map(dom.part);
    let results = null;
    let known = {}; // the state that all results are of
    let cancel = () => {};
    let changes = 0; // of the state; the page says how many of them it shows

    function isKnown(state) {
      return NUMBERS.every((name) => known[name] === state[name]);
    }

    /** Compute and show; a uniform number or a width alone change the pictures only. */
    function* show(state, version) {
      const anew = !isKnown(state);
      if (anew) {
        known = {};
        results = explorer.results.compute(state);
      }
      results.uniform = state.uniform;
      showAnswer(results, views);
      if (anew && !results.problem) yield* explorer.results.complete(results);
      known = state;
      if (!results.problem) showCharts(results, views, pictures);
      dom.part("explorer").dataset.version = version;
      if (changes) tell();
    }

    function update() {
      const state = store.get();
      const atOnce = state.draft.length <= AT_ONCE || isKnown(state);
      cancel();
      if (!atOnce) showWaiting();
      dom.part("simplex").hidden = state.draft.length !== 3; // it takes room from the chart beside it
      explorer.svg.measure(pictures);
      showControls(state);
      views.fields.update(state);
      explorer.share.show(state);
      cancel = go(show(state, String(changes)), atOnce);
    }

    const redraw = soon(update);
    const rest = later(() => settle(store.get()));
    const tell = later(() => { if (!results.problem) explorer.answer.announce(results); });
    store.listen(() => { changes += 1; dom.part("damage").hidden = true; redraw(); rest(); });
    wire(store, () => results);
    addEventListener("hashchange", ({ newURL }) => {
      const { hash } = new URL(newURL); // the address may already follow the state before
      const change = asked(hash);
      if (change) store.set(change); // else it is a place on the page, or damaged
      showDamage(hash, laws);
    });
    // While a work goes on its pictures are still to come.
    watchWidths(pictures, () => { if (isKnown(store.get())) redraw(); });
    showDamage(location.hash, laws);
    update();
    explorer.page = { get: store.get, set: store.set };
  }

  start();
})();
