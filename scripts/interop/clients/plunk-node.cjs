/** Calls with Plunk's own library; prints a line of JSON for each: what was called, and its fault or null. */

const { default: Plunk } = require("@plunk/node");

const [, , baseUrl, key, from] = process.argv;
const plunk = new Plunk(key, { baseUrl });
const to = "node@example.net";
const mail = { to, from, subject: "Hi", body: "<p>Hi</p>" };

const isText = (value) => typeof value === "string" && value !== "";

const calls = {
  "emails.send": async () => {
    const sent = await plunk.emails.send(mail);
    const [first] = sent.emails;
    return (
      sent.success && first.contact.email === to && isText(first.email) && isText(sent.timestamp)
    );
  },
  "emails.send to two": async () => {
    const sent = await plunk.emails.send({ ...mail, to: [to, "two@example.net"], name: "Acme" });
    return sent.emails.length === 2;
  },
  "events.track": async () => {
    const data = { plan: "pro", code: { value: "1", persistent: false } };
    const tracked = await plunk.events.track({ event: "signed_up", email: to, data });
    return tracked.success && isText(tracked.contact) && isText(tracked.event);
  },
  "emails.send of a faulty mail": async () => {
    const error = await plunk.emails.send({ ...mail, to: "nobody" }).catch((reason) => reason);
    return error instanceof Error && error.message.startsWith("to: ");
  },
  "events.track with a wrong key": async () => {
    const other = new Plunk("sk_wrong", { baseUrl });
    const event = { event: "signed_up", email: to };
    const error = await other.events.track(event).catch((reason) => reason);
    return error.constructor.name === "TokenError" && isText(error.message);
  },
};

async function main() {
  for (const [name, call] of Object.entries(calls)) {
    let fault = null;
    try {
      if (!(await call())) fault = "another answer";
    } catch (error) {
      fault = String(error);
    }
    console.log(JSON.stringify({ name, fault }));
  }
}

void main();
