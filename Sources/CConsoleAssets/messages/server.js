// What the client of in-app messages keeps, asks and tells: its installation, the log, the clock.

const DAY = 864e5;

export const own = (object, name) => object && Object.hasOwn(object, name) ? object[name] : undefined;
const same = (test) => (a, b) => typeof a === typeof b && test(a, b);
const OPERATORS = {
  "==": (a, b) => a === b, "!=": (a, b) => a !== undefined && a !== b, in: (a, b) => Array.isArray(b) && b.includes(a),
  "<": same((a, b) => a < b), "<=": same((a, b) => a <= b), ">": same((a, b) => a > b), ">=": same((a, b) => a >= b),
  exists: (a, b) => (a !== undefined) === b,
};
/** Whether an event's parameters are what a campaign asks for. What is unknown here never holds. */
export const holds = (where, params) => Object.entries(where ?? {}).every(([name, asked]) => {
  const value = own(params, name);
  if (asked === null || typeof asked !== "object") return value === asked;
  return Object.keys(asked).length > 0 && Object.entries(asked).every(([test, operand]) => own(OPERATORS, test)?.(value, operand) ?? false);
});

/** Calls once after so many milliseconds in which nothing pauses it. */
export class Watch {
  constructor(left, done) {
    Object.assign(this, { left, reasons: new Set(), done: () => { this.reasons.add("over"); done(); } });
  }
  pause(reason, pauses) {
    if (reason) this.reasons[pauses ? "add" : "delete"](reason);
    if (this.timer) clearTimeout(this.timer), this.left -= performance.now() - this.since;
    this.since = performance.now();
    this.timer = this.reasons.size ? 0 : setTimeout(this.done, Math.max(0, this.left));
  }
}

/** Speaks to a server of `options`. What is kept lies in the browser's storage, after consent alone. */
export class Server {
  constructor(options) {
    this.options = options;
    this.place = `doubloon ${options.server} ${options.app}`;
    this.project = `/v1/projects/${options.app?.split(":")[1] ?? 1}`;
    try { this.kept = JSON.parse(localStorage.getItem(this.place)) ?? {}; } catch { this.kept = {}; }
  }
  now() { return Date.now() + (this.kept.offset ?? 0); }
  /** How long the server wants to be left alone: it said so with 429 or 503. More than a day nobody waits. */
  get rest() {
    const left = (this.kept.rest ?? 0) - this.now();
    return left > 0 && left <= DAY ? left : 0;
  }
  save() { try { localStorage.setItem(this.place, JSON.stringify(this.kept)); } catch { /* full, or forbidden: this page alone knows */ } }

  async ask(method, path, body, more) {
    const { server, key = "none" } = this.options, url = new URL(path, server), { kept, rest } = this;
    // What is to be forgotten is told at once.
    if (rest && method !== "DELETE") throw Object.assign(new Error(`The server asked for rest: try again in ${Math.ceil(rest / 1000)} s.`), { after: rest });
    url.searchParams.set("key", key);
    const headers = { "Content-Type": "application/json", "X-Doubloon-Client": "web/1", ...more };
    const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body), credentials: "omit", keepalive: path.includes("/log"), signal: AbortSignal.timeout(3e4) });
    const ahead = Date.parse(answer.headers.get("date")) - Date.now();
    if (Math.abs(ahead) > 2000) this.kept.offset = ahead;
    if (answer.status === 401) delete this.kept.token;
    if (answer.ok) return answer.json();
    const after = Math.min(1000 * answer.headers.get("retry-after") || 0, DAY);
    if ([429, 503].includes(answer.status)) {
      kept.rest = this.now() + (after || 6e4);
      if (this.kept === kept) this.save();
    }
    throw Object.assign(new Error(`The server answered ${answer.status}.`), { status: answer.status, after });
  }
  async install() {
    const { kept } = this, path = `${this.project}/installations`;
    if (kept.token && kept.ends > Date.now() + 36e5) return;
    let made = kept.fid && await this.ask("POST", `${path}/${kept.fid}/authTokens:generate`, {}, { Authorization: `FIS_v2 ${kept.refresh}` }).catch(() => undefined);
    if (!made) {
      const bytes = crypto.getRandomValues(new Uint8Array(17));
      bytes[0] = 0x70 | bytes[0] & 15;
      const fid = btoa(String.fromCharCode(...bytes)).slice(0, 22).replaceAll("+", "-").replaceAll("/", "_");
      const answer = await this.ask("POST", path, { fid, appId: this.options.app, authVersion: "FIS_v2", sdkVersion: "w:web/1" });
      Object.assign(kept, { fid: answer.fid, refresh: answer.refreshToken });
      made = answer.authToken;
    }
    Object.assign(kept, { token: made.token, ends: Date.now() + parseInt(made.expiresIn, 10) * 1000 });
  }
  get proof() { return { "x-goog-firebase-installations-auth": this.kept.token }; }
  async bearer() { const { idToken } = this.options; return typeof idToken === "function" ? idToken() : idToken; }


  // What is counted.
  log(one, members, event) {
    if (one.isTestCampaign && !members.event_type) return;
    const event_type = members.event_type && (one.isTestCampaign ? "TEST_MESSAGE_" : "") + members.event_type;
    const { kept } = this, client_timestamp_millis = Math.round(this.now());
    kept.number = (kept.number ?? 0) + 1;
    kept.lines = [...kept.lines ?? [], {
      ...members, event_type, campaign_id: one.id, test: one.isTestCampaign, doubloon_event_id: event, variant: one.more?.variant, client_timestamp_millis,
      doubloon_key: `${client_timestamp_millis}-${kept.number}`,
    }].slice(-1000);
    this.save();
  }
  async upload() {
    const { kept } = this, lines = (kept.lines ?? []).slice(0, 50);
    if (!this.collect || this.sending || this.rest || !lines.length) return;
    this.sending = true;
    const done = (wait) => {
      this.sending = false;
      kept.nextLog = this.now() + wait;
    };
    try {
      await this.install();
      const client_app = { google_app_id: this.options.app, firebase_instance_id: kept.fid };
      const answer = await this.ask("POST", "/v1/messages/log?format=json_proto", {
        client_info: { client_type: 15 }, log_source: "FIREBASE_INAPPMESSAGING", request_time_ms: this.now(),
        log_event: lines.map((line) => ({ event_time_ms: line.client_timestamp_millis, source_extension_json: JSON.stringify({ client_app, fiam_sdk_version: "web/1", ...line }) })),
      }, this.proof).catch((error) => { if (error.status === 400) return {}; throw error; });
      kept.lines = kept.lines.slice(lines.length);
      done(Math.max(3e5, +answer.next_request_wait_millis || 0));
      if (this.kept === kept) this.save();
    } catch ({ after }) { done(after || 36e5); }
  }
  /** The server hears of an event of the game's: for what campaigns call their success. */
  async convert(name, params = {}) {
    if (!this.collect) return;
    await this.install();
    await this.ask("POST", "/v1/messages/conversions", { instance: this.kept.fid, events: [{ name, params, at: this.now(), key: crypto.randomUUID() }] }, this.proof);
  }
}
