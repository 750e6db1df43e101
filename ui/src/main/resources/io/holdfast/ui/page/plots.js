// Plots of what this page has seen, drawn by Chart.js, which is loaded when the first one is.

const MOST_POINTS = 900;
const BUCKETS = [
  [1000, '< 1 s'], [2000, '1–2 s'], [5000, '2–5 s'], [10000, '5–10 s'], [30000, '10–30 s'],
  [60000, '30–60 s'], [300000, '1–5 m'], [3600000, '5–60 m'], [Infinity, '> 1 h'],
];

let library = null;

function chartLibrary() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = 'chart.js';
    script.onload = () => resolve(window.Chart);
    script.onerror = reject;
    document.head.append(script);
  });
  return library;
}

const histories = new Map();

/** What has been seen under a key since the page was opened. */
export function history(key) {
  if (!histories.has(key)) histories.set(key, { points: [], buckets: BUCKETS.map(() => 0), ended: 0 });
  return histories.get(key);
}

export function addPoint(seen, at, holders, waiters) {
  const last = seen.points.at(-1);
  if (last && last.at >= at) return;
  seen.points.push({ at, holders, waiters });
  if (seen.points.length > MOST_POINTS) seen.points.shift();
}

export function addHold(seen, millis) {
  seen.buckets[BUCKETS.findIndex(([limit]) => millis < limit)]++;
  seen.ended++;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function frame(Chart, canvas, type, data, scales) {
  return new Chart(canvas, {
    type,
    data,
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      plugins: { legend: { display: data.datasets.length > 1, align: 'end', reverse: true, labels: { boxWidth: 10, boxHeight: 2, color: colour('--muted') } } },
      scales,
    },
  });
}

const axis = (more) => ({
  beginAtZero: true,
  border: { display: false },
  grid: { color: colour('--line') },
  ticks: { color: colour('--muted'), maxTicksLimit: 6, precision: 0, ...more?.ticks },
  ...more?.axis,
});

/** A plot of holders and waiters over time in one canvas and one of hold times in the other. */
export class Plots {
  constructor(timeCanvas, holdsCanvas) {
    this.canvases = [timeCanvas, holdsCanvas];
    this.scheme = matchMedia('(prefers-color-scheme: dark)');
    this.restyle = () => this.dispose(true);
    this.scheme.addEventListener('change', this.restyle);
  }

  async draw(seen, now) {
    const Chart = await chartLibrary();
    if (this.disposed) return;
    if (!this.charts) this.charts = this.create(Chart);
    const [time, holds] = this.charts;
    const ago = (point) => (point.at - now) / 1000;
    time.data.datasets[0].data = seen.points.map((point) => ({ x: ago(point), y: point.holders }));
    time.data.datasets[1].data = seen.points.map((point) => ({ x: ago(point), y: point.waiters }));
    time.options.scales.x.min = Math.min(-60, seen.points.length ? ago(seen.points[0]) : 0);
    time.update();
    holds.data.datasets[0].data = seen.buckets;
    holds.update();
  }

  create(Chart) {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    const line = (label, name, style) => ({ label, data: [], stepped: true, pointRadius: 0, borderColor: colour(name), backgroundColor: colour(name), ...style });
    // As many waiters as holders: the thin line lies on the thick one, and both are seen.
    const holders = line('holders', '--accent', { order: 1, borderWidth: 4 });
    const waiters = line('waiters', '--warm', { order: 0, borderWidth: 2 });
    return [
      frame(Chart, this.canvases[0], 'line', { datasets: [holders, waiters] }, {
        x: axis({ axis: { type: 'linear', max: 0, beginAtZero: false, grid: { display: false } }, ticks: { callback: (s) => (s === 0 ? 'now' : `${Math.round(-s)} s ago`), maxTicksLimit: 4, maxRotation: 0 } }),
        y: axis({ axis: { suggestedMax: 4 } }),
      }),
      frame(Chart, this.canvases[1], 'bar', { labels: BUCKETS.map(([, label]) => label), datasets: [{ label: 'holds', data: [], backgroundColor: colour('--accent'), maxBarThickness: 28 }] }, {
        x: axis({ axis: { grid: { display: false } }, ticks: { maxTicksLimit: 9, maxRotation: 0, autoSkip: true } }),
        y: axis({ axis: { suggestedMax: 4 } }),
      }),
    ];
  }

  dispose(again) {
    this.charts?.forEach((chart) => chart.destroy());
    this.charts = null;
    if (!again) {
      this.disposed = true;
      this.scheme.removeEventListener('change', this.restyle);
    }
  }
}
