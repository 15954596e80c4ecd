"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page").textContent);
  const { charts, csv, config, dark, layout } = page;
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
  const views = new Map();
  const draw = async (box) => {
    const width = printing ? 680 : box.clientWidth;
    if (!width) return;
    const columns = Math.max(1, Math.min(4, Math.floor(width / (7 * longest(charts[box.id]) + 36))));
    const legend = { ...config.legend, columns, labelLimit: width - 30 };
    const description = charts[box.id].description ??= box.getAttribute("aria-label");
    const spec = { ...sized(charts[box.id], width), description, config: { ...config, legend }, autosize: "pad", padding: { top: 2, bottom: 5 } };
    const made = await vegaEmbed(box, coloured(spec), {
      mode: "vega-lite", ast: true, actions: false, renderer: "canvas", defaultStyle: false, tooltip: { theme: "page" },
    });
    views.get(box)?.finalize();
    views.set(box, made);
    // Whoever inspects the page finds the view at its box, as Vega's own tools expect it.
    box.view = made.view;
    box.dataset.width = width;
  };
  const shown = (box) => !box.closest("details:not([open]), [hidden]");
  const visible = () => [...document.querySelectorAll(".plot")].filter(shown);
  const drawAll = () => Promise.all(visible().map(draw));
  const drawNew = () => Promise.all(visible().filter((box) => Number(box.dataset.width) !== box.clientWidth).map(draw));
  const done = () => document.documentElement.setAttribute("data-drawn", "true");

  const choice = document.getElementById("system");
  const choose = () => {
    for (const part of document.querySelectorAll("[data-system]")) part.hidden = part.dataset.system !== choice.value;
    return drawNew();
  };
  if (choice) choice.addEventListener("change", choose);
  document.addEventListener("toggle", (event) => { if (event.target.open) drawNew(); }, true);
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
  const study = () => document.getElementById("study-text").textContent;
  const open = (id) => {
    for (let part = document.getElementById(id); part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  };
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) open(link.getAttribute("href").slice(1));
    const button = event.target.closest("button");
    if (!button) return;
    const { csv: table, picture, of, save: file, copy } = button.dataset;
    if (table) saveText(csv[table], "text/csv", table + ".csv");
    if (picture === "svg") saveText(await views.get(document.getElementById(of)).view.toSVG(), "image/svg+xml", of + ".svg");
    if (picture === "png") save(await views.get(document.getElementById(of)).view.toImageURL("png", 2), of + ".png");
    if (file) saveText(study(), "application/toml", file + ".toml");
    if (copy) {
      getSelection().selectAllChildren(document.getElementById("study-text"));
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
