import { expect, test } from "bun:test";
import {
  enabledWebhook,
  forgetWebhooks,
  hasNoWebhook,
} from "../../../src/modules/webhooks/webhooks.ts";
import { bareApp } from "../../support/bare-app.ts";
import { openOutbox } from "../../support/outbox.ts";

test("the cache shows the writes of a change at once, and forgets them after a rollback", () => {
  const { db } = openOutbox();
  const app = bareApp(db);
  const state = () => [hasNoWebhook(app), enabledWebhook(app, 1)?.matches("a") ?? false];
  const enable = (yes: number) => {
    db.sqlite.run("UPDATE webhooks SET is_enabled = ?", [yes]);
    forgetWebhooks(app);
  };
  expect(state()).toEqual([true, false]);
  db.sqlite.run(`
    INSERT INTO webhooks (id, project_seq, url, events, is_enabled, secret, start_seq, created_at,
      updated_at)
    VALUES ('w', 1, 'https://a.test/', '["a"]', 0, x'00', 0, 0, 0)`);
  for (const [end, isCommitted] of [
    ["ROLLBACK", false],
    ["COMMIT", true],
  ] as const) {
    db.sqlite.run("BEGIN IMMEDIATE");
    enable(1);
    expect(state()).toEqual([false, true]);
    db.sqlite.run(end);
    expect(state()).toEqual([!isCommitted, isCommitted]);
  }
  db.sqlite.run("BEGIN IMMEDIATE");
  enable(0);
  expect(state()).toEqual([true, false]);
  db.sqlite.run("ROLLBACK");
  expect(state()).toEqual([false, true]);
});
