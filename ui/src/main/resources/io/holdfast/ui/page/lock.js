// One lock: holders, waiters, what has changed, the command to copy, and forced release.

import { h, render } from './elements.js';
import { age, ago, demand, party, timeLeft } from './parts.js';
import { addHold, addPoint, history, Plots } from './plots.js';
import { clientText, count, moment, nameText, span, whereText } from './text.js';
import { serverNow } from './live.js';

const MOST_CHANGES = 200;

export const title = (options) => nameText(options.name);

export function events(options) {
  return `api/events/lock?${new URLSearchParams(options)}`;
}

export function stays(view, options) {
  return view.options.store === options.store && view.options.name === options.name;
}

export function begin(main, options) {
  return new LockPage(main, options);
}

const holderKey = (holder) => holder.token ?? `${holder.client} ${holder.pid} ${holder.thread}`;
const waiterKey = (waiter) => `${waiter.client} ${waiter.pid} ${waiter.thread} ${waiter.since}`;
const who = (someone) => `${clientText(someone)} (${whereText(someone)})`;

class LockPage {
  constructor(main, options) {
    this.options = options;
    this.changes = [];
    this.began = serverNow();
    this.head = h('div', { class: 'head' });
    this.holders = h('section', { class: 'panel', 'aria-label': 'Holders' });
    this.waiters = h('section', { class: 'panel', 'aria-label': 'Waiters' });
    this.timeline = h('section', { class: 'panel', 'aria-label': 'Time line' });
    this.shell = h('section', { class: 'panel', 'aria-label': 'Command' });
    this.release = h('section', { class: 'panel release', 'aria-label': 'Forced release', hidden: true });
    const time = h('canvas', { role: 'img', 'aria-label': 'Holders and waiters over time', 'data-own': true });
    const holds = h('canvas', { role: 'img', 'aria-label': 'How long this lock was held', 'data-own': true });
    this.holdsCaption = h('figcaption', {});
    this.plots = new Plots(time, holds);
    main.append(h('p', { class: 'back' }, h('a', { href: '#/' }, '← All locks')), this.head,
      h('div', { class: 'columns' },
        h('div', {}, this.holders, this.waiters, this.shell, this.release),
        h('div', {},
          h('section', { class: 'plots one', 'aria-label': 'Since this page was opened' },
            h('figure', {}, h('figcaption', {}, 'Holders and waiters'), h('div', { class: 'plot' }, time)),
            this.holdsFigure = h('figure', {}, this.holdsCaption, h('div', { class: 'plot' }, holds))),
          this.timeline)));
    this.buildRelease();
  }

  update(data) {
    this.clockOffset = serverNow() - Date.now();
    this.seen = data.seen ? Date.parse(data.seen) : 0;
    this.data = data;
    this.showHead(data);
    if (data.lock) {
      this.compare(data);
      this.showHolders(data);
      this.showWaiters(data);
      this.plot(data);
    }
    this.showTimeline();
    render(this.shell, h('h2', {}, 'In the shell'),
      h('div', { class: 'command' }, h('code', { id: 'command' }, data.command), h('button', { type: 'button', 'data-action': 'copy' }, this.copied ? 'Copied' : 'Copy')));
    this.release.hidden = !data.mayRelease || !data.lock?.held;
  }

  showHead(data) {
    const state = !data.lock ? ['unknown', 'Looking…']
      : data.lock.holders.some((holder) => !holder.lingering) ? ['held', 'Held']
        : data.lock.held ? ['held', 'Released, kept taken'] : ['free', 'Free'];
    render(this.head,
      h('h1', {}, h('bdi', {}, nameText(this.options.name)), ' ', h('span', { class: `state ${state[0]}` }, state[1])),
      h('p', { class: 'muted' }, h('bdi', {}, data.store.store), data.seen && [' · seen ', ago(data.seen)],
        !data.store.listsWaiters && ' · this store lists no waiters'),
      data.store.state === 'down' && h('p', { class: 'notice', role: 'alert' }, `The store does not answer: ${data.store.message}`));
  }

  showHolders(data) {
    const more = data.holding - data.lock.holders.length;
    render(this.holders, h('h2', {}, `Held by ${data.holding > 1 ? data.holding.toLocaleString('en') : ''}`),
      data.lock.holders.length === 0 ? h('p', { class: 'muted' }, 'Nobody. The next who asks gets it.')
        : data.lock.holders.map((holder) => h('dl', { class: 'holder', 'data-key': `h${holderKey(holder)}` },
          h('div', { class: 'wide' }, h('dt', {}, holder.lingering ? 'Released by' : 'Client'), h('dd', {}, party(holder))),
          h('div', {}, h('dt', {}, 'How'), h('dd', {}, demand(holder))),
          h('div', {}, h('dt', {}, 'Token'), h('dd', { class: 'number' }, holder.token ?? 'none')),
          h('div', {}, h('dt', {}, 'Held for'), h('dd', {}, age(holder.since, { absolute: true }))),
          h('div', {}, h('dt', {}, holder.lingering ? 'Kept taken for' : 'Time left unless renewed'), h('dd', {}, timeLeft(`lock/${holderKey(holder)}`, holder, data.seen))))),
      more > 0 && h('p', { class: 'muted' }, `and ${count(more, 'other', 'others')}`));
  }

  showWaiters(data) {
    const more = data.waiting - data.lock.waiters.length;
    render(this.waiters, h('h2', {}, data.waiting ? `Waiting, first in line first (${data.waiting.toLocaleString('en')})` : 'Waiting'),
      data.lock.waiters.length === 0
        ? h('p', { class: 'muted' }, data.store.listsWaiters ? 'Nobody.' : 'This store does not list those who wait.')
        : h('ol', { class: 'waiters' }, data.lock.waiters.map((waiter) => h('li', { 'data-key': `w${waiterKey(waiter)}` },
          party(waiter), h('span', { class: 'muted small' }, demand(waiter), ', for ', age(waiter.since, { absolute: true }))))),
      more > 0 && h('p', { class: 'muted' }, `and ${count(more, 'other', 'others')} behind them`));
  }

  /** What is different from the look before. */
  compare(data) {
    const before = this.before;
    this.before = data.lock;
    if (!before || before === data.lock) return;
    const at = Date.parse(data.seen);
    if (at === this.comparedAt) return;
    this.comparedAt = at;
    const heldBefore = new Map(before.holders.map((holder) => [holderKey(holder), holder]));
    const heldNow = new Map(data.lock.holders.map((holder) => [holderKey(holder), holder]));
    for (const [key, holder] of heldBefore) {
      const later = heldNow.get(key);
      if (!later && !holder.lingering) {
        const held = holder.since ? at - Date.parse(holder.since) : null;
        if (held !== null) addHold(this.past(), Math.max(0, held));
        this.note(at, 'freed', `${who(holder)} no longer holds it${held === null ? '' : `, after ${span(held)}`}`);
      } else if (!later) this.note(at, 'freed', 'it is no longer kept taken');
      else if (later.lingering && !holder.lingering) this.note(at, 'freed', `${who(holder)} released it; it is kept taken`);
    }
    for (const [key, holder] of heldNow) if (!heldBefore.has(key)) this.note(at, 'taken', `${who(holder)} holds it${holder.token ? `, token ${holder.token}` : ''}`);
    const waitedBefore = new Set(before.waiters.map(waiterKey));
    const waitsNow = new Set(data.lock.waiters.map(waiterKey));
    const holdsNow = new Set(data.lock.holders.map((holder) => `${holder.client} ${holder.pid} ${holder.thread}`));
    for (const waiter of data.lock.waiters) if (!waitedBefore.has(waiterKey(waiter))) this.note(at, 'waits', `${who(waiter)} waits for it`);
    for (const waiter of before.waiters) {
      const served = holdsNow.has(`${waiter.client} ${waiter.pid} ${waiter.thread}`);
      if (!waitsNow.has(waiterKey(waiter)) && !served && data.waiting <= data.lock.waiters.length) this.note(at, 'left', `${who(waiter)} no longer waits`);
    }
  }

  note(at, kind, text) {
    this.changes.unshift({ at, kind, text, key: `${at}-${this.numbered = (this.numbered ?? 0) + 1}` });
    this.changes.length = Math.min(this.changes.length, MOST_CHANGES);
  }

  showTimeline() {
    render(this.timeline, h('h2', {}, 'What has changed'),
      h('ol', { class: 'timeline' }, this.changes.map((change) => h('li', { 'data-key': change.key, class: change.kind },
        h('time', { datetime: new Date(change.at).toISOString() }, moment(new Date(change.at)), h('span', { class: 'muted' }, ' · ', h('span', { 'data-age': change.at }, span(serverNow() - change.at)), ' ago')),
        h('span', {}, change.text))),
      h('li', { 'data-key': 'began', class: 'began' }, h('time', {}, moment(new Date(this.began))), h('span', { class: 'muted' }, 'This page began to watch. Holds shorter than half a second may pass unseen.'))));
  }

  past() {
    return history(`lock ${this.options.store} ${this.options.name}`);
  }

  plot(data) {
    const past = this.past();
    addPoint(past, Date.parse(data.seen), data.holding, data.waiting);
    this.holdsFigure.classList.toggle('nothing', past.ended === 0);
    this.holdsCaption.textContent = past.ended ? `How long it was held: ${count(past.ended, 'hold', 'holds')} seen to end` : 'How long it was held: no hold was seen to end yet';
    this.plots.draw(past, serverNow());
  }

  buildRelease() {
    this.typed = h('input', { id: 'typed', type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
    this.button = h('button', { type: 'button', class: 'danger', 'data-action': 'release', disabled: true }, 'Take it away');
    this.outcome = h('p', { role: 'status', id: 'outcome' });
    this.typed.addEventListener('input', () => { this.button.disabled = !this.isTyped(); });
    this.typed.addEventListener('keydown', (event) => { if (event.key === 'Enter' && !this.button.disabled) this.act('release'); });
    this.release.append(h('h2', {}, 'Forced release'),
      h('p', {}, 'The holder is told, but may still be at work when the next one gets the lock. A holder that died frees its lock by itself.'),
      h('label', { for: 'typed' }, 'Type the name of the lock to take it away from its holder:'),
      h('div', { class: 'command' }, this.typed, this.button), this.outcome);
  }

  /** The name, or as it is written on the page: what is invisible or a new line cannot be typed. */
  isTyped() {
    return [this.options.name, nameText(this.options.name)].includes(this.typed.value);
  }

  async act(action, element) {
    if (action === 'copy') {
      await this.copy();
    } else if (action === 'release') {
      this.button.disabled = true;
      try {
        const answer = await fetch('api/release', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ store: Number(this.options.store), name: this.options.name, typed: this.isTyped() ? this.options.name : this.typed.value }),
        });
        const result = await answer.json();
        this.outcome.textContent = answer.ok ? `${count(result.released, 'holder has', 'holders have')} lost it.` : `Not released: ${result.message}`;
        if (answer.ok) this.note(serverNow(), 'freed', 'taken away by force, from this page');
        this.typed.value = '';
      } catch {
        this.outcome.textContent = 'The dashboard did not answer; whether the lock was released is not known.';
      }
    }
  }

  async copy() {
    const code = document.getElementById('command');
    try {
      await navigator.clipboard.writeText(code.textContent);
      this.copied = true;
    } catch {
      getSelection().selectAllChildren(code);
    }
    setTimeout(() => { this.copied = false; }, 2000);
    this.update(this.data);
  }

  end() {
    this.plots.dispose();
  }
}
