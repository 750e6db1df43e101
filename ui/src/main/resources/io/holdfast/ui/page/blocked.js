// Who waits for what, held by whom; and circles in that.

import { h, render } from './elements.js';
import { age, lockLink, party } from './parts.js';
import { count } from './text.js';
import { serverNow } from './live.js';

export const title = () => 'Who blocks whom';

export const events = () => 'api/events/blocked';

export const stays = () => true;

export function begin(main) {
  return new Blocked(main);
}

class Blocked {
  constructor(main) {
    this.deadlocks = h('section', { 'aria-label': 'Suspected deadlocks' });
    this.list = h('section', { class: 'panel list', 'aria-label': 'Blocked' });
    main.append(h('h1', {}, 'Who blocks whom'), this.deadlocks, this.list);
    render(this.list, h('p', { class: 'empty muted' }, 'Looking…'));
  }

  update(data) {
    const seen = data.stores.filter((store) => store.seen);
    this.seen = seen.length ? Math.min(...seen.map((store) => Date.parse(store.seen))) : 0;
    this.clockOffset = serverNow() - Date.now();
    const labels = new Map(data.stores.map((store) => [store.id, store.store]));
    render(this.deadlocks,
      data.stores.filter((store) => store.state === 'down').map((store) => h('p', { class: 'notice', role: 'alert' }, `${store.store} does not answer: ${store.message}`)),
      (data.deadlocks ?? []).map((deadlock) => this.deadlock(deadlock, labels)));
    if (!data.rows.length) {
      const looking = data.stores.some((store) => !store.seen && store.state !== 'down');
      render(this.list, h('p', { class: 'empty muted' }, looking ? 'Looking…' : 'Nobody waits for a lock that somebody holds.'));
      return;
    }
    const more = data.total - data.rows.length;
    render(this.list, h('table', { class: 'blocked' },
      h('thead', {}, h('tr', {}, ['Lock', 'Held by', 'Held for', 'Waiting', 'For'].map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, data.rows.map((row) => this.rows(row, data.stores.length > 1 && labels.get(row.store))))),
    more > 0 && h('p', { class: 'muted more' }, `and ${count(more, 'other lock', 'other locks')} with fewer waiters`));
  }

  /** One line per waiter; the lock they wait for stands beside them all. */
  rows(row, store) {
    const { lock } = row;
    const more = row.waiting - lock.waiters.length;
    const holder = lock.holders[0];
    const others = row.holding - 1;
    const lines = lock.waiters.length;
    return lock.waiters.map((waiter, i) => h('tr', { 'data-key': `${row.store}/${lock.name}/${i}`, class: i === 0 ? 'group' : 'more' },
      i === 0 && [
        h('td', { class: 'lock', rowspan: lines }, lockLink(row.store, lock.name), store && h('span', { class: 'of muted small' }, h('bdi', {}, store))),
        h('td', { 'data-label': 'Held by', rowspan: lines }, holder ? [party(holder), others > 0 && h('span', { class: 'muted small' }, `and ${count(others, 'other', 'others')}`)] : h('span', { class: 'muted' }, 'nobody at this moment')),
        h('td', { class: 'number', 'data-label': 'Held for', rowspan: lines }, holder ? age(holder.since) : '–'),
      ],
      h('td', { 'data-label': 'Waiting' }, party(waiter), i === lines - 1 && more > 0 && h('span', { class: 'muted small' }, `and ${count(more, 'other', 'others')} behind`)),
      h('td', { class: 'number', 'data-label': 'For' }, age(waiter.since))));
  }

  /** Each of the circle holds what the one before it waits for. */
  deadlock(deadlock, labels) {
    const { waits } = deadlock;
    const key = waits.map((wait) => `${wait.lock} ${wait.waiter.client} ${wait.waiter.since}`).join('|');
    return h('article', { class: 'deadlock', 'data-key': `${deadlock.store}/${key}` },
      h('h2', {}, 'Suspected deadlock', deadlock.since && [', for ', age(deadlock.since)]),
      h('p', { class: 'muted small' }, `${count(waits.length, 'unit of work waits', 'units of work wait')} in a circle`, labels.size > 1 && [' in ', h('bdi', {}, labels.get(deadlock.store))], '. It ends only if one of them gives up or loses a lock.'),
      h('ol', { class: 'circle' }, waits.map((wait) => h('li', {}, party(wait.waiter),
        h('span', { class: 'wants' },
          wait.waiter.holds?.length && ['holds ', held(wait, waits).map((name, i) => [i > 0 && ', ', lockLink(deadlock.store, name)]), ' and '],
          'waits for ', lockLink(deadlock.store, wait.lock), ' for ', age(wait.waiter.since))))));
  }
}

/** Of what it holds, what others of the circle wait for. */
function held(wait, waits) {
  const wanted = new Set(waits.map((other) => other.lock));
  return wait.waiter.holds.filter((name) => wanted.has(name));
}
