// JSON as it was written: members keep their order, integers beyond 2^53 stay exact, `__proto__` is a key like others.

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\n\r]*/y;
const DEEPEST = 5000;

class Reader {
  constructor(source, options) {
    this.source = source;
    this.at = 0;
    this.depth = 0;
    this.plain = options.plain === true;
    this.trees = new Set(options.trees ?? []);
  }

  fail(expected) {
    const found = this.at < this.source.length ? `"${this.source[this.at]}"` : 'the end';
    const before = this.source.slice(0, this.at).split('\n');
    const where = before.length > 1 ? `line ${before.length}, column ${before.at(-1).length + 1}` : `character ${this.at + 1}`;
    throw Object.assign(new SyntaxError(`${expected} expected at ${where}, found ${found}.`), { position: this.at });
  }

  space() {
    SPACE.lastIndex = this.at;
    SPACE.test(this.source);
    this.at = SPACE.lastIndex;
  }

  value() {
    this.space();
    switch (this.source[this.at]) {
      case '{': return this.nested(() => (this.plain ? this.plainObject() : this.map()));
      case '[': return this.nested(() => this.array());
      case '"': return this.string();
      case 't': return this.word('true', true);
      case 'f': return this.word('false', false);
      case 'n': return this.word('null', null);
      default: return this.number();
    }
  }

  nested(read) {
    this.depth += 1;
    if (this.depth > DEEPEST) this.fail('Less than 5,000 levels');
    const result = read();
    this.depth -= 1;
    return result;
  }

  word(word, value) {
    if (!this.source.startsWith(word, this.at)) this.fail('A value');
    this.at += word.length;
    return value;
  }

  number() {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.source);
    if (!match) this.fail('A value');
    this.at = NUMBER.lastIndex;
    const number = Number(match[0]);
    if (match[1] === undefined && match[2] === undefined && !Number.isSafeInteger(number)) return BigInt(match[0]);
    return number;
  }

  string() {
    const { source } = this;
    let end = source.indexOf('"', this.at + 1);
    for (; end >= 0; end = source.indexOf('"', end + 1)) {
      let slashes = 0;
      while (source[end - 1 - slashes] === '\\') slashes += 1;
      if (slashes % 2 === 0) break;
    }
    if (end < 0) this.fail('The end of a text');
    const quoted = source.slice(this.at, end + 1);
    let result;
    try {
      result = JSON.parse(quoted);
    } catch {
      this.fail('A text without bare line breaks and with known escapes');
    }
    this.at = end + 1;
    return result;
  }

  members(add) {
    this.at += 1;
    this.space();
    if (this.source[this.at] === '}') {
      this.at += 1;
      return;
    }
    for (;;) {
      this.space();
      if (this.source[this.at] !== '"') this.fail('A key in quotes');
      const key = this.string();
      this.space();
      if (this.source[this.at] !== ':') this.fail('":"');
      this.at += 1;
      add(key);
      this.space();
      const next = this.source[this.at];
      if (next !== ',' && next !== '}') this.fail('"," or "}"');
      this.at += 1;
      if (next === '}') return;
    }
  }

  map() {
    const result = new Map();
    this.members((key) => result.set(key, this.value()));
    return result;
  }

  plainObject() {
    const result = Object.create(null);
    this.members((key) => {
      const isTree = this.trees.has(key);
      if (isTree) this.plain = false;
      result[key] = this.value();
      if (isTree) this.plain = true;
    });
    return result;
  }

  array() {
    const result = [];
    this.at += 1;
    this.space();
    if (this.source[this.at] === ']') {
      this.at += 1;
      return result;
    }
    for (;;) {
      result.push(this.value());
      this.space();
      const next = this.source[this.at];
      if (next !== ',' && next !== ']') this.fail('"," or "]"');
      this.at += 1;
      if (next === ']') return result;
    }
  }
}

/**
 * Reads JSON. Objects become `Map`s in their order, integers that a number cannot hold become `BigInt`.
 * `{plain: true}` makes null-prototype objects instead; `trees: ['before', 'after']` names members that stay `Map`s below.
 * A fault is a SyntaxError with a sentence and `position`.
 */
export function parse(text, options = {}) {
  const reader = new Reader(String(text), options);
  const value = reader.value();
  reader.space();
  if (reader.at < reader.source.length) reader.fail('The end');
  return value;
}

/** Whether a value is an object of the tree (or of a plain answer), not an array, not a leaf. */
export function isObject(value) {
  return value instanceof Map || (value !== null && typeof value === 'object' && !Array.isArray(value));
}

/** The members of an object as [key, value] pairs, in order; of anything else, none. */
export function entries(value) {
  if (value instanceof Map) return [...value];
  return isObject(value) ? Object.entries(value) : [];
}

/** What stands below these names; undefined where there is nothing. */
export function get(value, ...names) {
  let here = value;
  for (const name of names) {
    if (here instanceof Map) here = here.get(String(name));
    else if (here !== null && typeof here === 'object' && Object.hasOwn(here, name)) here = here[name];
    else return undefined;
  }
  return here;
}

function leaf(value) {
  switch (typeof value) {
    case 'bigint': return value.toString();
    case 'number': return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? String(value) : 'null';
    case 'string': return JSON.stringify(value);
    case 'boolean': return String(value);
    default: return 'null';
  }
}

/** Writes a value as JSON, exactly; `indent` is a number of spaces, or nothing for one line. */
export function write(value, indent = 0) {
  const out = [];
  const step = ' '.repeat(indent);
  const put = (item, margin) => {
    const isArray = Array.isArray(item);
    if (!isArray && !isObject(item)) return void out.push(leaf(item));
    const inner = margin + step;
    const list = isArray ? item.map((child) => [null, child]) : entries(item).filter(([, child]) => child !== undefined);
    if (list.length === 0) return void out.push(isArray ? '[]' : '{}');
    out.push(isArray ? '[' : '{');
    list.forEach(([key, child], index) => {
      if (index > 0) out.push(',');
      if (indent > 0) out.push('\n', inner);
      if (!isArray) out.push(JSON.stringify(key), indent > 0 ? ': ' : ':');
      put(child, inner);
    });
    if (indent > 0) out.push('\n', margin);
    out.push(isArray ? ']' : '}');
  };
  put(value, '');
  return out.join('');
}

/** Whether two values are the same JSON; the order of members does not count. */
export function same(one, other) {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => same(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const mine = entries(one);
  return mine.length === entries(other).length && mine.every(([key, item]) => same(item, get(other, key)));
}
