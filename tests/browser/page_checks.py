"""What a browser says of a report page: expressions whose values tests judge."""
# ruff: noqa: E501

# What Vega drew in a chart: every item with its kind of mark, colour, text and box in the picture.
_ITEMS = """
  const items = (view) => {
    const found = [];
    const visit = (node, x, y) => {
      if (node.marktype === "group") {
        for (const group of node.items)
          for (const child of group.items) visit(child, x + (group.x || 0), y + (group.y || 0));
        return;
      }
      for (const item of node.items || []) {
        const { x1, y1, x2, y2 } = item.bounds;
        found.push({ mark: node.marktype, role: node.role, item, text: [].concat(item.text ?? []).join(" "),
          left: x1 + x, top: y1 + y, right: x2 + x, bottom: y2 + y });
      }
    };
    const [dx, dy] = view.origin();
    visit(view.scenegraph().root, dx, dy);
    return found;
  };
  const plots = [...document.querySelectorAll(".plot")].filter((plot) => plot.view && !plot.closest("details:not([open]), [hidden]"));
"""

# Visible charts, and how many marks of data each consists of.
CHARTS = f"""(() => {{{_ITEMS}
  return plots.map((plot) => {{
    const area = plot.querySelector("canvas").getBoundingClientRect();
    const marks = items(plot.view).filter(({{ role }}) => role === "mark");
    return {{ id: plot.id, marks: marks.length, width: area.width, height: area.height }};
  }});
}})()"""

# Pairs of level texts of one chart whose boxes overlap by more than two pixels each way. A name on
# a map lies on a rim of its own letters, which is no other text.
OVERLAPS = f"""(() => {{{_ITEMS}
  return plots.flatMap((plot) => {{
    const texts = items(plot.view).filter(({{ mark, text, item }}) => mark === "text" && text && !item.angle
      && item.fontSize > 0 && item.opacity !== 0);
    const found = [];
    texts.forEach((p, i) => texts.slice(i + 1).forEach((q) => {{
      const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (across > 2 && down > 2 && p.text !== q.text) found.push([plot.id, p.text, q.text]);
    }}));
    return found;
  }});
}})()"""

# Charts that are wider than their room, where they would be cut, and texts that leave their chart.
OUTSIDE = f"""(() => {{{_ITEMS}
  return plots.flatMap((plot) => {{
    const canvas = plot.querySelector("canvas");
    const wide = canvas.clientWidth > plot.clientWidth ? [[plot.id, canvas.clientWidth, plot.clientWidth]] : [];
    const texts = items(plot.view).filter(({{ mark, text, item }}) => mark === "text" && text && item.fontSize > 0
      && item.opacity !== 0);
    const cut = texts.filter((box) => box.left < -3 || box.top < -3 || box.right > canvas.clientWidth + 3
      || box.bottom > canvas.clientHeight + 3);
    return [...wide, ...cut.map(({{ text, left, right, top }}) => [plot.id, text, left, right, top])];
  }});
}})()"""

# The contrast (WCAG 2, relative luminance) of a colour on another.
_RATIO = """
  const probe = document.createElement("canvas").getContext("2d");
  const channels = (colour) => {
    probe.fillStyle = "#000";
    probe.fillStyle = colour;
    const hex = probe.fillStyle;
    return hex.startsWith("#") ? [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))
      : hex.match(/[\\d.]+/g).slice(0, 3).map(Number);
  };
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (colour, ground) => {
    const [ink, under] = [luminance(colour), luminance(ground)];
    return (Math.max(ink, under) + 0.05) / (Math.min(ink, under) + 0.05);
  };
"""

# The least contrast on the page's ground: of the page's text, of the charts' text, and of what they
# draw data with.
CONTRAST = f"""(() => {{{_ITEMS}{_RATIO}
  const contrast = (colour) => ratio(colour, getComputedStyle(document.body).backgroundColor);
  const page = [...document.querySelectorAll("h1, h3, p, figcaption, .tile *, a, summary, td, dt, pre")]
    .map((part) => contrast(getComputedStyle(part).color));
  const drawn = plots.flatMap((plot) => items(plot.view));
  const shown = (colour) => colour && colour !== "transparent";
  // A text drawn twice has a rim in the colour of the ground, which is no text.
  const text = drawn.filter(({{ mark, item, text }}) => mark === "text" && text && !item.strokeWidth)
    .map(({{ item }}) => contrast(item.fill));
  const marks = drawn.filter(({{ mark, role }}) => mark !== "text" && role === "mark");
  // What is paler than half, such as the shade of a warm-up, is ground and not data.
  const data = marks.filter(({{ item }}) => (item.opacity ?? 1) > 0.5).flatMap(({{ item }}) => [
    ...(shown(item.stroke) && item.strokeWidth !== 0 && item.opacity !== 0 ? [item.stroke] : []),
    ...(shown(item.fill) && !item.stroke && item.opacity !== 0 && (item.fillOpacity ?? 1) > 0.9 ? [item.fill] : []),
  ]).map(contrast);
  return [Math.min(...page), Math.min(...text), Math.min(...data)];
}})()"""

# Cells of a table whose text is wider than its cell.
CUT = """[...document.querySelectorAll('.cards td')].filter((cell) =>
  cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"""

# All folded parts of the page, unfolded; true once their charts are drawn.
UNFOLD = """(() => {
  for (const part of document.querySelectorAll("details.expert")) part.open = true;
  return [...document.querySelectorAll(".plot")].filter((plot) => !plot.closest("details:not([open]), [hidden]"))
    .every((plot) => plot.view && Number(plot.dataset.width) === plot.clientWidth);
})()"""

# How opaque each mark of a part is drawn, by chart: those of some names, and all others.
OPACITIES = """(names) => {
  const found = {};
  const visit = (id, node) => {
    for (const item of node.items ?? []) {
      const { part, other } = item.datum ?? {};
      if (part && node.marktype !== "text" && node.marktype !== "group") {
        const of = names.includes(part) || names.includes(other) ? "own" : "others";
        (found[id] ??= { own: [], others: [] })[of].push(item.opacity ?? 1);
      }
      for (const child of item.items ?? []) visit(id, child);
    }
  };
  for (const plot of document.querySelectorAll(".plot")) if (plot.view) visit(plot.id, plot.view.scenegraph().root);
  return found;
}"""
# Where a mark of a part is in the window, once its chart is in sight.
PLACE = """((id, part) => {
  const plot = document.getElementById(id);
  plot.scrollIntoView({ block: "center" });
  const [dx, dy] = plot.view.origin();
  const find = (node, x, y) => {
    for (const item of node.items ?? []) {
      if (item.datum?.part === part && item.bounds && node.marktype !== "group") {
        const { x1, x2, y1, y2 } = item.bounds;
        return [x + (x1 + x2) / 2, y + (y1 + y2) / 2];
      }
      for (const child of item.items ?? []) {
        const found = find(child, x + (item.x ?? 0), y + (item.y ?? 0));
        if (found) return found;
      }
    }
  };
  const { left, top } = plot.querySelector("canvas").getBoundingClientRect();
  const [x, y] = find(plot.view.scenegraph().root, dx + left, dy + top);
  return [x, y];
})"""
# The moment that each chart over time marks, in seconds, and what is told of it.
MOMENTS = """Object.fromEntries([...document.querySelectorAll(".plot")].filter((plot) => plot.view?.signal
  && document.getElementById("moment-" + plot.id)).map((plot) => [plot.id, {
  seconds: plot.view.signal("moment") * JSON.parse(document.getElementById("page").textContent).charts[plot.id].clock.seconds,
  told: plot.parentElement.querySelector("output").textContent }]))"""

CHARTS_DATA = "JSON.parse(document.getElementById('page').textContent).charts"
"""What the page carries of its charts."""

# Where a chart is in the window, once it is in sight: left, top, width, height.
MIDDLE = """((id) => {
  const plot = document.getElementById(id);
  plot.scrollIntoView({ block: "center" });
  const { left, top, width, height } = plot.querySelector("canvas").getBoundingClientRect();
  return [left, top, width, height];
})"""

# The cells of every row that is marked.
MARKED_ROWS = "[...document.querySelectorAll('tr.chosen')].map((row) => [...row.cells].map((one) => one.textContent))"

# The least contrast of a marked row's text on its ground.
MARKED_CONTRAST = f"""(() => {{{_RATIO}
  const cells = [...document.querySelectorAll("tr.chosen td, tr.chosen td button")];
  const ground = getComputedStyle(cells[0]).backgroundColor;
  return Math.min(...cells.map((cell) => ratio(getComputedStyle(cell).color, ground)));
}})()"""
