/** Marketing mail of workflows to contacts who are not in its topic, or who have paused. */

import { expect, test } from "bun:test";
import { DAY, startAutomation } from "../../support/automation.ts";
import { chain, step } from "../workflows/graphs.ts";

test("a step skips the mail of a topic that the contact left, and of a pause", async () => {
  const { t, ...a } = await startAutomation();
  try {
    const topicId = await t.create("/topics", { name: "Tips", default: "SUBSCRIBED" }, "data.id");
    const templateId = await a.template({ topicId });
    const notice = await a.template({ type: "TRANSACTIONAL", subject: "Notice" });
    const flow = chain(
      step("tip", "SEND_EMAIL", { templateId }),
      step("notice", "SEND_EMAIL", { templateId: notice }),
    );
    const workflow = await a.workflow(flow, { allowReentry: true });
    const run = async () => {
      await a.track("signed-up");
      return (await a.executions(workflow)).at(-1)?.details;
    };
    const sent = { emailId: expect.any(String) };
    expect(await run()).toMatchObject([null, sent, sent]);
    const contact = `/contacts/${a.contactId()}`;
    await t.call("PUT", `${contact}/topics`, { topics: [{ topicId, subscribed: false }] });
    const left = { reason: "ada@example.net is not in the topic “Tips”." };
    expect(await run()).toMatchObject([null, left, sent]);
    await t.call("PUT", `${contact}/topics`, { topics: [{ topicId, subscribed: true }] });
    const pausedUntil = new Date(t.clock.now() + DAY).toISOString();
    await t.call("PATCH", contact, { pausedUntil });
    const paused = { reason: `ada@example.net has paused marketing mail until ${pausedUntil}.` };
    expect(await run()).toMatchObject([null, paused, sent]);
  } finally {
    await t.close();
  }
});
