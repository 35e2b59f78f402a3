// Building the page: elements are made by calls, everything that was read from a server becomes a text node.

const SVG = 'http://www.w3.org/2000/svg';
const AS_PROPERTY = new Set(['value', 'checked', 'selected', 'indeterminate', 'disabled', 'open', 'hidden', 'readOnly']);
const SAFE_ADDRESS = /^(?:https?:|blob:|\/(?!\/)|[?#]|\.)/;

/** Whether a value is the properties of an element, and not a child. */
function isProps(value) {
  return value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
}

function setProps(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name === 'on') {
      for (const [type, listener] of Object.entries(value)) if (listener) element.addEventListener(type, listener);
    } else if (name === 'dataset') {
      for (const [key, item] of Object.entries(value)) if (item !== undefined && item !== null) element.dataset[key] = item;
    } else if (name === 'aria') {
      for (const [key, item] of Object.entries(value)) {
        if (item !== undefined && item !== null) element.setAttribute(`aria-${key}`, String(item));
      }
    } else if (name === 'style') {
      for (const [key, item] of Object.entries(value)) element.style.setProperty(key, String(item));
    } else if (name === 'class') {
      const names = Array.isArray(value) ? value.filter(Boolean).join(' ') : value;
      if (names) element.setAttribute('class', names);
    } else if (AS_PROPERTY.has(name) && name in element) {
      element[name] = value;
    } else if (/^on/i.test(name)) {
      throw new TypeError(`Listeners go into "on", not "${name}".`);
    } else if (name === 'href' && !SAFE_ADDRESS.test(value)) {
      continue; // Never javascript: or data:, whatever the data say.
    } else if (value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/** Adds children: text, numbers, nodes and arrays of them; null, undefined, true and false are left out. */
export function append(element, ...children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === true) continue;
    if (Array.isArray(child)) append(element, ...child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/**
 * Makes an element: h('a', {class: 'quiet', href: '/console/', on: {click: fn}, aria: {label: 'Home'}}, 'Home').
 * Properties may be left out: h('p', 'text'). `style` takes CSS properties; `class` takes text or an array.
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  if (isProps(props)) setProps(element, props);
  else children.unshift(props);
  append(element, ...children);
  // What a select shows can be set only once its options are there.
  if (tag === 'select' && isProps(props) && props.value !== undefined) element.value = props.value;
  return element;
}

/** The same as `h`, for the elements of a drawing. */
export function s(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  if (isProps(props)) setProps(element, props);
  else children.unshift(props);
  return append(element, ...children);
}

/** Takes everything out of a node. */
export function clear(node) {
  node.replaceChildren();
  return node;
}

/** Puts these children in place of what a node held. */
export function fill(node, ...children) {
  return append(clear(node), ...children);
}

/** Sets a node's text, and touches it only if it is another. */
export function text(node, string) {
  const wanted = String(string);
  if (node.textContent !== wanted) node.textContent = wanted;
  return node;
}

// Control characters, zero-width and bidi characters, separators of lines, lone surrogates.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Makes visible what would not be seen: controls as ␛, others as ⟨U+202E⟩; `lines: true` keeps line breaks and tabs. */
export function shown(string, { lines = false } = {}) {
  return String(string).replace(UNSEEN, (found) => {
    const code = found.charCodeAt(0);
    if (lines && (code === 10 || code === 9)) return found;
    if (code < 32) return String.fromCharCode(0x2400 + code);
    if (code === 127) return '\u2421';
    if (code === 0x200d) return found; // It joins emoji.
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
  });
}

/** The text cut at so many characters, never inside one; what is left out is told by "…". */
export function cut(string, length = 80) {
  const whole = String(string);
  if (whole.length <= length) return whole;
  const end = /[\ud800-\udbff]/.test(whole[length - 1]) ? length - 1 : length;
  return `${whole.slice(0, end)}…`;
}

/** A path or an id for an address: every segment encoded, slashes kept. */
export function encodePath(path) {
  return String(path).split('/').map(encodeURIComponent).join('/').replace(/%3A/g, ':').replace(/%40/g, '@');
}

/** Calls once, after the last of many calls is `delay` milliseconds old. `.cancel()` forgets the call. */
export function later(delay, action) {
  let timer = 0;
  const wrapped = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), delay);
  };
  wrapped.cancel = () => clearTimeout(timer);
  return wrapped;
}

let serial = 0;
/** A name for an element that is used once in the page. */
export const uniqueId = (name) => `${name}-${(serial += 1)}`;

const sheets = new Map();
/** Loads a style sheet, once; resolves when it is there, or cannot be had. */
export function sheet(name) {
  if (!sheets.has(name)) {
    sheets.set(name, new Promise((done) => {
      document.head.append(h('link', { rel: 'stylesheet', href: new URL(name, import.meta.url).href, on: { load: done, error: done } }));
    }));
  }
  return sheets.get(name);
}
