// In-app messages of a Doubloon server for web games: const messages = start({ server, key, app, consent: true, idToken }).
// Before consent nothing is asked or kept. Beside this file lies server.js; draw.js and style.css are loaded when a message shows.

import { Server, Watch, holds, own } from "./server.js";

const DAY = 864e5, KINDS = ["banner", "card", "modal", "imageOnly"];

class Messages extends Server {
  constructor(options) {
    super(options);
    Object.assign(this, { suppressed: false, hears: {}, campaigns: [], pending: [], waits: [], failed: new Set(), triggers: ["APP_LAUNCH", "ON_FOREGROUND"] });
    if (this.kept.begun) this.count(this.kept.begun);
    document.addEventListener("visibilitychange", () => this.turn());
    this.turn();
  }
  /** Whether the player agreed; what is set is kept. */
  get collect() { return this.kept.on ?? this.options.consent === true; }
  set collect(on) {
    const { fid, refresh } = this.kept, was = this.collect;
    if (was && !on) {
      this.leave();
      if (fid) this.ask("DELETE", `${this.project}/installations/${fid}`, undefined, { Authorization: `FIS_v2 ${refresh}` }).catch(() => {});
      Object.assign(this, { kept: {}, campaigns: [], pending: [], waits: [] });
    }
    this.kept.on = on;
    this.save();
    this.turn();
  }
  /** Hears "click", "dismiss", "impression" or "error", each with { campaign, data, … }. */
  on(name, hear) { (this.hears[name] ??= []).push(hear); }
  tell(name, one, more) { for (const hear of this.hears[name] ?? []) hear({ campaign: one.id, data: one.data, ...more }); }
  // The page is seen, or not.
  turn() {
    const hidden = document.hidden;
    for (const watch of this.showing?.watches ?? []) watch.pause("hidden", hidden);
    clearInterval(this.clock);
    if (!this.collect) return;
    if (hidden) return void this.upload();
    this.triggers = [...new Set([...this.triggers, "ON_FOREGROUND"])];
    this.clock = setInterval(() => this.tick(), 1000);
    this.tick();
  }
  tick() {
    if (!this.fetching) this.now() >= (this.kept.next ?? 0) ? this.refresh() : this.arrive(this.kept.answer);
    if (this.kept.lines?.length && this.now() >= (this.kept.nextLog ?? 0)) this.upload();
  }
  leave() {
    clearInterval(this.clock);
    this.stream?.close();
    this.end();
    this.stream = this.known = undefined;
  }

  /** Asks for campaigns now: when the player signs in, for one. */
  async refresh() {
    if (!this.collect) return;
    if (this.fetching) return void (this.again = true);
    const { kept, rest } = this;
    if (rest) return void (kept.next = this.now() + rest);
    [this.fetching, this.again] = [true, false];
    try {
      await this.upload();
      await this.install();
      const token = await this.bearer(), { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
      const answer = await this.ask("POST", `/v1/sdkServing/projects/${this.project.split("/")[3]}/eligibleCampaigns:fetch`, {
        requesting_client_app: { gmp_app_id: this.options.app, app_instance_id: kept.fid, app_instance_id_token: kept.token },
        already_seen_campaigns: Object.entries(kept.shown ?? {}).slice(-1000).map(([id, times]) => ({ campaign_id: id, impression_timestamp_millis: times.at(-1) })),
        client_signals: { app_version: this.options.version, language_code: this.options.language ?? navigator.language ?? locale, time_zone: timeZone },
      }, { ...this.proof, ...token && { Authorization: `Bearer ${token}` } });
      if (this.kept !== kept) return;
      const wait = answer.expirationEpochTimestampMillis - this.now();
      Object.assign(kept, { answer, next: this.now() + (wait > 0 && wait <= 3 * DAY ? wait : DAY) });
      this.failures = 0;
      this.save();
      this.listen(token);
      this.arrive(answer);
    } catch (error) {
      this.failures = (this.failures ?? 0) + 1;
      kept.next = this.now() + Math.max(error.after || 0, Math.min(6e4 * 2 ** (this.failures - 1), 96e4));
    } finally {
      this.fetching = false;
    }
    if (this.again) this.refresh();
  }
  listen(token) {
    if (this.stream && this.stream.readyState !== 2 && this.heard === token) return;
    this.stream?.close();
    this.heard = token;
    const url = new URL("/v1/messages/events", this.options.server), { fid, token: own } = this.kept;
    for (const [name, value] of Object.entries({ instance: fid, token: own, key: this.options.key, auth: token })) if (value) url.searchParams.set(name, value);
    const stream = this.stream = new EventSource(url);
    for (const name of ["trigger", "refresh"]) stream.addEventListener(name, () => this.refresh());
    stream.addEventListener("replaced", () => stream.close());
  }

  // What is shown.
  arrive(answer) {
    if (!answer) return;
    const { kept } = this;
    if (this.known !== answer) {
      this.known = answer;
      const tests = (kept.lines ?? []).map((line) => line.test && line.campaign_id);
      this.campaigns = (answer.messages ?? []).map((one) => ({
        ...one.vanillaPayload, ...one.experimentalPayload, ...one, more: one.doubloon ?? {}, data: one.dataBundle,
        id: (one.experimentalPayload ?? one.vanillaPayload)?.campaignId, kind: KINDS.find((kind) => own(one.content, kind)),
      })).filter((one) => one.id && !this.failed.has(one.id) && (one.kind || one.more.control) && !(one.isTestCampaign && tests.includes(one.id)));
      this.pending = (answer.doubloon?.pendingEvents ?? []).filter((event) => !kept.events?.includes(event.id));
      this.settings = { impressionSeconds: 3, bannerSeconds: 12, minInterval: 30, foregroundInterval: 86400, ...answer.doubloon?.settings };
    }
    const test = this.campaigns.find((one) => one.isTestCampaign);
    if (test && !this.showing && !this.suppressed) this.begin(test);
    for (const event of this.pending) {
      const one = this.campaigns.find((one) => one.more.eventId === event.id && this.may(one, { event: { name: `doubloon_${event.name}` } }, event.params));
      if (one && !this.suppressed && this.isApart()) this.begin(one, event.id);
    }
    const waits = this.waits.splice(0);
    for (const { name, params, until } of waits) if (Date.now() < until) this.fire({ event: { name } }, params);
    for (const fiamTrigger of this.triggers.splice(0)) this.fire({ fiamTrigger });
  }
  isApart() { return !this.showing && !(this.now() - (this.kept.last ?? 0) < this.settings.minInterval * 1000); }
  may(one, trigger, params) {
    const times = this.kept.shown?.[one.id] ?? [], { lifetime, caps } = one.more.frequency ?? { lifetime: 1 }, now = this.now();
    const fits = (one.triggeringConditions ?? []).some((asked, at) => (trigger.fiamTrigger ? asked.fiamTrigger === trigger.fiamTrigger : asked.event?.name === trigger.event.name)
      && holds(one.more.where?.[at], params));
    return fits && !one.isTestCampaign && +one.campaignStartTimeMillis <= now && now <= +one.campaignEndTimeMillis && !(times.length >= lifetime)
      && (caps ?? []).every(({ count, days }) => times.filter((time) => time > now - days * DAY).length < count);
  }
  fire(trigger, params = {}) {
    const calm = !trigger.fiamTrigger || !(this.now() - (this.kept.lastTurn ?? 0) < this.settings.foregroundInterval * 1000);
    const one = calm && !document.hidden && this.isApart() && this.campaigns.find((one) => !(trigger.fiamTrigger && one.more.eventId) && this.may(one, trigger, params));
    if (!one) return;
    if (this.suppressed) this.log(one, { event_type: "SUPPRESSED_EVENT_TYPE" });
    else this.begin(one, undefined, trigger.fiamTrigger);
  }
  async begin(one, event, turn) {
    const begun = { id: one.id, event, variant: one.more.variant, test: one.isTestCampaign, time: this.now() };
    if (one.more.control) return this.count(begun, "CONTROL_EVENT_TYPE");
    const showing = this.showing = { one, begun, watches: [] }, content = one.content[one.kind];
    this.campaigns = this.campaigns.filter((other) => other !== one || !one.isTestCampaign);
    try {
      const { draw, load } = await import("./draw.js"), picture = await load(content);
      if (this.suppressed) return void (this.showing = undefined, this.log(one, { event_type: "SUPPRESSED_EVENT_TYPE" }));
      const shown = await draw(one.kind, content, { ...one.more, picture }, (role, url, click) => this.click(showing, role, url, click), (type) => this.dismiss(showing, type));
      if (this.showing !== showing) return shown.remove();
      Object.assign(showing, shown);
    } catch (error) {
      this.showing = undefined;
      // Not again on this page, though the next answer has it too: what follows would never show.
      this.failed.add(one.id);
      this.campaigns = this.campaigns.filter((other) => other.id !== one.id);
      this.log(one, { render_error_reason: "IMAGE_FETCH_ERROR" });
      return this.tell("error", one, { error });
    }
    Object.assign(this.kept, { begun, last: this.now() }, turn && { lastTurn: this.now() });
    this.save();
    this.watch(showing, this.settings.impressionSeconds, () => { this.tell("impression", one); this.count(begun); });
    if (one.kind !== "banner" || this.options.keepBanners) return;
    const watch = this.watch(showing, this.settings.bannerSeconds, () => this.dismiss(showing, "AUTO"));
    for (const [on, off] of [["pointerenter", "pointerleave"], ["focusin", "focusout"]]) {
      showing.box.addEventListener(on, () => watch.pause(on, true));
      showing.box.addEventListener(off, () => watch.pause(on, false));
    }
  }
  watch(showing, seconds, done) {
    const watch = new Watch(seconds * 1000, done);
    showing.watches.push(watch);
    watch.pause("hidden", document.hidden);
    return watch;
  }
  click(showing, role, url, event) {
    const text = event.currentTarget.textContent;
    this.tell("click", showing.one, { role, url, text, event });
    this.count(showing.begun);
    this.log(showing.one, { event_type: "CLICK_EVENT_TYPE", action: role, action_url: url }, showing.begun.event);
    this.end(showing);
    this.upload();
  }
  dismiss(showing, type) {
    if (this.showing !== showing) return;
    this.tell("dismiss", showing.one, { type });
    this.count(showing.begun);
    this.log(showing.one, { dismiss_type: type }, showing.begun.event);
    this.end(showing);
  }
  end(showing = this.showing) {
    for (const watch of showing?.watches ?? []) watch.pause("over", true);
    showing?.remove?.();
    this.showing = undefined;
  }

  // What is counted.
  count(begun, event_type = "IMPRESSION_EVENT_TYPE") {
    if (begun.counted) return;
    begun.counted = true;
    const { kept } = this, { id, event, time, test } = begun;
    delete kept.begun;
    if (event) kept.events = [...kept.events ?? [], event].slice(-200);
    if (event) this.pending = this.pending.filter((one) => one.id !== event);
    if (!test) (kept.shown ??= {})[id] = [...kept.shown[id] ?? [], time].slice(-100);
    this.log({ id, isTestCampaign: test, more: begun }, { event_type }, event);
    if (event || test) this.upload().then(() => this.pending.length && this.refresh());
  }
  /** An event of the game's: shows what waits for it. Before the first answer it waits for that, ten seconds at most. */
  trigger(name, params = {}) {
    if (!this.collect) return;
    if (this.known) return this.fire({ event: { name } }, params);
    if (this.waits.length < 100) this.waits.push({ name, params, until: Date.now() + 1e4 });
    this.tick();
  }
  /** The same, and the server hears of it: for what campaigns call their success. */
  logEvent(name, params = {}) {
    this.trigger(name, params);
    return this.convert(name, params);
  }
}

/** Begins. `options`: server, key, app ("1:NUMBER:web:ID"), consent, idToken (text or function), version, language, keepBanners. */
export const start = (options) => new Messages(options);
