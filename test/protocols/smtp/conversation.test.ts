import { expect, test } from "bun:test";
import {
  compactJson,
  type Conversation,
  readConversations,
} from "../../../src/protocols/smtp/conversation.ts";

const CONVERSATIONS: Conversation[] = [
  {
    host: "mx.example.net",
    address: "192.0.2.1",
    port: 25,
    tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", verified: true },
    reused: true,
    steps: [
      {
        step: "mail",
        command: "MAIL FROM:<a@b>",
        code: 250,
        enhanced: "2.1.0",
        text: "Ok",
        ms: 0.3,
      },
      { step: "dot", command: ".", code: null, enhanced: null, text: "no answer", ms: 12 },
    ],
  },
  { host: "b.test", address: null, port: 587, tls: null, reused: false, steps: [] },
];

test.each([
  ["compact", compactJson(CONVERSATIONS)],
  ["as objects, as older versions stored them", JSON.stringify(CONVERSATIONS)],
])("stored conversations are read: %s", (_, json) => {
  expect(readConversations(json)).toEqual(CONVERSATIONS);
});

test("an ordinary conversation takes at most two thirds of the room", () => {
  const ordinary = CONVERSATIONS.slice(0, 1).map(({ steps, ...rest }) => ({
    ...rest,
    steps: [...steps, ...steps],
  }));
  expect(compactJson(ordinary).length).toBeLessThan(JSON.stringify(ordinary).length / 1.5);
});
