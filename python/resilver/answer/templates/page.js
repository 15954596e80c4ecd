"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page").textContent);
  const { charts, csv, hosts, config, dark, layout } = page;
  const isDark = window.matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  document.documentElement.classList.add("js");

  // The same rules as `sized` in vega.py: what stands side by side goes below each other in a narrow window.
  const sized = (spec, width) => {
    const { room = layout.room, letters = 0, ratio = 0, most = Infinity, ...made } = spec;
    if (made.hconcat) {
      const { hconcat, ...rest } = made;
      const narrow = width < layout.narrow;
      const share = narrow ? width : Math.floor((width - layout.gap * (hconcat.length - 1)) / hconcat.length);
      const views = hconcat.map((view) => sized(view, share));
      return { ...rest, [narrow ? "vconcat" : "hconcat"]: views, spacing: layout.gap };
    }
    if (made.vconcat) return { ...made, vconcat: made.vconcat.map((view) => sized(view, width)) };
    made.width = Math.min(most, Math.max(90, width - room[0] - room[1]));
    if (ratio) made.height = Math.round(ratio * made.width);
    if (letters > made.width) {
      const x = made.encoding.x;
      const axis = { ...x.axis, labelAngle: -38, labelAlign: "right", labelLimit: 120 };
      made.encoding = { ...made.encoding, x: { ...x, axis } };
    }
    return made;
  };
  // The letters of the longest name in a legend.
  const longest = (spec) => {
    let most = 0;
    JSON.stringify(spec, (key, value) => {
      if (key === "domain" && Array.isArray(value)) most = Math.max(most, ...value.map((name) => name.length || 0));
      return value;
    });
    return most;
  };
  // Charts name colours of a light ground; on a dark one each has a counterpart.
  const coloured = (value) => {
    if (printing || !isDark.matches) return value;
    const colours = new RegExp(Object.keys(dark).join("|"), "gi");
    const lower = Object.fromEntries(Object.entries(dark).map(([light, other]) => [light.toLowerCase(), other]));
    return JSON.parse(JSON.stringify(value).replace(colours, (found) => lower[found.toLowerCase()]));
  };
  // What stands before names that JavaScript's objects have: `free_names` in vega.py.
  const JOINER = "\u2060";
  const views = new Map();
  const draw = async (box) => {
    const width = printing ? 680 : box.clientWidth;
    if (!width) return;
    const columns = Math.max(1, Math.min(4, Math.floor(width / (7 * longest(charts[box.id]) + 36))));
    const description = charts[box.id].description ??= box.getAttribute("aria-label");
    const embed = (within) => {
      const legend = { ...config.legend, columns, labelLimit: within - 30 };
      const spec = { ...linked(sized(charts[box.id], within)), description, config: { ...config, legend }, autosize: "pad", padding: { top: 2, bottom: 5 } };
      return vegaEmbed(box, coloured(spec), {
        mode: "vega-lite", ast: true, actions: false, renderer: "canvas", defaultStyle: false, tooltip: { theme: "page" },
      });
    };
    let made;
    try {
      made = await embed(width);
      // Where letters are wider than the room left for them, the plot gives way.
      for (let within = width, tries = 3, excess; tries && (excess = box.querySelector("canvas").clientWidth - width) > 0; tries--) {
        made.finalize();
        made = await embed(within -= excess);
      }
    } catch (error) {
      box.textContent = `This chart cannot be drawn here (${error}). Its table has its numbers.`;
      return;
    }
    views.get(box)?.finalize();
    views.set(box, made);
    // Whoever inspects the page finds the view at its box, as Vega's own tools expect it.
    box.view = made.view;
    box.dataset.width = width;
    made.view.addEventListener("click", (event, item) => { if (item?.datum?.part) choosePart(item.datum.part.replace(JOINER, "")); });
    if (charts[box.id].clock) made.view.addSignalListener("at", (name, { a }) => { if (a) pointAt(box, a[0]); });
    show(box);
  };
  // Charts over time share a moment, and all charts and tables a chosen part. Both are parameters of the charts.
  const isOf = (spec) => spec.data?.values?.some((row) => "part" in row);
  const lit = "!length(chosen) || indexof(chosen, datum.part) >= 0 || indexof(chosen, datum.other) >= 0";
  const withPart = (spec, inherited) => {
    const isPart = spec.data ? isOf(spec) : inherited;
    const made = { ...spec };
    for (const views of ["layer", "hconcat", "vconcat"]) if (made[views]) made[views] = made[views].map((view) => withPart(view, isPart));
    if (isPart && made.mark && made.mark.type !== "text") {
      const opacity = { condition: { test: lit, value: made.mark.opacity ?? 1 }, value: 0.12 };
      made.encoding = { ...made.encoding, opacity };
    }
    return made;
  };
  const linked = ({ clock, ...spec }) => {
    const made = withPart(spec, false);
    made.params = [...(made.params ?? []), { name: "chosen", value: [] }];
    if (!clock) return made;
    const rule = { data: { values: [{}] }, mark: { type: "rule", color: config.axis.titleColor, strokeWidth: 1.5, clip: true },
      transform: [{ filter: "moment >= 0" }, { calculate: "moment", as: "a" }] };
    made.params.push({ name: "moment", value: -1 });
    made.vconcat = made.vconcat.map((view) => ({ ...view, layer: [...view.layer, rule] }));
    return made;
  };
  let moment = -1;
  let chosen = [];
  const show = (box) => {
    const made = views.get(box)?.view;
    if (!made) return;
    made.signal("chosen", chosen.flatMap((name) => [name, JOINER + name]));
    if (charts[box.id].clock) {
      made.signal("moment", moment / charts[box.id].clock.seconds);
      tell(box);
    }
    made.runAsync();
  };
  const intervals = (box) => charts[box.id].data.values;
  const words = (value) => value == null ? "-" : Number(value.toPrecision(4)).toLocaleString("en");
  const tell = (box) => {
    const control = document.getElementById("moment-" + box.id);
    if (!control) return;
    const output = control.closest("p").querySelector("output");
    if (moment < 0) {
      control.value = 0;
      control.removeAttribute("aria-valuetext");
      output.textContent = "";
      return;
    }
    const { seconds, unit, columns } = charts[box.id].clock;
    const rows = intervals(box);
    // Times are kept to six digits, so that those of two charts may differ in the last.
    const after = rows.findIndex(({ b }) => b * seconds > moment * (1 + 1e-5));
    const at = after < 0 ? rows.length - 2 : Math.min(after, rows.length - 2);
    const values = columns.map(([column, name, of]) => `${name} ${words(rows[at][column])}${of && " " + of}`);
    const text = `${words(rows[at].a)} to ${words(rows[at].b)} ${unit}: ${values.join(", ")}`;
    control.value = at;
    control.setAttribute("aria-valuetext", text);
    output.textContent = text;
  };
  const pointAt = (box, time) => {
    const seconds = time * charts[box.id].clock.seconds;
    if (seconds === moment) return;
    moment = seconds;
    visible().filter(({ id }) => charts[id].clock).forEach(show);
  };
  for (const box of document.querySelectorAll(".plot")) {
    if (!charts[box.id].clock) continue;
    const control = document.createElement("p");
    control.className = "bar moment";
    control.innerHTML = '<label>Moment <input type="range" min="0" step="1" value="0"></label> <output></output>';
    const range = control.querySelector("input");
    range.id = "moment-" + box.id;
    range.max = intervals(box).length - 2;
    range.addEventListener("input", () => pointAt(box, intervals(box)[range.value].a));
    box.after(control);
  }

  // A part is chosen in a chart or by its name in a table; its host goes with it, and with a host all that it has.
  const known = new Set([...Object.keys(hosts), ...Object.values(hosts)]);
  JSON.stringify(charts, (key, value) => {
    if (key === "part" && value) known.add(String(value).replace(JOINER, ""));
    return value;
  });
  const choosePart = (name) => {
    const isSame = !name || chosen[0] === name;
    const host = Object.hasOwn(hosts, name) ? hosts[name] : "";
    const within = Object.keys(hosts).filter((part) => hosts[part] === name);
    chosen = isSame ? [] : [name, ...(host ? [host] : []), ...within];
    const names = new Set(chosen);
    for (const row of document.querySelectorAll("tbody tr")) {
      row.classList.toggle("chosen", [...row.cells].some((cell) => names.has(cell.textContent)));
    }
    for (const button of document.querySelectorAll("button.part")) button.setAttribute("aria-pressed", names.has(button.textContent));
    const bar = document.getElementById("chosen");
    bar.hidden = isSame;
    const more = host ? `, with its host ${host}` : within.length ? `, with ${within.length} on it` : "";
    bar.firstElementChild.textContent = isSame ? "" : `${name}${more} is marked in every chart and table. `;
    visible().forEach(show);
  };
  const nameParts = (root) => {
    for (const cell of root.querySelectorAll("tbody td:not(:has(button))")) {
      if (!known.has(cell.textContent)) continue;
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "part", textContent: cell.textContent });
      button.setAttribute("aria-pressed", chosen.includes(cell.textContent));
      cell.replaceChildren(button);
    }
  };
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape" && chosen.length) choosePart(""); });

  const shown = (box) => !box.closest("details:not([open]), [hidden]");
  const visible = () => [...document.querySelectorAll(".plot")].filter(shown);
  const drawAll = () => Promise.all(visible().map(draw));
  const drawNew = () => Promise.all(visible().filter((box) => Number(box.dataset.width) !== box.clientWidth).map(draw));
  const done = () => document.documentElement.setAttribute("data-drawn", "true");

  const choice = document.getElementById("system");
  const choose = () => {
    for (const part of document.querySelectorAll("[data-system]")) part.hidden = part.dataset.system !== choice.value;
    moment = -1;
    return drawNew().then(() => visible().forEach(show));
  };
  if (choice) choice.addEventListener("change", choose);
  document.querySelectorAll(".shown").forEach(nameParts);
  document.addEventListener("toggle", ({ target }) => {
    if (!target.open) return;
    nameParts(target);
    drawNew().then(() => visible().forEach(show));
  }, true);
  let resizing = 0;
  window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(drawNew, 150); });

  const save = (href, name) => {
    const link = document.createElement("a");
    link.href = href;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  };
  const saveText = (text, type, name) => save(URL.createObjectURL(new Blob([text], { type })), name);
  const open = (id) => {
    for (let part = document.getElementById(id); part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  };
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) open(link.getAttribute("href").slice(1));
    const button = event.target.closest("button");
    if (!button) return;
    if (button.className === "part") choosePart(button.textContent);
    if (button.id === "unchoose") choosePart("");
    const { csv: table, picture, of, save: saved, file, copy } = button.dataset;
    if (table) saveText(csv[table], "text/csv", table + ".csv");
    if (picture === "svg") saveText(await views.get(document.getElementById(of)).view.toSVG(), "image/svg+xml", of + ".svg");
    if (picture === "png") save(await views.get(document.getElementById(of)).view.toImageURL("png", 2), of + ".png");
    if (saved) saveText(document.getElementById(saved + "-text").textContent, "application/toml", file);
    if (copy) {
      getSelection().selectAllChildren(document.getElementById(copy + "-text"));
      // A page from a file may not use the newer way.
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    }
  });
  isDark.addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => { printing = true; drawAll(); });
  window.addEventListener("afterprint", () => { printing = false; drawAll(); });

  // The page of a sweep under way loads itself again, and its reader stays where they are.
  const seconds = Number(document.documentElement.dataset.reload || 0);
  const place = "resilver:" + location.pathname;
  // Systems are known by their names: as runs finish, more of them come, and their numbers change.
  const parts = [...document.querySelectorAll("[data-system]")];
  const partOf = (name) => parts.find((part) => part.dataset.name === name);
  const remember = () => {
    const opened = [...document.querySelectorAll("details[open]")].map(({ id, parentElement }) => {
      const part = parentElement.closest("[data-system]");
      return part ? { id: id.slice(0, -part.dataset.system.length), system: part.dataset.name } : { id };
    });
    const system = parts.find((part) => !part.hidden)?.dataset.name;
    try {
      sessionStorage.setItem(place, JSON.stringify({ y: scrollY, opened, system }));
    } catch { /* Without storage the page begins at its top. */ }
  };
  const recall = () => {
    try {
      const text = sessionStorage.getItem(place);
      sessionStorage.removeItem(place);
      return text ? JSON.parse(text) : null;
    } catch { return null; }
  };
  const again = () => {
    // Nobody looks at a hidden tab, and loading it would only cost the machine that simulates.
    if (document.hidden) {
      document.addEventListener("visibilitychange", again, { once: true });
      return;
    }
    remember();
    location.reload();
  };
  const before = recall();
  if (before && choice && partOf(before.system)) choice.value = partOf(before.system).dataset.system;
  if (before) history.scrollRestoration = "manual";
  const settle = () => {
    if (before) {
      for (const { id, system } of before.opened) {
        const table = document.getElementById(id + (system ? partOf(system)?.dataset.system : ""));
        if (table) table.open = true;
      }
      scrollTo(0, before.y);
    }
    if (seconds) setTimeout(again, 1000 * seconds);
    done();
  };
  // A browser keeps a form's choice over a reload, so the choice shown decides, not the first one.
  (choice ? choose() : drawAll()).then(settle);
})();
