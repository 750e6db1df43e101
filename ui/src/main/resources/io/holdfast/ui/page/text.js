// How times, names and clients read. Nothing here touches the page.

const two = (n) => String(n).padStart(2, '0');

/** 3.2 s, 4 m 10 s, 2 h 05 m, 3 d 4 h. */
export function span(millis) {
  const ms = Math.max(0, millis);
  const seconds = Math.floor(ms / 1000);
  if (seconds < 10) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${two(minutes % 60)} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** By this browser's clock and zone; with the day unless it is today. */
export function moment(date) {
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const today = new Date().toDateString() === date.toDateString();
  return today ? time : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** As it is if it is plain, else in quotes with escapes as in JSON, so that different names look different. */
export function nameText(name) {
  const plain = /^[\p{L}\p{N}\p{P}\p{S}\p{M}]+$/u.test(name) && !/^\p{M}/u.test(name)
    && !/["'\\\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f]/.test(name)
    && name.normalize('NFC') === name;
  if (plain) return name;
  const escaped = [...name].map((c) => {
    if (c === '"' || c === '\\') return `\\${c}`;
    if (c === ' ' || /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(c)) return c;
    return [...Array(c.length).keys()].map((i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
  });
  return `"${escaped.join('')}"`;
}

export function demandText(party) {
  return party.demand === 'permits' ? `${party.permits} of ${party.total} permits` : party.demand;
}

export function clientText(party) {
  return party.client ? nameText(party.client).replace(/^"|"$/g, '') : 'another program';
}

/** Host, process and thread: what one needs to find it. */
export function whereText(party) {
  if (!party.client) return 'it left no name';
  return `${visible(party.host)} · pid ${party.pid} · ${visible(party.thread)}${party.note ? ` · ${visible(party.note)}` : ''}`;
}

function visible(text) {
  return /^[\p{L}\p{N}\p{P}\p{S} ]*$/u.test(text) ? text : nameText(text);
}

export function count(n, one, many) {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}
