"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const figures = read("figures");
  const csv = read("csv");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  document.documentElement.classList.add("js");

  // The charts carry no colours of text or ground of their own, so that they follow the page's.
  const themed = (layout) => {
    const style = getComputedStyle(document.documentElement);
    const ink = printing ? "#000000" : style.getPropertyValue("--ink").trim();
    const soft = printing ? "#444444" : style.getPropertyValue("--soft").trim();
    const panel = printing ? "#ffffff" : style.getPropertyValue("--panel").trim();
    return {
      ...layout,
      font: { ...layout.font, color: ink },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: ink },
      hoverlabel: { ...layout.hoverlabel, bgcolor: panel, bordercolor: ink, font: { color: ink, size: 13 } },
    };
  };
  const config = (id) => ({
    responsive: !figures[id].layout.width,
    displaylogo: false,
    // Named one by one: Plotly's own set has a button that uploads the chart.
    modeBarButtons: [figures[id].layout.width ? ["toImage"] : ["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    plotlyServerURL: "",
    toImageButtonOptions: { format: "svg", filename: "resilver-" + id },
  });
  const draw = (box) => {
    const figure = figures[box.id];
    const layout = themed(figure.layout);
    if (printing && !layout.width) layout.width = 680;
    return Plotly.react(box, figure.data, layout, config(box.id));
  };
  const visible = () => [...document.querySelectorAll(".plot")].filter((box) => !box.closest("[hidden]"));
  const drawAll = () => Promise.all(visible().map(draw));
  const done = () => document.documentElement.setAttribute("data-drawn", "true");

  const choice = document.getElementById("system");
  const choose = () => {
    for (const part of document.querySelectorAll("[data-system]")) part.hidden = part.dataset.system !== choice.value;
    return drawAll();
  };
  if (choice) choice.addEventListener("change", choose);

  document.addEventListener("click", (event) => {
    const table = event.target.closest("a[href^='#table-']");
    if (table) document.querySelector(table.getAttribute("href")).open = true;
    const button = event.target.closest("button[data-csv]");
    if (!button) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv[button.dataset.csv]], { type: "text/csv" }));
    link.download = button.dataset.csv + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  dark.addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => { printing = true; drawAll(); });
  window.addEventListener("afterprint", () => { printing = false; drawAll(); });

  // The page of a sweep under way loads itself again, and its reader stays where they are.
  const seconds = Number(document.documentElement.dataset.reload || 0);
  const place = "resilver:" + location.pathname;
  // Systems are known by their names: as runs finish, more of them come, and their numbers change.
  const parts = [...document.querySelectorAll("[data-system]")];
  const partOf = (name) => parts.find((part) => part.dataset.name === name);
  const remember = () => {
    const open = [...document.querySelectorAll("details[open]")].map(({ id, parentElement }) => {
      const part = parentElement.closest("[data-system]");
      return part ? { id: id.slice(0, -part.dataset.system.length), system: part.dataset.name } : { id };
    });
    const system = parts.find((part) => !part.hidden)?.dataset.name;
    try {
      sessionStorage.setItem(place, JSON.stringify({ y: scrollY, open, system }));
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
      for (const { id, system } of before.open) {
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
