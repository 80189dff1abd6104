/** The tokens of dry runs, with a clock that the test moves. */

import { expect, test } from "bun:test";
import { createConfirmations } from "../../../src/modules/mcp/confirmations.ts";
import { manualClock } from "../../support/clock.ts";

const change = (email: string) => ({ tool: "add_suppression", args: { email } });

test("the order of arguments makes no difference, and their values do", () => {
  const tokens = createConfirmations(manualClock())("project");
  const { token } = tokens.issue({
    tool: "send",
    args: { to: "a", subject: "b", from: undefined },
  });
  const wrong = { tool: "send", args: { to: "b", subject: "a" } };
  expect(() => tokens.redeem(token, wrong)).toThrow("not one of a dry run with these arguments");
  const right = { tool: "send", args: { subject: "b", to: "a" } };
  expect(tokens.redeem(token, right).nonce).toHaveLength(16);
});

test("a token of another process is not valid", () => {
  const clock = manualClock();
  const { token } = createConfirmations(clock)("project").issue(change("a@example.com"));
  const other = createConfirmations(clock)("project");
  expect(() => other.redeem(token, change("a@example.com"))).toThrow("not one of a dry run");
});

test("a project makes 500 changes in ten minutes, and takes no share of another one", () => {
  const clock = manualClock();
  const confirmations = createConfirmations(clock);
  const [busy, other] = [confirmations("busy"), confirmations("other")];
  const makeChange = (of: typeof busy) => {
    const { token } = of.issue(change("a@example.com"));
    return of.redeem(token, change("a@example.com"));
  };
  for (let n = 0; n < 500; n++) makeChange(busy);
  expect(() => makeChange(busy)).toThrow("500 changes were made in ten minutes");
  expect(makeChange(other).nonce).toHaveLength(16);
  clock.advance(10 * 60_000);
  expect(makeChange(busy).nonce).toHaveLength(16);
});
