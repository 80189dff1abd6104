/**
 * Tools that send mail or change something. They exist only on a server that was started with
 * --mcp-changes. Without a token a tool makes a dry run: it says what it would do, and returns a
 * token with which the next call does it (confirmations.ts).
 */

import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { isRecord } from "../../http/validation.ts";
import { type ApiClient, apiPath, ToolRefusal } from "./api-client.ts";
import { readSuppression } from "./operator-tools.ts";
import { argumentsOf, inWords, pickMembers, type Tool, toolInput } from "./tool.ts";

const Email = Type.String({ minLength: 3, maxLength: 320, description: "Address" });
const CampaignId = Type.String({ minLength: 1, maxLength: 100, description: "Id of the campaign" });
const Token = Type.Optional(
  Type.String({
    maxLength: 100,
    description: "Token of the dry run; without it, this is a dry run",
  }),
);

/** The operations that these tools call. */
export const CHANGES = [
  "POST /v1/send",
  "POST /suppressions",
  "DELETE /suppressions/:email",
  "POST /campaigns/:id/pause",
  "POST /campaigns/:id/resume",
] as const;

type ChangeTool<Input extends TObject> = {
  name: string;
  description: string;
  /** The operation that makes the change; a key that may not call it gets no token. */
  operation: (typeof CHANGES)[number];
  input: Input;
  /** Says what the change would do. Throws a ToolRefusal if it would be refused. */
  plan: (api: ApiClient, given: Static<Input>) => Promise<unknown>;
  /** Makes the change. `id` belongs to the token, so no other call has it. */
  apply: (api: ApiClient, given: Static<Input>, id: string) => Promise<unknown>;
};

function changeTool<Input extends TObject>(tool: ChangeTool<Input>): Tool {
  const { name, description, operation, input, plan, apply } = tool;
  const properties: TProperties = input.properties;
  return {
    name,
    description: `${description} The first call is a dry run; repeat it with the token that it returns.`,
    input: toolInput({ ...properties, token: Token }),
    needsKey: true,
    isChange: true,
    async run({ api, confirmations }, given) {
      const { token, ...args } = isRecord(given) ? given : {};
      const checked = argumentsOf(input, args);
      if (token === undefined) {
        await api.get("/mcp/permissions", { operation });
        const planned = await plan(api, checked);
        return { dryRun: true, plan: planned, ...confirmations.issue({ tool: name, args }) };
      }
      const { nonce } = confirmations.redeem(inWords(token), { tool: name, args });
      return { dryRun: false, result: await apply(api, checked, nonce) };
    },
  };
}

export const changeTools: readonly Tool[] = [
  changeTool({
    name: "send_test_mail",
    description: "Send one mail to one address.",
    operation: "POST /v1/send",
    input: toolInput({
      to: Email,
      subject: Type.String({ minLength: 1, maxLength: 998, description: "Liquid template" }),
      html: Type.String({
        minLength: 1,
        maxLength: 100_000,
        description: "Liquid template of the body",
      }),
      from: Type.Optional({ ...Email, description: "Default: the sender of the project" }),
    }),
    async plan(api, { to, from, subject }) {
      if ((await readSuppression(api, to)) !== null) {
        throw new ToolRefusal(`${to} is suppressed, so no mail is sent to it.`);
      }
      return { sends: 1, to, from: from ?? "the sender of the project", subject };
    },
    async apply(api, { html, ...mail }, id) {
      const headers = { "idempotency-key": `mcp-${id}` };
      return pickMembers(await api.post("/v1/send", { ...mail, body: html }, headers), ["emails"]);
    },
  }),
  changeTool({
    name: "add_suppression",
    description: "Suppress an address: the project sends it no mail any more.",
    operation: "POST /suppressions",
    input: toolInput({ email: Email }),
    async plan(api, { email }) {
      return { suppresses: email, before: await readSuppression(api, email) };
    },
    apply: (api, { email }) => api.post("/suppressions", { email }),
  }),
  changeTool({
    name: "remove_suppression",
    description: "Remove the suppression of an address: mail is sent to it again.",
    operation: "DELETE /suppressions/:email",
    input: toolInput({ email: Email }),
    async plan(api, { email }) {
      const before = await readSuppression(api, email);
      if (before === null) throw new ToolRefusal(`${email} is not suppressed.`);
      return { removes: before };
    },
    async apply(api, { email }) {
      await api.remove(apiPath`/suppressions/${email}`);
      return { email, suppressed: false };
    },
  }),
  changeTool({
    name: "pause_campaign",
    description: "Pause a campaign that is being sent.",
    operation: "POST /campaigns/:id/pause",
    input: toolInput({ id: CampaignId }),
    plan: (api, { id }) => planStatus(api, id, "SENDING"),
    apply: async (api, { id }) => shownCampaign(await api.post(apiPath`/campaigns/${id}/pause`)),
  }),
  changeTool({
    name: "resume_campaign",
    description: "Go on with the sending of a campaign that is paused.",
    operation: "POST /campaigns/:id/resume",
    input: toolInput({ id: CampaignId }),
    plan: (api, { id }) => planStatus(api, id, "PAUSED"),
    apply: async (api, { id }) => shownCampaign(await api.post(apiPath`/campaigns/${id}/resume`)),
  }),
];

const shownCampaign = (campaign: unknown) =>
  pickMembers(campaign, ["id", "name", "status", "statusReason"]);

async function planStatus(api: ApiClient, id: string, needed: "SENDING" | "PAUSED") {
  const campaign = shownCampaign(await api.get(apiPath`/campaigns/${id}`));
  if (campaign["status"] !== needed) {
    throw new ToolRefusal(`The campaign is ${inWords(campaign["status"])}, not ${needed}.`);
  }
  const stats = await api.get(apiPath`/campaigns/${id}/stats`);
  return { campaign, ...pickMembers(stats, ["totalRecipients", "sent", "queued"]) };
}
