import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { chain, delay, step } from "./graphs.ts";

let t: TestApp;
let templateId: string;
beforeAll(async () => {
  t = await testApp();
  const template = { name: "Hi", subject: "s", body: "b", type: "MARKETING" };
  templateId = await t.create("/templates", template, "data.id");
});
afterAll(() => t.close());

describe("POST /workflows", () => {
  test("answers the whole record, 201", async () => {
    const answer = await t.call("POST", "/workflows", {
      name: "Welcome",
      description: "New customers",
      allowReentry: true,
      ...chain(step("mail", "SEND_EMAIL", { templateId }), { ...delay("wait"), name: "Two days" }),
    });
    expect(answer.status).toBe(201);
    expect(answer.at("data")).toEqual({
      id: answer.text("data.id"),
      name: "Welcome",
      description: "New customers",
      enabled: false,
      trigger: { type: "EVENT", eventName: "signed-up" },
      allowReentry: true,
      steps: [
        {
          id: "start",
          type: "TRIGGER",
          name: "TRIGGER",
          position: { x: 0, y: 0 },
          config: { eventName: "signed-up" },
        },
        {
          id: "mail",
          type: "SEND_EMAIL",
          name: "SEND_EMAIL",
          position: { x: 0, y: 0 },
          config: { templateId },
        },
        {
          id: "wait",
          type: "DELAY",
          name: "Two days",
          position: { x: 0, y: 0 },
          config: { amount: 2, unit: "days" },
        },
      ],
      transitions: [
        { id: "start-next", from: "start", to: "mail", branch: null },
        { id: "mail-next", from: "mail", to: "wait", branch: null },
      ],
      createdAt: "2026-03-02T10:00:00.000Z",
      updatedAt: "2026-03-02T10:00:00.000Z",
    });
    const again = await t.call("GET", `/workflows/${answer.text("data.id")}`);
    expect(again.body).toEqual(answer.body);
  });
});
