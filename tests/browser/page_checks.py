"""What a browser says of a report page: expressions whose values tests judge."""

# Visible charts, and for each the size of the marks that its traces consist of.
CHARTS = """[...document.querySelectorAll('.js-plotly-plot')]
  .filter((plot) => plot.offsetParent !== null)
  .map((plot) => {
    const marks = [...plot.querySelectorAll('.plot .trace, .barlayer .trace, .shapelayer path')];
    const boxes = marks.map((mark) => mark.getBoundingClientRect());
    const drawn = boxes.filter((box) => box.width > 0 && box.height > 0);
    const area = plot.getBoundingClientRect();
    return {
      id: plot.id, traces: plot.data.length, marks: marks.length, drawn: drawn.length,
      width: area.width, height: area.height,
    };
  })"""

# Pairs of texts of one chart whose boxes overlap by more than two pixels each way. Labels around
# the circle are turned, and their upright boxes overlap where the letters do not.
OVERLAPS = """[...document.querySelectorAll('.js-plotly-plot')]
  .filter((plot) => plot.offsetParent !== null && !plot.id.startsWith('transfers'))
  .flatMap((plot) => {
    const texts = [...plot.querySelectorAll('.main-svg text')].filter((text) => text.textContent);
    const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
    const found = [];
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
      const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (across > 2 && down > 2) found.push([plot.id, a, b]);
    }));
    return found;
  })"""

# Texts that leave their chart, where they would be cut.
OUTSIDE = """[...document.querySelectorAll('.js-plotly-plot')]
  .filter((plot) => plot.offsetParent !== null)
  .flatMap((plot) => {
    const area = plot.getBoundingClientRect();
    return [...plot.querySelectorAll('.main-svg text')].filter((text) => {
      const box = text.getBoundingClientRect();
      return box.width > 0 && (box.left < area.left - 1 || box.right > area.right + 1
        || box.top < area.top - 1 || box.bottom > area.bottom + 1);
    }).map((text) => [plot.id, text.textContent]);
  })"""

# The least contrast (WCAG 2, relative luminance) of page text and chart text on the page's ground.
CONTRAST = """(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = (colour) => {
    const ink = luminance(colour);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  };
  const page = [...document.querySelectorAll('h1, h3, p, figcaption, .tile *, a, summary, td, dt')]
    .map((part) => contrast(getComputedStyle(part).color));
  const chart = [...document.querySelectorAll('.main-svg text')]
    .map((text) => contrast(getComputedStyle(text).fill));
  return [Math.min(...page), Math.min(...chart)];
})()"""
