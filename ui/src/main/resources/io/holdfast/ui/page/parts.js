// Pieces that several pages show.

import { h } from './elements.js';
import { clientText, count, demandText, moment, nameText, span, whereText } from './text.js';
import { shownNow } from './live.js';

/** How long ago something was; counts on by itself. */
export function age(iso, { absolute = false } = {}) {
  if (!iso) return h('span', { class: 'muted' }, '–');
  const at = Date.parse(iso);
  return h('time', { datetime: iso, title: `since ${moment(new Date(at))}` },
    h('span', { 'data-age': at }, span(shownNow() - at)),
    absolute && h('span', { class: 'muted' }, ` · since ${moment(new Date(at))}`));
}

const fullest = new Map();

/** The time left of a holder as a bar that empties; full is the most that was seen of it. */
export function timeLeft(key, holder, seenIso) {
  if (holder.timeLeftMillis === undefined) return h('span', { class: 'muted' }, 'does not expire');
  const expires = Date.parse(seenIso) + holder.timeLeftMillis;
  const full = Math.max(holder.timeLeftMillis, fullest.get(key) ?? 0, 1);
  if (fullest.size > 5000) fullest.clear();
  fullest.set(key, full);
  const left = expires - shownNow();
  return h('span', { class: 'left', title: `expires at ${moment(new Date(expires))} unless renewed`, 'data-expires': expires, 'data-full': full },
    h('span', { class: 'bar', part: left / full, 'data-low': left < full / 4 ? 'yes' : 'no' }),
    h('span', { class: 'figure' }, leftText(left)));
}

function leftText(left) {
  return left > 0 ? span(left) : 'run out';
}

/** Moves what moves by itself between two looks. */
export function tick(now) {
  for (const element of document.querySelectorAll('[data-age]')) {
    const text = span(now - Number(element.dataset.age));
    if (element.textContent !== text) element.textContent = text;
  }
  for (const element of document.querySelectorAll('[data-expires]')) {
    const left = Number(element.dataset.expires) - now;
    const [bar, figure] = element.children;
    bar.style.setProperty('--part', String(Math.min(1, Math.max(0, left / Number(element.dataset.full)))));
    bar.dataset.low = left < Number(element.dataset.full) / 4 ? 'yes' : 'no';
    const text = leftText(left);
    if (figure.textContent !== text) figure.textContent = text;
  }
}

export function lockLink(store, name) {
  return h('a', { class: 'name', href: `#/lock/${store}/${encodeURIComponent(name)}` }, h('bdi', {}, nameText(name)));
}

/** Client on the first line, where to find it on the second. */
export function party(who) {
  return h('span', { class: 'party' },
    h('span', { class: 'client' }, h('bdi', {}, clientText(who))),
    h('span', { class: 'where muted' }, h('bdi', {}, whereText(who))));
}

export function demand(who) {
  return demandText(who);
}

/** What a store says of itself: a card. */
export function storeCard(store, chosen) {
  const state = store.state === 'up' ? 'answers' : store.state === 'down' ? 'does not answer' : 'connecting';
  return h('a', {
    class: 'store', 'data-key': `store-${store.id}`, 'data-state': store.state, href: `#/?store=${store.id}`,
    'aria-current': chosen ? 'true' : undefined,
  },
  h('span', { class: 'label' }, h('span', { class: 'dot', role: 'img', 'aria-label': state }), h('bdi', {}, store.store)),
  store.seen && h('span', { class: 'figures' },
    h('b', {}, store.held.toLocaleString('en')), ' held ',
    h('b', { class: store.waiting ? 'warm' : '' }, store.listsWaiters ? store.waiting.toLocaleString('en') : '–'), ' waiting'),
  h('span', { class: 'muted small' }, cardNote(store)));
}

function cardNote(store) {
  if (store.state === 'down') return [store.message, store.seen && [' Shown is what was seen ', ago(store.seen), '.']];
  if (!store.seen) return 'looking…';
  const notes = [['seen ', ago(store.seen)]];
  if (store.lookMillis > 1000) notes.push(`, a look takes ${span(store.lookMillis)}`);
  if (store.extent === 'partial') notes.push(', still looking');
  if (store.extent === 'cut') notes.push(`; only the first ${count(store.locks, 'lock', 'locks')}: filter by prefix`);
  if (!store.listsWaiters) notes.push('; this store lists no waiters');
  return notes;
}

export function ago(iso) {
  const at = Date.parse(iso);
  return h('time', { datetime: iso, title: moment(new Date(at)) }, h('span', { 'data-age': at }, span(shownNow() - at)), ' ago');
}
