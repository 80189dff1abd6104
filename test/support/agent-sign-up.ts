/** Signs up as an agent does when it is asked to: it fills in the form, and reads its code over MCP. */

import type { McpAgent } from "./mcp-agent.ts";
import type { startDemoShop } from "./demo-shop.ts";
import { stringAt, valueAt } from "./json.ts";

type Shop = Pick<ReturnType<typeof startDemoShop>, "signUp" | "confirm">;

/** Returns the code that the agent entered. Throws at the first step that fails. */
export async function signUpAsAgent(agent: McpAgent, shop: Shop, email: string): Promise<string> {
  expectStatus(await shop.signUp(email), 202);
  const query = `to:"${email}" subject:confirm`;
  const waited = await agent.call("wait_for_mail", { query, timeoutSeconds: 20 });
  if (valueAt(waited, "matched") !== true) throw new Error(`no mail to ${email} arrived`);
  const code = stringAt(waited, "mail.codes.0.code");
  expectStatus(await shop.confirm(email, code), 200);
  return code;
}

function expectStatus(status: number, wanted: number): void {
  if (status !== wanted) throw new Error(`the shop answered ${status} instead of ${wanted}`);
}
