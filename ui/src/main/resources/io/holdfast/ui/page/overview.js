// The locks of all stores, hottest first.

import { h, render } from './elements.js';
import { age, demand, lockLink, party, storeCard, timeLeft } from './parts.js';
import { instancesTable } from './instances.js';
import { addHold, addPoint, history, Plots } from './plots.js';
import { count } from './text.js';
import { serverNow } from './live.js';

const ORDERS = [['heat', 'Most waited for'], ['longest', 'Held longest'], ['expiry', 'About to expire'], ['name', 'Name']];
const PER_PAGE = 50;

export const title = () => 'Locks';

export function events(options) {
  const query = new URLSearchParams({ prefix: options.prefix ?? '', order: options.order ?? 'heat', offset: options.offset ?? 0, limit: PER_PAGE });
  if (options.store) query.set('store', options.store);
  return `api/events/overview?${query}`;
}

/** A change of filter or order keeps the page, and where the cursor is. */
export function stays(view, options) {
  view.options = options;
  view.showOptions();
  return true;
}

export function begin(main, options) {
  return new Overview(main, options);
}

function address(options) {
  const query = new URLSearchParams(Object.entries(options).filter(([, value]) => value !== '' && value !== undefined));
  return query.size ? `#/?${query}` : '#/';
}

class Overview {
  constructor(main, options) {
    this.options = options;
    this.filter = h('input', { type: 'search', id: 'filter', placeholder: 'Names that begin with…', 'aria-label': 'Filter by the beginning of the name', autocomplete: 'off', spellcheck: 'false', title: 'Key: /' });
    this.order = h('select', { id: 'order', 'aria-label': 'Order' }, ORDERS.map(([value, label]) => h('option', { value }, label)));
    this.filter.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.go({ prefix: this.filter.value, offset: undefined }), 250);
    });
    this.order.addEventListener('change', () => this.go({ order: this.order.value, offset: undefined }));
    this.stores = h('section', { class: 'stores', 'aria-label': 'Stores' });
    this.alarm = h('section', { 'aria-label': 'Deadlocks', role: 'status' });
    this.summary = h('p', { class: 'summary muted', role: 'status' });
    this.table = h('div', { class: 'locks' });
    const time = h('canvas', { role: 'img', 'aria-label': 'Holders and waiters over time', 'data-own': true });
    const holds = h('canvas', { role: 'img', 'aria-label': 'How long locks were held', 'data-own': true });
    this.holdsCaption = h('figcaption', {});
    this.plots = new Plots(time, holds);
    main.append(
      h('h1', { class: 'unseen' }, 'Locks'),
      this.stores,
      this.alarm,
      h('section', { class: 'plots', 'aria-label': 'Since this page was opened' },
        h('figure', {}, h('figcaption', {}, 'Holders and waiters'), h('div', { class: 'plot' }, time)),
        this.holdsFigure = h('figure', {}, this.holdsCaption, h('div', { class: 'plot' }, holds))),
      h('section', { class: 'panel list', 'aria-label': 'Locks' },
        h('div', { class: 'tools' }, this.filter, this.order, this.summary),
        this.table),
      this.instances = h('section', { class: 'panel list', 'aria-label': 'Counted by instances', hidden: true }));
    this.showOptions();
    render(this.table, h('p', { class: 'empty muted' }, 'Looking…'));
  }

  showOptions() {
    if (document.activeElement !== this.filter) this.filter.value = this.options.prefix ?? '';
    this.order.value = this.options.order ?? 'heat';
  }

  go(change) {
    replaceAddress(address({ ...this.options, ...change }));
  }

  update(data) {
    const seen = data.stores.filter((store) => store.seen);
    this.seen = seen.length ? Math.min(...seen.map((store) => Date.parse(store.seen))) : 0;
    this.clockOffset = serverNow() - Date.now();
    const chosen = this.options.store;
    if (!this.known || this.known.length < data.stores.length) this.known = data.stores;
    else this.known = this.known.map((store) => data.stores.find((fresh) => fresh.id === store.id) ?? store);
    render(this.stores, this.known.map((store) => storeCard(store, String(store.id) === chosen)),
      chosen && this.known.length > 1 && h('a', { class: 'store all', href: address({ ...this.options, store: undefined }), 'data-key': 'all' }, 'All stores'));
    const deadlocks = seen.reduce((sum, store) => sum + store.deadlocks, 0);
    render(this.alarm, deadlocks > 0 && h('p', { class: 'notice' }, `${count(deadlocks, 'deadlock is', 'deadlocks are')} suspected. `, h('a', { href: '#/blocked' }, 'Who blocks whom')));
    this.summarise(data);
    render(this.table, data.rows.length ? this.rows(data) : this.nothing(data), this.pages(data));
    this.instances.hidden = !data.instances;
    if (data.instances) render(this.instances, instancesTable(data.instances));
    this.plot(data, seen);
  }

  summarise(data) {
    const many = data.total > PER_PAGE ? `, ${data.offset + 1}–${data.offset + data.rows.length} shown` : '';
    this.summary.textContent = `${count(data.total, 'lock', 'locks')}${many}`;
  }

  nothing(data) {
    if (data.stores.some((store) => !store.seen || store.extent === 'partial')) return h('p', { class: 'empty muted' }, 'Looking…');
    const what = this.options.prefix ? 'No lock that begins so is held or waited for.' : 'No lock is held or waited for.';
    return h('p', { class: 'empty muted' }, `${what} A lock need not be created: it shows up here when somebody takes it.`);
  }

  rows(data) {
    const most = Math.max(1, ...data.rows.map((row) => row.waiting));
    const several = data.stores.length > 1;
    const labels = new Map(data.stores.map((store) => [store.id, store.store]));
    return h('table', {},
      h('thead', {}, h('tr', {}, ['Lock', several && 'Store', 'Waiting', 'Held by', 'How', 'Held for', 'Time left'].filter(Boolean).map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, data.rows.map((row) => this.row(row, most, several && labels.get(row.store)))));
  }

  row(row, most, store) {
    const { lock } = row;
    const first = lock.holders[0];
    const others = row.holding - 1;
    return h('tr', { 'data-key': `${row.store}/${lock.name}` },
      h('td', { class: 'lock' }, lockLink(row.store, lock.name)),
      store && h('td', { class: 'of muted small', 'data-label': 'Store' }, h('bdi', {}, store)),
      h('td', { class: 'waiting', 'data-label': 'Waiting' },
        h('span', { class: 'heat' }, h('span', { class: 'bar warm', part: row.waiting / most }), h('span', { class: row.waiting ? 'figure warm' : 'figure muted' }, row.waiting.toLocaleString('en')))),
      h('td', { 'data-label': 'Held by' }, first ? [party(first), others > 0 && h('span', { class: 'muted small' }, `and ${count(others, 'other', 'others')}`)] : h('span', { class: 'muted' }, 'nobody')),
      h('td', { class: 'how', 'data-label': 'How' }, first ? (first.lingering ? 'released, kept taken' : demand(first)) : '–'),
      h('td', { class: 'number', 'data-label': 'Held for' }, first ? age(first.since) : '–'),
      h('td', { 'data-label': 'Time left' }, first ? timeLeft(`${row.store}/${lock.name}/${first.token}`, first, row.seen) : '–'));
  }

  pages(data) {
    if (data.total <= PER_PAGE) return null;
    const to = (offset) => address({ ...this.options, offset: offset || undefined });
    return h('nav', { class: 'pages', 'aria-label': 'Pages of locks' },
      data.offset > 0 ? h('a', { href: to(Math.max(0, data.offset - PER_PAGE)) }, '← Before') : h('span', { class: 'muted' }, '← Before'),
      data.offset + PER_PAGE < data.total ? h('a', { href: to(data.offset + PER_PAGE) }, 'Next →') : h('span', { class: 'muted' }, 'Next →'));
  }

  plot(data, seen) {
    const past = history(`overview ${this.options.store ?? ''} ${this.options.prefix ?? ''}`);
    if (seen.length === data.stores.length && seen.every((store) => store.extent !== 'partial')) {
      addPoint(past, Math.max(...seen.map((store) => Date.parse(store.seen))),
        seen.reduce((sum, store) => sum + store.held, 0), seen.reduce((sum, store) => sum + store.waiting, 0));
    }
    data.endedHoldMillis.forEach((millis) => addHold(past, millis));
    this.holdsFigure.classList.toggle('nothing', past.ended === 0);
    this.holdsCaption.textContent = past.ended ? `How long locks were held: ${count(past.ended, 'hold', 'holds')} seen to end` : 'How long locks were held: no hold was seen to end yet';
    this.plots.draw(past, serverNow());
  }

  end() {
    clearTimeout(this.typing);
    this.plots.dispose();
  }
}

/** Every letter typed would be a step back otherwise. */
function replaceAddress(hash) {
  location.replace(hash);
}
