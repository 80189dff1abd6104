import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { matcherOf } from "../../../src/modules/webhooks/patterns.ts";
import { nextTryAt } from "../../../src/lib/backoff.ts";
import { DELIVERY_BACKOFF, isFailingTooLong } from "../../../src/modules/webhooks/schedule.ts";
import {
  makeSecret,
  OVERLAP_MS,
  signedHeaders,
  signingKeysOf,
  type StoredSecrets,
  UnreadableSecretError,
} from "../../../src/modules/webhooks/secrets.ts";
import { adjustDeliveryLimit, deliveryLimit } from "../../../src/modules/webhooks/concurrency.ts";
import { bareApp } from "../../support/bare-app.ts";
import { migratedDatabase } from "../../support/database.ts";

const newApp = () => bareApp(migratedDatabase());
import { DAY, SECOND } from "./setup.ts";

describe("patterns", () => {
  test.each<[patterns: string[], name: string, isMatch: boolean]>([
    [["*"], "anything", true],
    [["email.sent"], "email.sent", true],
    [["email.sent"], "email.sent2", false],
    [["email.sent"], "Email.sent", false],
    [["email.*"], "email.sent", true],
    [["email.*"], "email.", true],
    [["email.*"], "email", false],
    [["order*"], "orders", true],
    [["order*"], "order", true],
    [["a.b", "segment.*"], "segment.vip.entry", true],
    [["a.b", "segment.*"], "a.c", false],
    [["a.*", "a.b"], "a.b", true],
    [["(a|b)*"], "a", false],
    [[], "a", false],
  ])("%j matches %s: %p", (patterns, name, isMatch) => {
    expect(matcherOf(patterns)(name)).toBe(isMatch);
  });
});

describe("the concurrency limit of a webhook", () => {
  const after = (...results: boolean[]) => {
    const app = newApp();
    for (const isDelivered of results) adjustDeliveryLimit(app, 1, isDelivered);
    return deliveryLimit(app, 1);
  };

  test("is 8 before the first try, doubles after a success, and is at most 16", () => {
    expect([after(), after(true), after(true, true)]).toEqual([8, 16, 16]);
  });

  test("is halved after a failure, and is at least 1", () => {
    expect([after(false), after(false, false, false, false, false)]).toEqual([4, 1]);
    expect(after(false, false, false, true)).toBe(2);
  });

  test("is not changed by the tries of another webhook", () => {
    const app = newApp();
    adjustDeliveryLimit(app, 1, false);
    expect(deliveryLimit(app, 2)).toBe(8);
  });
});

describe("the schedule", () => {
  const delays = (random: number) => {
    const times: number[] = [];
    for (let attempts = 1; ; attempts++) {
      const at = nextTryAt(DELIVERY_BACKOFF, {
        tries: attempts,
        now: 0,
        retryAfterMs: null,
        random,
      });
      if (at === null) return times;
      times.push(at);
    }
  };

  test("has eight tries in about a day", () => {
    const all = delays(0.5);
    expect(all).toEqual([10, 60, 300, 1_800, 7_200, 21_600, 54_000].map((s) => s * SECOND));
    const whole = all.reduce((a, b) => a + b, 0);
    expect(whole).toBeGreaterThan(0.9 * DAY);
    expect(whole).toBeLessThan(1.1 * DAY);
  });

  test("varies the delays by a tenth", () => {
    expect(delays(0)[1]).toBe(54 * SECOND);
    expect(delays(0.999_999)[1]).toBeCloseTo(66 * SECOND, -2);
  });

  test.each([
    [1, 60_000, 60_000],
    [1, 5_000, 10_000],
    [1, 400 * DAY, DAY],
    [8, 60_000, null],
  ])("after try %i with a Retry-After of %i ms waits %p ms", (attempts, hint, expected) => {
    const failed = { tries: attempts, now: 0, retryAfterMs: hint, random: 0.5 };
    expect(nextTryAt(DELIVERY_BACKOFF, failed)).toBe(expected);
  });

  test("disables a webhook after five days of failures", () => {
    expect(isFailingTooLong(0, 5 * DAY - 1)).toBe(false);
    expect(isFailingTooLong(0, 5 * DAY)).toBe(true);
  });
});

describe("secrets", () => {
  const app = newApp();
  const secrets = {
    make: () => makeSecret(app),
    keysOf: (row: StoredSecrets, now: number) => signingKeysOf(app, row, now),
  };
  const message = { id: "id-1", body: '{"ü":1}' };

  test("have 24 random bytes and are sealed", () => {
    const [one, two] = [secrets.make(), secrets.make()];
    const bytes = Buffer.from(one.text.slice("whsec_".length), "base64");
    expect(one.text).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(bytes.length).toBe(24);
    expect(one.sealed.includes(bytes)).toBe(false);
    expect(two.text).not.toBe(one.text);
  });

  test("create signatures that the package standardwebhooks accepts, and rejects after any change", () => {
    const { text, sealed } = secrets.make();
    const now = Date.now();
    const keys = secrets.keysOf({ secret: sealed, previousSecret: null, previousUntil: null }, now);
    const headers = signedHeaders(message, keys, now);
    const peer = new Webhook(text);
    expect(peer.verify(message.body, headers)).toEqual({ ü: 1 });
    expect(peer.sign(message.id, new Date(now), message.body)).toBe(
      headers["webhook-signature"] ?? "",
    );
    expect(() => peer.verify(`${message.body} `, headers)).toThrow("signature");
    expect(() => peer.verify(message.body, { ...headers, "webhook-id": "id-2" })).toThrow();
  });

  test("sign together during the overlap after a rotation, newest first", () => {
    const [before, after] = [secrets.make(), secrets.make()];
    const row = { secret: after.sealed, previousSecret: before.sealed, previousUntil: OVERLAP_MS };
    const during = signedHeaders(message, secrets.keysOf(row, OVERLAP_MS - 1), Date.now());
    const signatures = during["webhook-signature"]?.split(" ");
    expect(signatures?.length).toBe(2);
    for (const { text } of [before, after]) {
      expect(new Webhook(text).verify(message.body, during)).toEqual({ ü: 1 });
    }
    const later = signedHeaders(message, secrets.keysOf(row, OVERLAP_MS), Date.now());
    expect(new Webhook(after.text).verify(message.body, later)).toEqual({ ü: 1 });
    expect(() => new Webhook(before.text).verify(message.body, later)).toThrow("signature");
  });

  test("of another installation cannot be decrypted", () => {
    const { sealed } = makeSecret({ ...app, secret: "another secret, long enough to be taken" });
    const row = { secret: sealed, previousSecret: null, previousUntil: null };
    expect(() => secrets.keysOf(row, 0)).toThrow(UnreadableSecretError);
  });
});
