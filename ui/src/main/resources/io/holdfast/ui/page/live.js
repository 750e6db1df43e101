// What comes from the server, and whether it is fresh: live, paused, or cut off.

let source = null;
let retry = 0;
let subscription = null;
let paused = false;
let offset = 0;
let frozenAt = 0;
let arrived = 0;
let trouble = '';

/** Begins to show an address of events; what was shown before ends. */
export function follow(path, onData) {
  subscription = { path, onData };
  arrived = 0;
  trouble = '';
  open();
}

/** Nobody is asked for anything while it is paused, or nobody sees the page. */
export function setPaused(value) {
  paused = value;
  frozenAt = serverNow();
  open();
}

export function isPaused() {
  return paused;
}

/** This moment by the server's clock, in milliseconds; ages are counted with it. */
export function serverNow() {
  return Date.now() + offset;
}

/** The moment the page shows: it stands still while it is paused. */
export function shownNow() {
  return paused ? frozenAt : serverNow();
}

/** Why nothing comes, if so; and how long ago something came, in milliseconds. */
export function liveState() {
  return { paused, trouble, hasData: arrived > 0, silentFor: Date.now() - arrived };
}

function open() {
  source?.close();
  source = null;
  clearTimeout(retry);
  if (!subscription || (paused && arrived > 0) || document.hidden) return;
  const current = subscription;
  source = new EventSource(current.path);
  source.onmessage = (message) => {
    const data = JSON.parse(message.data);
    offset = Date.parse(data.now) - Date.now();
    arrived = Date.now();
    trouble = '';
    if (paused) {
      frozenAt = serverNow();
      source?.close();
      source = null;
    }
    if (current === subscription) current.onData(data);
  };
  source.onerror = () => {
    trouble = 'The dashboard does not answer; trying again';
    if (source?.readyState === EventSource.CLOSED) {
      explain(current.path);
      retry = setTimeout(open, 2000);
    }
  };
}

/** An event source does not say why it was refused; asking once more does. */
async function explain(path) {
  try {
    const answer = await fetch(path.replace(/\/events\/.*/, '/stores'));
    if (answer.status === 401) {
      trouble = 'This session is over: open the address that holdfast ui printed';
    } else if (answer.ok) {
      const refused = await fetch(path, { headers: { Accept: 'application/json' } });
      if (!refused.ok) trouble = (await refused.json()).message;
      else refused.body.cancel();
    }
  } catch {
    // It does not answer, as was said.
  }
}

document.addEventListener('visibilitychange', open);
