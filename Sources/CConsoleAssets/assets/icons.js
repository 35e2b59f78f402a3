// The icons: outlines of 16 by 16, drawn in the colour of the text around them, of no meaning to readers of the page.

import { s } from './dom.js';

const PATHS = {
  overview: 'M2 2h5v5H2z M9 2h5v5H9z M2 9h5v5H2z M9 9h5v5H9z',
  data: 'M2 3h5 M4 3v10h3 M4 8h3 M9 3h5 M9 8h5 M9 13h5',
  events: 'M9 1 3 9h4l-1 6 6-8H8z',
  rewards: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z M8 5v6 M10 6.2H7.2a1 1 0 0 0 0 1.9h1.6a1 1 0 0 1 0 1.9H6',
  accounts: 'M8 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6z M2 14c0-3 2.5-4.5 6-4.5s6 1.5 6 4.5',
  rules: 'M8 1.5 3 3.5V8c0 3 2 5.2 5 6.5 3-1.3 5-3.5 5-6.500V3.500z M5.5 8l2 2 3-3.5',
  links: 'M7 9a3 3 0 0 0 4.2.2l2-2a3 3 0 0 0-4.3-4.200L8 4 M9 7a3 3 0 0 0-4.2-.2l-2 2a3 3 0 0 0 4.3 4.200L8 12',
  messages: 'M2 3h12v8H7l-3 3v-3H2z',
  functions: 'M10.5 2.500c-2 0-2.5 1-2.8 3L6.5 11c-.3 2-1 2.5-2.5 2.5 M4.5 6.500h6 M10 9.500l4 4 M14 9.500l-4 4',
  settings: 'M2 4.500h6 M12 4.500h2 M10 2.500v4 M2 11.500h2 M8 11.500h6 M6 9.500v4',
  audit: 'M3 2h10v12H3z M5.5 5h5 M5.5 8h5 M5.5 11h3',
  copy: 'M5 5h9v9H5z M2 11V2h9',
  close: 'M3 3l10 10 M13 3 3 13',
  down: 'M4 6l4 4 4-4',
  left: 'M10 4 6 8l4 4',
  plus: 'M8 3v10 M3 8h10',
  edit: 'M2 14l1-4 8-8 3 3-8 8z',
  download: 'M8 2v8 M5 7l3 3 3-3 M2 13h12',
};

/** An icon by its name; an unknown name gives a dot. */
export function icon(name) {
  return s('svg', {
    class: 'icon', viewBox: '0 0 16 16', width: 16, height: 16, aria: { hidden: 'true' }, focusable: 'false',
  }, s('path', { d: PATHS[name] ?? 'M8 8h.01' }));
}
