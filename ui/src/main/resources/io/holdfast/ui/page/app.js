// Finds the page for an address, and keeps what moves moving: ages, bars, the word about freshness.

import { follow, isPaused, liveState, setPaused, shownNow } from './live.js';
import { span } from './text.js';
import { tick } from './parts.js';
import * as overview from './overview.js';
import * as lock from './lock.js';
import * as blocked from './blocked.js';

const main = document.getElementById('main');
let page = null;

/** #/?prefix=…, #/lock/STORE/NAME, #/blocked */
function route() {
  const [path, query = ''] = location.hash.replace(/^#/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decoded);
  if (parts[0] === 'lock' && parts.length === 3) return { module: lock, name: 'overview', options: { store: parts[1], name: parts[2] } };
  if (parts[0] === 'blocked') return { module: blocked, name: 'blocked', options: {} };
  return { module: overview, name: 'overview', options: Object.fromEntries(new URLSearchParams(query)) };
}

/** An address that somebody cut off shows no page but must not keep the next one from being shown. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show() {
  const { module, name, options } = route();
  const same = page?.module === module && module.stays?.(page.view, options);
  if (!same) {
    page?.view.end?.();
    main.replaceChildren();
    page = { module, view: module.begin(main, options) };
    scrollTo(0, 0);
  }
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.page === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${module.title(options)} · Holdfast`;
  const view = page.view;
  follow(module.events(options), (data) => view === page.view && view.update(data));
}

function freshness() {
  const { paused, trouble, hasData, silentFor } = liveState();
  const label = document.getElementById('live');
  const old = page?.view.seen ? `${span(shownAge())} old` : 'no answer yet';
  const text = paused ? `Paused · ${old}`
    : trouble ? trouble
      : !hasData ? 'Connecting…'
        : silentFor > 12000 ? `Nothing new for ${span(silentFor)}`
          : `Live · ${old}`;
  if (label.textContent !== text) label.textContent = text;
  label.dataset.state = paused ? 'paused' : trouble || silentFor > 12000 && hasData ? 'trouble' : 'live';
}

/** How old the oldest thing shown is; it goes on growing while the page is paused. */
function shownAge() {
  return Date.now() + (page.view.clockOffset ?? 0) - page.view.seen;
}

function togglePause() {
  setPaused(!isPaused());
  const button = document.getElementById('pause');
  button.setAttribute('aria-pressed', String(isPaused()));
  button.textContent = isPaused() ? 'Go on' : 'Pause';
  freshness();
}

document.addEventListener('click', (event) => {
  const action = event.target.closest('[data-action]')?.dataset.action;
  if (action === 'pause') togglePause();
  else if (action === 'skip') {
    event.preventDefault();
    main.focus();
  } else if (action) page?.view.act?.(action, event.target.closest('[data-action]'), event);
});

document.addEventListener('keydown', (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.nodeName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'p') togglePause();
  else if (event.key === '/') {
    const filter = document.querySelector('input[type=search]');
    if (filter) {
      event.preventDefault();
      filter.focus();
    }
  }
});

addEventListener('hashchange', show);
setInterval(() => {
  if (document.hidden) return;
  freshness();
  if (!isPaused()) tick(shownNow());
}, 200);
show();
