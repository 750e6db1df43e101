// What instances of applications count themselves, read from their Actuator: what no store can show.

import { h } from './elements.js';
import { ago } from './parts.js';
import { span } from './text.js';

const HEADS = ['Instance', 'Client', 'Store', 'Acquired per second', 'Wait, 99 %', 'Hold, 99 %', 'Without a lease', 'Lost'];

/** One row per client of each instance. */
export function instancesTable(instances) {
  return [
    h('div', { class: 'tools' },
      h('h2', {}, 'Counted by the instances themselves'),
      h('p', { class: 'muted small' }, 'Read from their Actuator. Of their last 1,000 waits, and holds, 99 % were no longer than shown.')),
    h('table', { class: 'instances' },
      h('thead', {}, h('tr', {}, HEADS.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, instances.flatMap((instance) => (instance.clients.length ? instance.clients : [null]).map((client, i) => row(instance, client, i))))),
  ];
}

function row(instance, client, i) {
  const cell = (label, text) => h('td', { class: 'number', 'data-label': label }, text ?? '–');
  const trouble = instance.message && [instance.message, instance.seen ? ['; shown is what it said ', ago(instance.seen)] : ''];
  const name = h('td', { class: 'lock' }, i === 0 && [h('bdi', { class: 'name' }, instance.instance), client && trouble && h('span', { class: 'of muted small' }, trouble)]);
  if (!client) return h('tr', { 'data-key': instance.instance }, name, h('td', { class: 'lock muted', colspan: HEADS.length - 1 }, trouble || (instance.seen ? 'it has no client' : 'asking…')));
  return h('tr', { 'data-key': `${instance.instance} ${client.bean}` },
    name,
    h('td', { 'data-label': 'Client' }, h('bdi', { title: client.bean }, client.client)),
    h('td', { class: 'of muted small', 'data-label': 'Store' }, h('bdi', {}, client.store)),
    cell(HEADS[3], client.acquiredPerSecond?.toFixed(1)),
    cell(HEADS[4], time(client.waitP99Millis)),
    cell(HEADS[5], time(client.holdP99Millis)),
    cell(HEADS[6], client.unsuccessful.toLocaleString('en')),
    cell(HEADS[7], client.lost.toLocaleString('en')));
}

function time(millis) {
  if (millis === undefined) return undefined;
  return millis < 1000 ? `${millis < 10 ? millis.toFixed(2) : Math.round(millis)} ms` : span(millis);
}
