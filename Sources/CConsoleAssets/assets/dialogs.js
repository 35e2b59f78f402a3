// What comes over the page: dialogs, questions, messages, the palette. Pages import these from ui.js.

import { h, later, sheet, shown, uniqueId } from './dom.js';
import { icon } from './icons.js';

await sheet('./pages.css');

/**
 * A dialog: dialog({title, body: Node, actions: [{name, value, primary, danger, disabled, run: async () => bool}], wide, fixed}).
 * An action closes with its value, unless its `run` gives false or throws (the fault is shown). `fixed`: Esc does not close it.
 * -> {element, close(value), closed: promise of the value (null: closed without), fault(text), buttons}
 */
export function dialog({ title, body, actions = [{ name: 'Close' }], wide, fixed }) {
  const id = uniqueId('dialog');
  const before = document.activeElement;
  const told = h('p', { class: 'field-fault', role: 'alert', hidden: true });
  let result = null;
  let finish;
  const closed = new Promise((resolve) => { finish = resolve; });
  const close = (value = null) => {
    result = value;
    element.close();
  };
  const fault = (text) => {
    told.textContent = text ? shown(text) : '';
    told.hidden = !text;
  };
  const act = async (action, control) => {
    fault('');
    control.disabled = true;
    try {
      const answer = await action.run?.();
      if (answer !== false) close(action.value ?? (action.run ? answer ?? true : null));
    } catch (error) {
      if (error?.name !== 'AbortError') fault(error.message);
    } finally {
      control.disabled = action.disabled === true;
    }
  };
  const buttons = actions.map((action) => {
    const control = h('button', {
      type: action.primary ? 'submit' : 'button', disabled: action.disabled === true,
      class: ['button', action.primary && 'primary', action.danger && 'danger'],
    }, action.name);
    if (!action.primary) control.addEventListener('click', () => act(action, control));
    return control;
  });
  const form = h('form', {
    method: 'dialog', on: {
      submit: (event) => {
        event.preventDefault();
        const index = actions.findIndex((action) => action.primary);
        if (index >= 0 && !buttons[index].disabled) act(actions[index], buttons[index]);
      },
    },
  }, h('h2', { id }, title), h('div', { class: 'dialog-body' }, body), told, h('div', { class: 'dialog-actions' }, buttons));
  const element = h('dialog', { class: ['dialog', wide && 'wide'], aria: { labelledby: id } }, form);
  element.addEventListener('cancel', (event) => fixed && event.preventDefault());
  element.addEventListener('close', () => {
    element.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
    finish(result);
  });
  document.body.append(element);
  element.showModal();
  return { element, close, closed, fault, buttons };
}

let toasts;

/** Says something at the edge of the page: toast('Copied'), toast(text, {error: true, action: {name: 'Undo', run}, time}). */
export function toast(text, { error, action, time = 8000 } = {}) {
  toasts ??= document.getElementById('toasts');
  const item = h('div', { class: ['toast', error && 'is-error'] },
    h('span', { class: 'shape', aria: { hidden: 'true' } }, error ? '✕' : '●'), h('span', shown(text)));
  let timer = 0;
  const end = () => {
    clearTimeout(timer);
    item.remove();
  };
  if (action) {
    item.append(h('button', {
      type: 'button', class: 'button small', on: {
        click: () => {
          end();
          action.run();
        },
      },
    }, action.name));
  }
  item.append(h('button', { type: 'button', class: 'button quiet small only-icon', aria: { label: 'Close message' }, on: { click: end } }, icon('close')));
  const start = () => {
    clearTimeout(timer);
    if (!error) timer = setTimeout(end, time);
  };
  for (const type of ['pointerenter', 'focusin']) item.addEventListener(type, () => clearTimeout(timer));
  for (const type of ['pointerleave', 'focusout']) item.addEventListener(type, start);
  while (toasts.children.length >= 4) toasts.firstChild.remove();
  toasts.append(item);
  start();
  return end;
}

/** Puts a text on the clipboard, and says so. */
export async function copyText(text) {
  const whole = typeof text === 'function' ? await text() : text;
  try {
    await navigator.clipboard.writeText(whole);
    toast('Copied', { time: 2500 });
  } catch {
    const field = h('textarea', { class: 'input', rows: 6, readonly: true, aria: { label: 'Text to copy' } }, whole);
    dialog({ title: 'Copy this', body: field });
    field.select();
  }
}

/**
 * The palette: palette({sources: async (text) -> [{title, detail, kind, run}], placeholder}). Rows are chosen by arrows and Enter.
 */
export function palette({ sources, placeholder, text = '' }) {
  const id = uniqueId('palette');
  const list = h('div', { class: 'palette-list', role: 'listbox', id, aria: { label: 'Results' } });
  const field = h('input', {
    class: 'palette-input', type: 'text', role: 'combobox', autocomplete: 'off', spellcheck: 'false', placeholder, value: text,
    aria: { label: placeholder, controls: id, expanded: 'true', autocomplete: 'list' },
  });
  const status = h('p', { class: 'palette-none', role: 'status' });
  const element = h('dialog', { class: 'palette', aria: { label: 'Search or jump' } }, field, list, status);
  const before = document.activeElement;
  let hits = [];
  let chosen = 0;
  let asked = '';
  let turn = 0;
  const mark = (index) => {
    chosen = hits.length === 0 ? 0 : (index + hits.length) % hits.length;
    [...list.children].forEach((row, at) => row.setAttribute('aria-selected', String(at === chosen)));
    const row = list.children[chosen];
    if (row) {
      field.setAttribute('aria-activedescendant', row.id);
      row.scrollIntoView({ block: 'nearest' });
    } else field.removeAttribute('aria-activedescendant');
  };
  const take = (hit) => {
    element.close();
    hit?.run();
  };
  const look = async () => {
    const mine = (turn += 1);
    asked = field.value.trim();
    const found = await sources(asked);
    if (mine !== turn || !element.open) return;
    hits = found;
    list.replaceChildren(...hits.map((hit, index) => h('div', {
      class: 'palette-row', role: 'option', id: `${id}-${index}`, on: { click: () => take(hit), pointermove: () => index !== chosen && mark(index) },
    }, h('span', { class: 'palette-kind' }, hit.kind), h('span', { class: 'palette-title' }, shown(hit.title)),
    hit.detail && h('span', { class: 'hint' }, shown(hit.detail)))));
    status.textContent = hits.length === 0 ? 'Nothing found. Try a player, a path, an event, an entry or a key.' : '';
    list.hidden = hits.length === 0;
    mark(0);
  };
  const soon = later(120, look);
  field.addEventListener('input', soon);
  field.addEventListener('keydown', async (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      mark(chosen + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      soon.cancel();
      if (field.value.trim() !== asked) await look();
      take(hits[chosen]);
    }
  });
  element.addEventListener('click', (event) => event.target === element && element.close());
  element.addEventListener('close', () => {
    element.remove();
    if (before?.isConnected && document.activeElement === document.body) before.focus({ preventScroll: true });
  });
  document.body.append(element);
  element.showModal();
  look();
  return element;
}
