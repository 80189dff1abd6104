/** A client of the application inside this process, and a clock that stands where it is set. */

import type { Server } from "../../../src/app.ts";
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import { stringAt } from "../../../test/support/json.ts";

export type SetClock = Clock & { set(epochMs: number): void };

/** A clock that stands at `epochMs` until it is set. Timers run in real time. */
export function setClock(epochMs: number): SetClock {
  let now = Math.floor(epochMs);
  return {
    now: () => now,
    elapsed: () => now - epochMs,
    after: systemClock.after,
    set(to) {
      now = Math.floor(to);
    },
  };
}

export type Api = ReturnType<typeof createApi>;

export function createApi(app: Pick<Server, "handle">, key: string) {
  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(text === null
            ? {}
            : {
                "content-type": "application/json",
                "content-length": `${Buffer.byteLength(text)}`,
              }),
        },
        body: text,
      }),
    );
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
    return answer === "" ? null : JSON.parse(answer);
  }

  return {
    call,

    /** Creates an object and returns its id. */
    create: async (path: string, body: unknown): Promise<string> =>
      stringAt(await call("POST", path, body), "data.id"),

    /** Stores a message in an inbox. */
    async importMessage(inbox: string, raw: Uint8Array): Promise<void> {
      const response = await app.handle(
        new Request(`http://localhost/inboxes/${inbox}/messages`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${key}`,
            "content-type": "message/rfc822",
            "content-length": `${raw.byteLength}`,
          },
          body: raw.slice(),
        }),
      );
      if (!response.ok) throw new Error(`message: ${response.status} ${await response.text()}`);
    },
  };
}
