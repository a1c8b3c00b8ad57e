"use strict";
// Draws the chart of the chosen GPU. All data are in the page; nothing is fetched.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const box = document.getElementById("chart");
  const gpuSelect = document.getElementById("gpu");
  const reportSelect = document.getElementById("report");
  let view = null;
  let drawnWidth = 0;

  const current = () => data[gpuSelect ? Number(gpuSelect.value) : 0];

  function fillReports() {
    if (!reportSelect) return;
    const reports = current().reports;
    const options = [["all", `all ${reports.length} reports`], ...reports.map(([id, name]) => [id, name])];
    reportSelect.replaceChildren(...options.map(([id, name]) => new Option(name, id)));
    reportSelect.parentElement.style.display = reports.length > 1 ? "" : "none";
  }

  function sized(spec, width) {
    const copy = structuredClone(spec);
    const narrow = width < 620;
    for (const panel of copy.vconcat) {
      panel.width = Math.max(220, width - (narrow ? 62 : 78));
      if (narrow) panel.height = Math.min(panel.height, 340);
    }
    copy.config.legend.columns = narrow ? 2 : width < 920 ? 3 : 5;
    if (narrow) {
      copy.config.legend.direction = "vertical";
      copy.title.subtitle = copy.title.subtitle.split(" · ");
    }
    return copy;
  }

  async function draw() {
    const chosen = current();
    const width = box.clientWidth;
    drawnWidth = width;
    document.getElementById("caption").textContent = chosen.caption;
    if (view) view.finalize();
    view = null;
    if (!chosen.spec) { box.replaceChildren(); return; }
    const result = await vegaEmbed(box, sized(chosen.spec, width), {
      mode: "vega-lite",
      ast: true,
      renderer: chosen.points > 1200 ? "canvas" : "svg",
      downloadFileName: "roofline",
      actions: { export: true, source: false, compiled: false, editor: false },
    });
    view = result.view;
    if (reportSelect && reportSelect.value !== "all") view.signal("report", reportSelect.value).runAsync();
    view.addEventListener("click", (_event, item) => {
      const row = item && item.datum && document.getElementById(`k${item.datum.group}`);
      if (row) location.hash = `k${item.datum.group}`;
    });
  }

  if (gpuSelect) gpuSelect.addEventListener("change", () => { fillReports(); draw(); });
  if (reportSelect) reportSelect.addEventListener("change", () => { if (view) view.signal("report", reportSelect.value).runAsync(); });
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (Math.abs(box.clientWidth - drawnWidth) > 8) draw(); }, 150);
  });
  // Begin with the GPU that owns most time among those with something to draw.
  if (gpuSelect) gpuSelect.value = String(Math.max(0, data.findIndex((gpu) => gpu.spec)));
  fillReports();
  draw();
})();
