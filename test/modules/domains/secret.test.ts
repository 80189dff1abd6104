import { expect, test } from "bun:test";
import { deriveKey, seal } from "../../../src/lib/crypto.ts";
import { requireReadableKeys } from "../../../src/modules/domains/keys.ts";
import { testApp } from "../../support/app.ts";

const SECRET = "a secret for tests, long enough to be taken";
const OTHER = "another secret, long enough to be taken";

test("refuses a secret that does not open the stored keys; without keys accepts any", async () => {
  const t = await testApp();
  requireReadableKeys(t.db, OTHER);
  await t.call("POST", "/domains", { domain: "mail.example.com" });
  requireReadableKeys(t.db, SECRET);
  expect(() => requireReadableKeys(t.db, OTHER)).toThrow("a stored DKIM key of mail.example.com");
  await t.close();
});

test.each(["ASC", "DESC"])("tests the oldest and the newest key: %s", async (order) => {
  const t = await testApp();
  for (const domain of ["old.example.com", "new.example.com"]) {
    expect((await t.call("POST", "/domains", { domain })).status).toBe(201);
  }
  const sealed = seal(deriveKey(OTHER, "dkim-keys"), Buffer.from("key"));
  t.db.sqlite.run(
    `UPDATE dkim_keys SET private_key = ?
       WHERE seq = (SELECT seq FROM dkim_keys ORDER BY seq ${order} LIMIT 1)`,
    [sealed],
  );
  const domain = order === "ASC" ? "old.example.com" : "new.example.com";
  expect(() => requireReadableKeys(t.db, SECRET)).toThrow(domain);
  await t.close();
});
