/** Requests from the preference page that the person confirms by a link in a mail. */

import { describe, expect, test } from "bun:test";
import { removeOldRequests, shiftRequests } from "../../../src/modules/preferences/requests.ts";
import { mainOf, mailed, type Person } from "./mailed.ts";

const CONFIRM = "action=confirm";
const HOUR_MS = 60 * 60_000;

const addressForm = (newAddress: string) =>
  new URLSearchParams({ action: "address", newAddress }).toString();

/** A person of a project that can send mail. */
async function writable(): Promise<Person> {
  const person = await mailed();
  person.t.db.sqlite.run("UPDATE projects SET from_address = 'shop@acme.test' WHERE seq = ?", [
    person.t.project.seq,
  ]);
  return person;
}

/** Sends the mails that wait, and returns the subjects and links of those to an address. */
async function mailsTo({ t }: Person, to: string) {
  await t.deliver();
  const rows = t.db.sqlite
    .query<{ id: string; subject: string; variables: string }, [number, string]>(
      `SELECT id, subject, variables FROM emails
       WHERE project_seq = ? AND to_address = ? AND template_id IS NULL ORDER BY seq`,
    )
    .all(t.project.seq, to);
  return rows.map(({ id, subject, variables }) => {
    const link = /\/preference-requests\/\w+/.exec(variables)?.[0] ?? "";
    return { id, subject, link };
  });
}

const linkTo = async (person: Person, to: string): Promise<string> =>
  (await mailsTo(person, to)).at(-1)?.link ?? "";

const requestsOf = ({ t }: Person) =>
  t.db.sqlite.query("SELECT * FROM preference_requests WHERE project_seq = ?").all(t.project.seq);

const contactsOf = ({ t }: Person) =>
  t.db.sqlite
    .query<{ email: string; isSubscribed: number }, [number]>(
      `SELECT email, is_subscribed AS isSubscribed FROM contacts WHERE project_seq = ? ORDER BY seq`,
    )
    .all(t.project.seq);

describe("another address", () => {
  test("is used once both addresses have confirmed it; GET changes nothing", async () => {
    const person = await writable();
    const { letter, submit, fetchAs } = person;
    const asked = await submit(letter.manage, addressForm(" Countess@New.Example "));
    expect(mainOf(asked)).toContain("We have sent an email to ad…");
    expect(await mailsTo(person, "countess@new.example")).toEqual([]);
    const first = await linkTo(person, "ada@example.net");
    expect(mainOf(await fetchAs("GET", first))).toContain("write to countess@new.example.");
    expect(mainOf(await submit(first, CONFIRM))).toContain("Now confirm your new address");
    const second = await linkTo(person, "countess@new.example");
    expect(mainOf(await fetchAs("GET", second))).toContain("Use this address?");
    expect(contactsOf(person)).toEqual([{ email: "ada@example.net", isSubscribed: 1 }]);
    expect(mainOf(await submit(second, CONFIRM))).toContain("Your address has been changed");
    expect(contactsOf(person)).toEqual([{ email: "countess@new.example", isSubscribed: 1 }]);
    const subjects = (await mailsTo(person, "ada@example.net")).map(({ subject }) => subject);
    expect(subjects).toEqual([
      "Change your address at acme?",
      "Your address at acme has been changed",
    ]);
    expect(person.consents()).toMatchObject([{ kind: "CONFIRMED", source: "PREFERENCES" }]);
  });

  test("works once: a second press, or both links at once, change nothing more", async () => {
    const person = await writable();
    await person.submit(person.letter.manage, addressForm("countess@new.example"));
    const first = await linkTo(person, "ada@example.net");
    const pressed = await Promise.all([1, 2, 3].map(() => person.submit(first, CONFIRM)));
    expect(pressed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404]);
    expect(await mailsTo(person, "countess@new.example")).toHaveLength(1);
    expect(mainOf(await person.fetchAs("GET", first))).toContain("This link has expired");
  });

  test("that another contact has gets the choices of the former one, which is unsubscribed", async () => {
    const person = await writable();
    await person.t.call("POST", "/contacts", { email: "taken@new.example", subscribed: false });
    const news = await person.topic("News", { default: "UNSUBSCRIBED" });
    await person.t.call("PUT", `/contacts/${await person.contactIdOf("ada@example.net")}/topics`, {
      topics: [{ topicId: news, subscribed: true }],
    });
    const asked = await person.submit(person.letter.manage, addressForm("taken@new.example"));
    expect(mainOf(asked)).toContain("We have sent an email to ad…");
    await person.submit(await linkTo(person, "ada@example.net"), CONFIRM);
    const done = await person.submit(await linkTo(person, "taken@new.example"), CONFIRM);
    expect(mainOf(done)).toContain("Your address has been changed");
    expect(contactsOf(person)).toEqual([
      { email: "ada@example.net", isSubscribed: 0 },
      { email: "taken@new.example", isSubscribed: 1 },
    ]);
    const topics = await person.t.call(
      "GET",
      `/contacts/${await person.contactIdOf("taken@new.example")}/topics`,
    );
    expect(topics.at("data.topics.0.subscribed")).toBe(true);
  });

  test("is not taken by the owner of an address that was misspelled before", async () => {
    const person = await writable();
    const { letter, submit } = person;
    for (const name of ["contess", "countess"]) {
      await submit(letter.manage, addressForm(`${name}@new.example`));
      await submit(await linkTo(person, "ada@example.net"), CONFIRM);
    }
    await submit(letter.manage, "action=export");
    const data = await linkTo(person, "ada@example.net");
    const stranger = await linkTo(person, "contess@new.example");
    expect((await person.fetchAs("GET", stranger)).status).toBe(404);
    await submit(await linkTo(person, "countess@new.example"), CONFIRM);
    // Links in mails to the former address end too.
    for (const old of [stranger, data]) expect((await submit(old, CONFIRM)).status).toBe(404);
    expect(contactsOf(person)).toEqual([{ email: "countess@new.example", isSubscribed: 1 }]);
  });

  test("that the project corrects ends the links in mails to the former one", async () => {
    const person = await writable();
    const { letter, submit, t } = person;
    for (const action of ["export", "erase"]) {
      await submit(letter.manage, `action=${action}`);
      const link = await linkTo(person, "ada@example.net");
      expect((await person.fetchAs("GET", link)).status).toBe(200);
    }
    const links = (await mailsTo(person, "ada@example.net")).map(({ link }) => link);
    const id = await person.contactIdOf("ada@example.net");
    await t.call("PATCH", `/contacts/${id}`, { email: "ada@example.com" });
    for (const link of links.filter((one) => one !== "")) {
      expect((await submit(link, CONFIRM)).status).toBe(404);
    }
    expect(contactsOf(person).map(({ email }) => email)).toEqual(["ada@example.com"]);
  });

  test("is refused if it is none", async () => {
    const person = await writable();
    const bad = [
      "",
      "ada",
      "a@b, c@d.example",
      "a@",
      "a@b\r\nBcc: c@d.example",
      `${"x".repeat(400)}@a.example`,
    ];
    for (const address of bad) {
      const refused = await person.submit(person.letter.manage, addressForm(address));
      expect([address, refused.status]).toEqual([address, 400]);
      expect(mainOf(refused)).toContain("Enter a complete email address");
    }
    expect(await mailsTo(person, "ada@example.net")).toEqual([]);
  });

  test("is asked for once an hour, and at most three addresses; a newer one replaces the earlier", async () => {
    const person = await writable();
    const ask = async (name: string) => {
      const answer = await person.submit(person.letter.manage, addressForm(`${name}@new.example`));
      expect(mainOf(answer)).toContain("We have sent an email to ad…");
      return (await mailsTo(person, "ada@example.net")).length;
    };
    expect([await ask("a"), await ask("a"), await ask("b")]).toEqual([1, 1, 2]);
    const [old] = await mailsTo(person, "ada@example.net");
    expect((await person.fetchAs("GET", old?.link ?? "")).status).toBe(404);
    expect([await ask("c"), await ask("d")]).toEqual([3, 3]);
    person.t.clock.advance(HOUR_MS);
    expect(await ask("d")).toBe(4);
  });
});

describe("the data", () => {
  const subjectsOf = async (person: Person) =>
    (await mailsTo(person, "ada@example.net")).map(({ subject }) => subject);

  test("come by a link in a mail to the address, as a file or a page, three times", async () => {
    const person = await writable();
    const { submit, fetchAs, letter } = person;
    for (let i = 0; i < 2; i++) {
      const asked = await submit(letter.manage, "action=export");
      expect(mainOf(asked)).toContain("We have sent an email to ad…");
    }
    expect(await subjectsOf(person)).toEqual(["Your data at acme"]);
    const link = await linkTo(person, "ada@example.net");
    expect(mainOf(await fetchAs("GET", link))).toContain("Download your data?");
    const file = await submit(link, CONFIRM);
    expect(file.headers.get("content-disposition")).toStartWith("attachment");
    expect(file.at("contact.email")).toBe("ada@example.net");
    const { t } = person;
    await t.call("PATCH", `/contacts/${await person.contactId()}`, { data: { language: "nl" } });
    const page = await submit(link, "action=view");
    expect(page.text("")).toContain("Opgeslagen gegevens over ada@example.net");
    expect(page.headers.get("content-type")).toStartWith("text/html");
    expect(page.text("")).toContain("ada@example.net");
    const ends = [await submit(link, CONFIRM), await submit(link, CONFIRM)];
    expect(ends.map(({ status }) => status)).toEqual([200, 404]);
  });

  test("are erased by the button behind a mail, with a receipt, and old links stay friendly", async () => {
    const person = await writable();
    const { submit, fetchAs, letter, t } = person;
    await submit(letter.manage, "action=erase");
    expect(await subjectsOf(person)).toEqual(["Delete your data at acme?"]);
    const link = await linkTo(person, "ada@example.net");
    expect(mainOf(await fetchAs("GET", link))).toContain("This cannot be undone.");
    expect(contactsOf(person)).toHaveLength(1);
    const pressed = await Promise.all([1, 2].map(() => submit(link, CONFIRM)));
    expect(pressed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
    const done = mainOf(pressed.find(({ status }) => status === 200) ?? "");
    const receipt = t.db.sqlite
      .query<{ id: string; kind: string }, [number]>(
        "SELECT id, actor_kind AS kind FROM erasures WHERE project_seq = ?",
      )
      .get(t.project.seq);
    expect(receipt?.kind).toBe("PERSON");
    expect(done).toContain(receipt?.id ?? "no receipt");
    expect([contactsOf(person), requestsOf(person)]).toEqual([[], []]);
    const old = await fetchAs("GET", letter.manage);
    expect([old.status, mainOf(old)]).toEqual([200, expect.stringContaining("no longer works")]);
    expect((await submit(letter.manage, "action=export")).status).toBe(200);
  });
});

describe("the link of a mail", () => {
  test("works for a day, and its row is removed later", async () => {
    const person = await writable();
    await person.submit(person.letter.manage, addressForm("countess@new.example"));
    const link = await linkTo(person, "ada@example.net");
    person.t.clock.advance(24 * HOUR_MS - 1);
    expect((await person.fetchAs("GET", link)).status).toBe(200);
    person.t.clock.advance(1);
    const late = await person.submit(link, CONFIRM);
    expect([late.status, mainOf(late)]).toEqual([404, expect.stringContaining("has expired")]);
    person.t.clock.advance(1);
    await person.t.app.writer.write(() => removeOldRequests(person.t.app.app));
    expect(requestsOf(person)).toEqual([]);
    expect(contactsOf(person)).toEqual([{ email: "ada@example.net", isSubscribed: 1 }]);
  });

  test("goes on after a step of the clock", async () => {
    const person = await writable();
    await person.submit(person.letter.manage, "action=export");
    const byMs = 30 * 24 * HOUR_MS;
    await person.t.app.writer.write(() => shiftRequests(person.t.app.app, { byMs, after: 0 }));
    person.t.clock.advance(byMs);
    await person.submit(person.letter.manage, "action=export");
    expect(await mailsTo(person, "ada@example.net")).toHaveLength(1);
    expect((await person.fetchAs("GET", await linkTo(person, "ada@example.net"))).status).toBe(200);
  });

  test("is not in the database, and a forged one is refused", async () => {
    const person = await writable();
    await person.submit(person.letter.manage, addressForm("countess@new.example"));
    const link = await linkTo(person, "ada@example.net");
    const token = link.slice(link.lastIndexOf("/") + 1);
    expect(JSON.stringify(requestsOf(person))).not.toContain(token);
    for (const forged of [
      `${link}A`,
      link.slice(0, -1),
      "/preference-requests/x",
      "/preference-requests/%27",
    ]) {
      expect([forged, (await person.submit(forged, CONFIRM)).status]).toEqual([forged, 404]);
    }
    for (const body of ["", "action=save", "x".repeat(9_000)]) {
      expect((await person.submit(link, body)).status).toBeGreaterThanOrEqual(400);
    }
    expect((await person.fetchAs("GET", link)).status).toBe(200);
  });

  test("ends with its contact", async () => {
    const person = await writable();
    await person.submit(person.letter.manage, addressForm("countess@new.example"));
    const link = await linkTo(person, "ada@example.net");
    await person.t.call("DELETE", `/contacts/${await person.contactId()}`);
    expect((await person.submit(link, CONFIRM)).status).toBe(404);
  });
});

describe("a crash", () => {
  /** Calls a form while one of its writes fails, as if the process had died before the commit. */
  async function failing(person: Person, on: string, form: [path: string, body: string]) {
    const { sqlite } = person.t.db;
    sqlite.run(`CREATE TEMP TRIGGER dies BEFORE ${on} BEGIN SELECT RAISE(ABORT, 'no'); END`);
    try {
      expect((await person.submit(...form)).status).toBe(500);
    } finally {
      sqlite.run("DROP TRIGGER dies");
    }
  }

  test("between the request and its mail leaves neither, and the person can ask again", async () => {
    const person = await writable();
    const form: [string, string] = [person.letter.manage, addressForm("countess@new.example")];
    for (const table of ["emails", "preference_requests"]) {
      await failing(person, `INSERT ON ${table}`, form);
      expect([await mailsTo(person, "ada@example.net"), requestsOf(person)]).toEqual([[], []]);
    }
    await person.submit(...form);
    expect(await mailsTo(person, "ada@example.net")).toHaveLength(1);
  });

  test("while the address is changed leaves the link usable, and sends no notice", async () => {
    const person = await writable();
    await person.submit(person.letter.manage, addressForm("countess@new.example"));
    await person.submit(await linkTo(person, "ada@example.net"), CONFIRM);
    const link = await linkTo(person, "countess@new.example");
    await failing(person, "UPDATE ON contacts", [link, CONFIRM]);
    expect(contactsOf(person)).toEqual([{ email: "ada@example.net", isSubscribed: 1 }]);
    expect(await mailsTo(person, "ada@example.net")).toHaveLength(1);
    expect((await person.submit(link, CONFIRM)).status).toBe(200);
    expect(contactsOf(person)).toEqual([{ email: "countess@new.example", isSubscribed: 1 }]);
    expect(await mailsTo(person, "ada@example.net")).toHaveLength(2);
  });
});

test("a suppressed address gets no mail, and the page says the same", async () => {
  const person = await writable();
  await person.t.call("POST", "/suppressions", { email: "ada@example.net" });
  const asked = await person.submit(person.letter.manage, addressForm("countess@new.example"));
  expect(mainOf(asked)).toContain("We have sent an email to ad…");
  expect(await mailsTo(person, "ada@example.net")).toEqual([]);
  expect(requestsOf(person)).toEqual([]);
});

const newAddresses: [what: string, prepare: (person: Person) => Promise<unknown>][] = [
  ["is unknown", async () => undefined],
  ["is suppressed", ({ t }) => t.call("POST", "/suppressions", { email: "countess@new.example" })],
  [
    "was asked less than an hour ago",
    async (person) => {
      await person.submit(person.letter.manage, addressForm("countess@new.example"));
      await person.submit(await linkTo(person, "ada@example.net"), CONFIRM);
      await person.t.deliver();
    },
  ],
];

describe.each(newAddresses)("a new address that %s", (_, prepare) => {
  /** The link that asks the present address, while the new one is in this state. */
  async function asked(): Promise<{ person: Person; link: string }> {
    const person = await writable();
    await prepare(person);
    person.t.db.sqlite.run(
      "UPDATE preference_requests SET created_at = created_at - ? WHERE kind = 'ADDRESS'",
      [HOUR_MS],
    );
    await person.submit(person.letter.manage, addressForm("countess@new.example"));
    return { person, link: await linkTo(person, "ada@example.net") };
  }

  test("gets the answer of each other one, and the change is written", async () => {
    const { person, link } = await asked();
    const { sqlite } = person.t.db;
    const written = () => sqlite.query("SELECT total_changes() AS n").get();
    const before = written();
    expect(mainOf(await person.submit(link, CONFIRM))).toContain("Now confirm your new address");
    expect(written()).not.toEqual(before);
    expect((await person.submit(link, CONFIRM)).status).toBe(404);
  });

  test("is refused as each other one while the project can queue no mail", async () => {
    const { person, link } = await asked();
    person.t.db.sqlite.run("UPDATE projects SET from_address = NULL WHERE seq = ?", [
      person.t.project.seq,
    ]);
    expect((await person.submit(link, CONFIRM)).status).toBe(409);
    expect((await person.fetchAs("GET", link)).status).toBe(200);
  });
});

test("a project without a sender says that it is not possible, and stores nothing", async () => {
  const person = await mailed();
  const refused = await person.submit(person.letter.manage, addressForm("countess@new.example"));
  expect(refused.status).toBe(409);
  expect(mainOf(refused)).toContain("Please reply to an email from acme.");
  expect(requestsOf(person)).toEqual([]);
});
