/** Sessions: how they begin, which role they give, and when they end. */

import { beforeEach, describe, expect, test } from "bun:test";
import { sha256 } from "../../../src/lib/crypto.ts";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { removeUsers } from "../../support/session.ts";

const DAY_MS = 24 * 60 * 60_000;
const CLIENT = { address: "192.0.2.1", userAgent: "test", earlierSession: null };

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
});

/** Creates a user with a session, and returns a function that finds the session. */
async function signedIn({ email = "ada@example.com", isOwner = false } = {}) {
  const { users, sessions, findSession } = t.app.accounts;
  const { user, text, id } = await t.app.writer.write(() => {
    const user = users.create({ email, name: "Ada", passwordDigest: null, isOwner })();
    const { row, text } = sessions.create({
      userSeq: user.seq,
      signedInBy: "LINK",
      client: CLIENT,
    })();
    return { user, text, id: row.id };
  });
  const find = async () => {
    await new Promise(setImmediate); // Sessions are read once per iteration of the event loop.
    return findSession(sha256(text));
  };
  return { user, text, id, find };
}

describe("a session", () => {
  test("is found by the digest of its cookie, with its user", async () => {
    const { user, find, text } = await signedIn();
    expect(await find()).toMatchObject({
      user: { seq: user.seq, id: user.id, email: "ada@example.com", name: "Ada", isOwner: false },
      confirmedAt: t.clock.now(),
    });
    expect(JSON.stringify(t.contents())).not.toContain(text);
  });

  test("is not found by another value", () => {
    expect(t.app.accounts.findSession(sha256("x".repeat(43)))).toBeNull();
  });

  test("ends after 14 days without a request", async () => {
    const { find } = await signedIn();
    t.clock.advance(14 * DAY_MS - 1);
    expect(await find()).not.toBeNull();
    t.clock.advance(14 * DAY_MS - 1);
    expect(await find()).not.toBeNull();
    t.clock.advance(14 * DAY_MS);
    expect(await find()).toBeNull();
  });

  test("ends 90 days after the sign-in although it is used every day", async () => {
    const { find } = await signedIn();
    for (let day = 1; day < 90; day++) {
      t.clock.advance(DAY_MS);
      expect(await find()).not.toBeNull();
    }
    t.clock.advance(DAY_MS);
    expect(await find()).toBeNull();
  });

  test("stores the time of its last request in batches", async () => {
    const { find, user } = await signedIn();
    const { sessions } = t.app.accounts;
    const storedAt = () =>
      t.db.sqlite.query<{ at: number }, []>("SELECT last_seen_at AS at FROM user_sessions").get()
        ?.at;
    const createdAt = t.clock.now();
    t.clock.advance(60_000);
    await find();
    expect(storedAt()).toBe(createdAt);
    expect(sessions.list(user.seq)[0]?.lastSeenAt).toBe(createdAt + 60_000);
    await sessions.flushUses(t.app.writer);
    expect(storedAt()).toBe(createdAt + 60_000);
  });

  test("is removed from the database when it has ended", async () => {
    await signedIn();
    t.clock.advance(14 * DAY_MS + 1);
    await t.app.recurring.find(({ name }) => name === "accounts purge")?.run();
    expect(t.countRows("user_sessions")).toBe(0);
  });
});

test("the hot reads of accounts use an index", () => {
  const planOf = (sql: string) =>
    t.db.sqlite
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join("; ");
  const reads = [
    "SELECT 1 FROM user_sessions s JOIN users u ON u.seq = s.user_seq WHERE s.digest = +'x'",
    "SELECT role FROM memberships WHERE user_seq = +1 AND project_seq = +1",
    "SELECT seq FROM users WHERE is_owner = 1 LIMIT 1",
    "SELECT 1 FROM users WHERE email = 'a'",
    "SELECT 1 FROM users u JOIN memberships m ON m.user_seq = u.seq WHERE m.project_seq = 1 ORDER BY m.seq",
    "SELECT 1 FROM audit WHERE project_seq = 1 AND seq < 9 ORDER BY seq DESC LIMIT 21",
    "SELECT seq FROM audit WHERE at < +1 ORDER BY at LIMIT 500",
    "SELECT 1 FROM user_tokens WHERE digest = 'x' AND kind = 'LINK' AND used_at IS NULL",
    "SELECT 1 FROM user_tokens WHERE kind = 'SETUP' AND used_at IS NULL",
    "SELECT 1 FROM user_tokens WHERE user_seq = 1 AND used_at IS NULL",
    "SELECT 1 FROM user_tokens WHERE project_seq = 1 AND used_at IS NULL ORDER BY seq",
    "SELECT 1 FROM system_mails WHERE next_at <= 1 ORDER BY next_at LIMIT 10",
  ];
  for (const sql of reads) {
    expect([sql, planOf(sql)]).toEqual([
      sql,
      expect.not.stringMatching(
        /SCAN (?!\w+ USING (?:COVERING )?INDEX (?:users_owners|user_tokens_setup))|TEMP/,
      ),
    ]);
  }
});
