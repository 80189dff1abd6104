/** Logins in settings: plain passwords and the digests of htpasswd. */

import { expect, spyOn, test } from "bun:test";
import { createLoginCheck, parseLogins } from "../../src/lib/logins.ts";

const BCRYPT = Bun.password.hashSync("open sesame", { algorithm: "bcrypt", cost: 4 });

function checkOf(text: string) {
  const parsed = parseLogins(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return createLoginCheck(parsed.logins);
}

test.each([
  ["ada:secret", "ada", "secret", true],
  ["ada:secret", "ada", "Secret", false],
  ["ada:secret", "Ada", "secret", false],
  ["ada:secret", "ada", "", false],
  ["ada:a:b", "ada", "a:b", true],
  ["ada:1 bob:2", "bob", "2", true],
  ["ada:1 bob:2", "bob", "1", false],
  ["# users\nada:1\n\nbob:2\n", "bob", "2", true],
  ["ada:1 ada:2", "ada", "2", true],
  [`ada:${BCRYPT}`, "ada", "open sesame", true],
  [`ada:${BCRYPT}`, "ada", BCRYPT, false],
  [`ada:${BCRYPT.replace("$2b$", "$2y$")}`, "ada", "open sesame", true],
  ["ada:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "ada", "password", true],
  ["ada:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "ada", "other", false],
])("%s admits %s with %s: %p", async (text, user, password, isAdmitted) => {
  const isLogin = checkOf(text);
  expect(await isLogin(user, password, "192.0.2.1")).toBe(isAdmitted);
  expect(await isLogin(user, password, "192.0.2.1")).toBe(isAdmitted);
});

test("one network cannot keep others from the check of digests", async () => {
  const isLogin = checkOf(`ada:${BCRYPT}`);
  using verify = spyOn(Bun.password, "verify");
  const same = await Promise.all(
    Array.from({ length: 100 }, () => isLogin("ada", "open sesame", "192.0.2.1")),
  );
  expect([new Set(same), verify.mock.calls.length]).toEqual([new Set([true]), 1]);
  const wrong = Array.from({ length: 100 }, (_, n) => isLogin("ada", `wrong ${n}`, "192.0.2.1"));
  const crowd = Promise.allSettled(wrong);
  expect(await isLogin("ada", "wrong", "198.51.100.7")).toBe(false);
  expect(verify.mock.calls.length).toBeLessThan(10);
  const refused = (await crowd).filter(({ status }) => status === "rejected");
  expect(refused.length).toBe(100 - 1 - 39);
});

test.each([
  ["", "there is no user"],
  ["# nobody", "there is no user"],
  ["ada", "user 1 has no password"],
  ["ada:", "user 1 has no password"],
  ["ada:x :y", "entry 2 has no user"],
  ["ada:$apr1$x$y", "the password of user 1 is a digest of another kind than bcrypt (htpasswd -B)"],
  ["ada:{SSHA}xyz", "the password of user 1 is a digest of another kind than bcrypt (htpasswd -B)"],
  [`ada:${BCRYPT.replace("$04$", "$13$")}`, "the bcrypt cost of user 1 is more than 12"],
])("%p is refused: %s", (text, reason) => {
  expect(parseLogins(text)).toEqual({ ok: false, reason });
});
