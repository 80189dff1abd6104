/**
 * The journey of a user who is asked why a person got no mail, and knows only the address: from the
 * palette to a sentence with the reason and the remedy. Mail leaves directly, to a name server and
 * mail servers on loopback. The tests use one page, each from where the one before ended.
 */

import { afterAll, afterEach, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, type OpenedPage } from "../support/browser.ts";
import { startDnsServer, type TestDns } from "../support/dns-server.ts";
import { waitUntilRead } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { type ScriptServer, startScript } from "../support/smtp-script.ts";
import { openAs, type PeopledServer, startWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledServer;
let dns: TestDns;
let opened: OpenedPage;
const mailServers: ScriptServer[] = [];

/** Each site has one mail server, on an address of its own. */
const SITES = [
  { domain: "works.example", address: "127.0.0.31", script: {} },
  {
    domain: "refuses.example",
    address: "127.0.0.32",
    script: { rcpt: { code: 550, text: "5.1.1 no such user here" } },
  },
  {
    domain: "paused.example",
    address: "127.0.0.33",
    script: { mail: { code: 450, text: "4.7.28 too many messages, try again in 600 seconds" } },
  },
];

beforePages(async () => {
  let port = 0;
  for (const { address, script } of SITES) {
    const started = await startScript({ address, port, script });
    port = started.port;
    mailServers.push(started);
  }
  const records = Object.fromEntries(
    SITES.flatMap(({ domain, address }) => [
      [domain, { MX: [`10 mx.${domain}`] }],
      [`mx.${domain}`, { A: [address] }],
    ]),
  );
  dns = await startDnsServer({ records });
  server = await startWithPeople([
    "--transport=direct",
    `--direct-port=${port}`,
    `--dns=127.0.0.1:${dns.server.port}`,
    "--hostname=sender.example",
    "--allow-private-addresses",
  ]);
  opened = await openAs(server, "/", { person: "editor", isLive: true });
});
afterEach(() => {
  if (hasChromium) expect(opened.problems).toEqual([]);
});
afterAll(async () => {
  if (!hasChromium) return;
  await opened.close();
  await Promise.all([server.stop(), dns.close()]);
  await Promise.all(mailServers.map((each) => each.close()));
});

const MAIL = { from: "orders@acme.example", subject: "Your order", body: "<p>Thanks.</p>" };
const sendTo = async (to: string): Promise<string> =>
  stringAt(await server.call("POST", "/v1/send", { ...MAIL, to }), "data.emails.0.email");

/** Waits until the record of a mail contains the text. */
const recordHas = (id: string, text: string) =>
  waitUntilRead(async () =>
    JSON.stringify(await server.call("GET", `/emails/${id}`)).includes(text),
  );

/** Finds a contact by the command palette. */
async function findPerson(email: string): Promise<Page> {
  const { page } = opened;
  await page.getByRole("heading", { level: 1 }).waitFor(); // Until then no key has a meaning.
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Search pages, contacts, projects and actions").fill(email);
  await page.getByRole("button", { name: email, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: email }).waitFor();
  return page;
}

const answer = (page: Page) => page.getByRole("region", { name: "Whether mail arrives" });

describe("why a person got nothing", () => {
  pageTest("mail reaches a person without obstacles", async () => {
    const email = "fine@works.example";
    await server.call("POST", "/contacts", { email });
    await recordHas(await sendTo(email), '"DELIVERED"');
    const page = await findPerson(email);
    await answer(page).getByText("Mail to this contact is delivered as usual.").waitFor();
    await answer(page).getByText("The last mail was accepted by a mail server").waitFor();
  });

  pageTest("the address is suppressed: by whom, since when, and it can be removed", async () => {
    const email = "suppressed@works.example";
    await server.call("POST", "/contacts", { email });
    await server.call("POST", "/suppressions", { email });
    const page = await findPerson(email);
    await answer(page).getByText("The address is suppressed, so no mail is sent to it.").waitFor();
    await answer(page).getByText("Somebody, or one of your programs, added this").waitFor();
    await answer(page).getByRole("link", { name: "Open the suppression" }).click();
    const drawer = page.getByRole("dialog");
    await drawer.getByText("The project sends it no mail.").waitFor();
    await drawer.getByRole("button", { name: "Remove the suppression" }).waitFor();
  });

  pageTest("the person unsubscribed: since when, how, and what is still sent", async () => {
    const email = "unsubscribed@works.example";
    const id = stringAt(await server.call("POST", "/contacts", { email }), "id");
    await server.call("PATCH", `/contacts/${id}`, { subscribed: false });
    const page = await findPerson(email);
    await answer(page).getByText("The contact is unsubscribed, so it gets no campaigns").waitFor();
    await answer(page).getByText("Since a moment ago.").waitFor();
    await answer(page).getByText("Subscribe the contact again only if the person asks").waitFor();
  });

  pageTest(
    "the mail bounced: the words of the server, what to do, and the conversation",
    async () => {
      const email = "nobody@refuses.example";
      await recordHas(await sendTo(email), '"BOUNCED"');
      const page = await findPerson(email);
      await answer(page).getByText("A mail server answered that this address does not").waitFor();
      await answer(page)
        .getByText("Answer: mx.refuses.example refused at rcpt: 550 5.1.1 no such user here.")
        .waitFor();
      await answer(page).getByText("Ask the person for the right address.").waitFor();
      await answer(page).getByRole("link", { name: "Open the suppression" }).click();
      await page.getByRole("link", { name: "Open the mail that caused it" }).click();
      await page.getByText("The address does not exist, so the project sends it no").waitFor();
      await page.getByRole("link", { name: "Transcript", exact: true }).click();
      await page.getByText("550 5.1.1 is permanent: the mailbox does not exist.").waitFor();
    },
  );

  pageTest("a mail waits behind a paused site: which site, why, and until when", async () => {
    await recordHas(await sendTo("first@paused.example"), "4.7.28");
    const email = "waits@paused.example";
    await recordHas(await sendTo(email), "SITE_PAUSED");
    const page = await findPerson(email);
    await answer(page)
      .getByText("1 mail waits for mx.paused.example, which takes no mail at present.")
      .waitFor();
    await answer(page)
      .getByText("Its servers answered: 450 4.7.28 too many messages, try again in 600 seconds.")
      .waitFor();
    await answer(page).getByText("the mail is sent when the pause is over.").waitFor();
    await answer(page)
      .getByText(/^\S.* Next attempt in .+\.$/)
      .waitFor();
    await answer(page).getByRole("link", { name: "Open the mail" }).click();
    await page.getByText("It waits for mx.paused.example").waitFor();
  });

  pageTest(
    "the person never entered the workflow: the event that is missing, and a way to start",
    async () => {
      const body = {
        name: "Welcome",
        type: "TRANSACTIONAL",
        subject: "Welcome",
        body: "<p>Hi</p>",
        from: MAIL.from,
      };
      const templateId = stringAt(await server.call("POST", "/templates", body), "data.id");
      await server.call("POST", "/workflows", {
        name: "Welcome series",
        enabled: true,
        trigger: { type: "EVENT", eventName: "signed-up" },
        steps: [{ id: "mail", type: "SEND_EMAIL", config: { templateId } }],
        transitions: [],
      });
      const email = "outside@works.example";
      await server.call("POST", "/contacts", { email });
      const page = await findPerson(email);
      const card = page.getByRole("region", { name: "Workflows" });
      await card.getByText("It starts with the event signed-up, which never").waitFor();
      await card.getByRole("button", { name: "Start Welcome series for this contact" }).click();
      const question = page.getByRole("dialog", { name: "Start Welcome series?" });
      await question.getByText(email).waitFor();
      await question.getByRole("button", { name: "Start the workflow" }).click();
      await card.getByText("Completed").waitFor();
      await card.getByText("Never entered").waitFor({ state: "detached" });
      const sent = await server.call("GET", `/emails?to=${email}`);
      expect(listAt(sent, "data.items").map((item) => stringAt(item, "subject"))).toEqual([
        "Welcome",
      ]);
    },
  );
});
