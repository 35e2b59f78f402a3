// A button that opens a menu. What a choice needs of dialogs.js is loaded when it is made.

import { h, uniqueId } from './dom.js';
import { icon } from './icons.js';

/**
 * A button with a menu: menu('Copy', [{name, run, copy, hint}] or () => […], {icon, label, quiet}).
 * -> the element.
 */
export function menu(name, items, { icon: iconName, label, quiet } = {}) {
  const id = uniqueId('menu');
  const list = h('div', { class: 'menu-list', role: 'menu', id, hidden: true, aria: { label: label ?? name } });
  const opener = h('button', {
    type: 'button', class: ['button', quiet && 'quiet', !name && 'only-icon'], title: name ? undefined : label,
    aria: { haspopup: 'menu', expanded: 'false', controls: id, label },
  }, iconName && icon(iconName), name, name && icon('down'));
  const element = h('div', { class: 'menu' }, opener, list);
  const close = (focus) => {
    list.hidden = true;
    opener.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside, true);
    if (focus) opener.focus();
  };
  const outside = (event) => {
    if (!element.contains(event.target)) close(false);
  };
  const open = (last) => {
    const given = typeof items === 'function' ? items() : items;
    list.replaceChildren(...given.filter(Boolean).map((item) => h('button', {
      role: 'menuitem', tabindex: -1, type: 'button', class: 'menu-item', on: {
        click: () => {
          close(true);
          if (item.copy !== undefined) import('./dialogs.js').then(({ copyText }) => copyText(item.copy));
          item.run?.();
        },
      },
    }, item.name, item.hint && h('span', { class: 'hint' }, item.hint))));
    list.hidden = false;
    opener.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', outside, true);
    (last ? list.lastChild : list.firstChild)?.focus();
  };
  opener.addEventListener('click', () => (list.hidden ? open(false) : close(true)));
  element.addEventListener('keydown', (event) => {
    const choices = [...list.children];
    const here = choices.indexOf(document.activeElement);
    if (list.hidden) {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        open(event.key === 'ArrowUp');
      }
      return;
    }
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: choices.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      choices[(to + choices.length) % choices.length].focus();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      close(true);
    } else if (event.key === 'Tab') close(false);
    else if (/^[a-z0-9]$/i.test(event.key) && !event.ctrlKey && !event.metaKey) {
      event.stopPropagation();
      choices.find((item, index) => index > here && item.textContent.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    }
  });
  return element;
}
