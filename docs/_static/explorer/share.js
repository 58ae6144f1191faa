// Going on elsewhere: a link, Python, a command.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { part } = explorer.dom;
  const MOST = 200; // tokens that go into code
  const RESTS = 2000; // milliseconds for which a button says that it has copied
  const LAWS = {
    iid: (k) => `otspec.IID(draft, k=${k})`,
    "without-replacement": (k) => `otspec.WithoutReplacement(draft, k=${k})`,
    hub: () => "otspec.Hub(draft)",
    "top-plus-one": (k) => `otspec.TopPlusOne(draft, k=${k})`,
    top: (k) => `otspec.TopK(draft, k=${k})`,
    "two-hubs": () => "otspec.TwoHubs(draft)",
  };

  /** Return a list for Python: strings, which are exact, if they sum to 1 exactly, else floats. */
  function list(texts) {
    const items = explorer.fractions.exact(texts)
      ? texts.map((text) => `"${text}"`)
      : explorer.pair.masses(texts).map(String);
    return `[${items.join(", ")}]`;
  }

  function rules(state) {
    if (state.law === "two-hubs") {
      return ["print(otspec.rules.SpecTwoHubs(draft, target).acceptance())"];
    }
    return [
      `for row in otspec.traces.compare(draft, target, [${state.k}], ["${state.law}"]):`,
      "    print(row.rule, row.acceptance)",
    ];
  }

  /** Return the state as Python code. */
  function python(state) {
    const long = state.draft.length > MOST;
    const read = (side) => (long ? `numpy.loadtxt("${side}.csv", delimiter=",")` : list(state[side]));
    return [
      ...(long ? ["import numpy"] : []),
      "import otspec",
      "",
      `draft = ${read("draft")}`,
      `target = ${read("target")}`,
      `best = otspec.optimal_acceptance(${LAWS[state.law](state.k)}, target)`,
      "print(best.acceptance, best.cut)",
      ...rules(state),
    ].join("\n");
  }

  /** Return the state as a command. */
  function shell(state) {
    if (state.law === "two-hubs") return "# otspec accept has no two hubs: take the Python code";
    const long = state.draft.length > MOST;
    const argument = (side) => (long ? `${side}.csv` : state[side].join(","));
    return `otspec accept ${argument("draft")} ${argument("target")} -k ${state.k} --drafts ${state.law}`;
  }

  function link(state) {
    const hash = explorer.link.written(state);
    return hash === null ? null : location.href.replace(/#.*$/, "") + hash;
  }

  async function copy(text, source) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(source); // so that one can copy it by hand
      return false;
    }
    return true;
  }

  async function pressed(button, source) {
    const done = await copy(source.textContent, source);
    button.dataset.words ??= button.textContent;
    button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    part("live").textContent = button.textContent;
    setTimeout(() => { button.textContent = button.dataset.words; }, RESTS);
  }

  /** Let the browser save one side as a file. */
  function save(side, texts) {
    const address = URL.createObjectURL(new Blob([`${texts.join(",")}\n`], { type: "text/csv" }));
    explorer.dom.make("a", { href: address, download: `${side}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), RESTS);
  }

  /** Wire the buttons to what they copy or save. */
  function wire(now) {
    for (const side of ["draft", "target"]) {
      part(`save-${side}`).addEventListener("click", () => save(side, explorer.pair.masses(now()[side]).map(String)));
    }
    for (const kind of ["link", "python", "shell"]) {
      const [button, source] = [part(`copy-${kind}`), part(kind)];
      button.addEventListener("click", () => pressed(button, source));
    }
  }

  function show(state) {
    const address = link(state);
    part("link").textContent = address ?? "These are too many numbers for a link: keep them as two files.";
    part("copy-link").disabled = address === null;
    part("python").textContent = python(state);
    part("shell").textContent = shell(state);
    part("files-note").hidden = state.draft.length <= MOST;
  }

  explorer.share = { link, python, shell, show, wire };
})();
