// Events as they happen. An `EventSource` cannot send a token, so the stream is read by `fetch`.

import { address, askForToken, headers, parse, problemOf } from "./api.js";

// The server says every 15 seconds that it is still there.
const SILENCE = 40_000;
const SHORTEST = 250;

// A browser has few connections to a server, and those who look at something else need none.
const UNSEEN = 20_000;

// Waits until somebody can see the page.
async function seen(signal) {
  while (document.hidden && !signal.aborted) {
    await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true, signal }));
  }
}
const LONGEST = 5000;

// Splits a stream into its messages, however it is cut into parts.
export class Messages {
  #rest = "";
  #data = [];
  #id;

  // The messages that end in this part.
  add(part) {
    const lines = (this.#rest + part).split("\n");
    this.#rest = lines.pop();
    const messages = [];
    for (const line of lines) {
      const text = line.endsWith("\r") ? line.slice(0, -1) : line;
      if (text === "") {
        if (this.#data.length > 0) messages.push({ id: this.#id, data: this.#data.join("\n") });
        this.#data = [];
        this.#id = undefined;
        continue;
      }
      const colon = text.indexOf(":");
      const field = colon < 0 ? text : text.slice(0, colon);
      const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
      if (field === "data") this.#data.push(value);
      if (field === "id") this.#id = value;
    }
    return messages;
  }
}

// Follows a stream until it is stopped, or the server says that no more follows. It continues after the
// last event that arrived, also when the server was started again.
//
// `onEvents` gets the events that arrived together. `onState` is told "live", "waiting" or "over", and
// "failed" with the problem.
export class Stream {
  #path;
  #listeners;
  #stop = new AbortController();
  #seen;
  #pause = SHORTEST;

  constructor(path, listeners, seen) {
    this.#path = path;
    this.#listeners = listeners;
    this.#seen = seen;
    this.#follow();
  }

  stop() {
    this.#stop.abort();
  }

  async #follow() {
    while (!this.#stop.signal.aborted) {
      await seen(this.#stop.signal);
      let outcome = "waiting";
      try {
        outcome = await this.#once();
      } catch {
        // The connection broke: it is opened again.
      }
      if (this.#stop.signal.aborted) return;
      if (outcome === "over") return this.#listeners.onState("over");
      if (outcome !== "waiting") return this.#listeners.onState("failed", outcome);
      this.#listeners.onState("waiting");
      await new Promise((done) => setTimeout(done, this.#pause * (0.75 + Math.random() / 2)));
      this.#pause = Math.min(LONGEST, this.#pause * 2);
    }
  }

  async #once() {
    const silent = new AbortController();
    let timer;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE);
    };
    const wanted = { accept: "text/event-stream" };
    if (this.#seen !== undefined) wanted["last-event-id"] = this.#seen;
    const signal = AbortSignal.any([this.#stop.signal, silent.signal]);
    let unseen;
    const look = () => {
      clearTimeout(unseen);
      if (document.hidden) unseen = setTimeout(() => silent.abort(), UNSEEN);
    };
    document.addEventListener("visibilitychange", look, { signal });
    look();
    heard();
    try {
      const response = await fetch(address(this.#path), { headers: headers(wanted), signal, cache: "no-store" });
      if (response.status === 204) return "over";
      if (response.status === 401) askForToken();
      if (!response.ok) {
        const isTemporary = response.status >= 500 || response.status === 429;
        return isTemporary ? "waiting" : await problemOf(response);
      }
      this.#listeners.onState("live");
      await this.#read(response.body, heard);
      return "waiting";
    } finally {
      clearTimeout(timer);
      clearTimeout(unseen);
      document.removeEventListener("visibilitychange", look);
    }
  }

  async #read(body, heard) {
    const messages = new Messages();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done || this.#stop.signal.aborted) return;
      heard();
      const arrived = messages.add(value);
      if (arrived.length === 0) continue;
      this.#pause = SHORTEST;
      this.#listeners.onEvents(arrived.map((message) => parse(message.data)));
      for (const { id } of arrived) this.#seen = id ?? this.#seen;
    }
  }
}
