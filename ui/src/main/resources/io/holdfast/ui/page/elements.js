// Builds elements and brings what is on the page up to date without replacing it, so that focus and selection stay.

/** Attributes are set as they are; `part` is the filled share of a bar, from 0 to 1. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'part') element.style.setProperty('--part', String(Math.min(1, Math.max(0, value))));
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Makes the children of an element those given. Children with a `data-key` are recognised by it. */
export function render(parent, ...children) {
  const wanted = document.createDocumentFragment();
  wanted.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  morphChildren(parent, wanted);
}

function morphChildren(parent, wanted) {
  const keyed = new Map();
  for (const child of parent.childNodes) if (child.dataset?.key) keyed.set(child.dataset.key, child);
  let current = parent.firstChild;
  for (const next of [...wanted.childNodes]) {
    const key = next.dataset?.key;
    const same = key ? keyed.get(key) : current && !current.dataset?.key && alike(current, next) ? current : null;
    if (!same) {
      parent.insertBefore(next, current);
      continue;
    }
    if (same === current) current = current.nextSibling;
    else parent.insertBefore(same, current);
    if (key) keyed.delete(key);
    morph(same, next);
  }
  while (current) {
    const gone = current;
    current = current.nextSibling;
    gone.remove();
  }
}

function alike(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName;
}

function morph(old, next) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  // Drawn and filled by others, or by the reader.
  if (old.dataset.own !== undefined) return;
  for (const { name } of [...old.attributes]) {
    if (name !== 'style' && name !== 'open' && !next.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...next.attributes]) {
    if (name !== 'style' && name !== 'open' && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const part = next.style.getPropertyValue('--part');
  if (part && old.style.getPropertyValue('--part') !== part) old.style.setProperty('--part', part);
  morphChildren(old, next);
}
