/** `POST /v1/send` with invalid input: the request is refused, and no row or event is stored. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { valueAt, listAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;
let template: string;
beforeAll(async () => {
  t = await testApp();
  const fields = { name: "n", subject: "Hi {{ name }}", body: "b", type: "TRANSACTIONAL" };
  template = await t.create("/templates", fields, "data.id");
  await t.create(
    "/contacts",
    { email: "known@example.com", data: { line: "x".repeat(999) } },
    "id",
  );
});
afterAll(() => t.close());

const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
type Violation = readonly [field: string, code: string];

async function expectRefused(fields: object, errors: readonly Violation[]): Promise<void> {
  const before = stored();
  const answer = await t.call("POST", "/v1/send", { ...mail, ...fields });
  expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  expect(stored()).toEqual(before);
}

/** The rows of the tables that a request writes. */
const stored = () =>
  ["emails", "messages", "contacts", "events", "project_usage", "idempotency_keys"].map((table) =>
    t.db.sqlite.query(`SELECT * FROM ${table}`).values(),
  );

async function expectAccepted(fields: object): Promise<void> {
  const answer = await t.call("POST", "/v1/send", { ...mail, ...fields });
  expect([answer.status, answer.at("error.errors")]).toEqual([200, undefined]);
}

describe("a character that could end a header is refused in addresses, headers and subjects", () => {
  const breaks: [name: string, text: string][] = [
    ["CRLF", "\r\nBcc: evil@example.com"],
    ["LF", "\nBcc: evil@example.com"],
    ["CR", "\rBcc: evil@example.com"],
    ["NUL", "\0"],
    ["NEL", "\u0085Bcc: x"],
    ["LINE SEPARATOR", "\u2028Bcc: x"],
    ["PARAGRAPH SEPARATOR", "\u2029Bcc: x"],
    ["DEL", "\u007f"],
  ];
  const attachment = { filename: "a.txt", content: "QQ==" };
  const inputs: [field: string, fields: (bad: string) => object][] = [
    ["to", (bad) => ({ to: `ada@example.com${bad}` })],
    ["to", (bad) => ({ to: `a${bad}da@example.com` })],
    ["to", (bad) => ({ to: `${bad}ada@example.com` })],
    ["to.1", (bad) => ({ to: ["a@example.com", `ada@example.com${bad}`] })],
    ["to.email", (bad) => ({ to: { email: `ada@exam${bad}ple.com` } })],
    ["from", (bad) => ({ from: `a@acme.test${bad}` })],
    ["from.email", (bad) => ({ from: { email: `a${bad}@acme.test` } })],
    ["subject", (bad) => ({ subject: `Hi${bad}` })],
    ["reply", (bad) => ({ reply: `r@example.com${bad}` })],
    ["headers.X-A", (bad) => ({ headers: { "X-A": `x${bad}` } })],
    [
      "attachments.0.contentType",
      (bad) => ({ attachments: [{ ...attachment, contentType: `text/plain${bad}` }] }),
    ],
    [
      "attachments.0.contentId",
      (bad) => ({ attachments: [{ ...attachment, contentId: `a${bad}` }] }),
    ],
  ];
  test.each(breaks)("%s", async (name, bad) => {
    for (const [field, fields] of inputs) {
      await expectRefused(fields(bad), [[field, "invalid_format"]]);
    }
    const answer = await t.call("POST", "/v1/send", { ...mail, headers: { [`X-A${bad}`]: "x" } });
    expect([answer.status, answer.at("error.errors.0.code")]).toEqual([422, "invalid_format"]);
    expect(answer.text("error.errors.0.field")).toStartWith("headers");
    if (name === "NUL") return; // It is refused in any JSON.
    // In data, such as a cell of a file, it becomes a blank of the subject.
    const data = { name: `Ada${bad}` };
    const rendered = `Ada${bad.replace(/^[^B]+/, " ")}`.trim();
    await expectAccepted({ subject: "{{ name }}", data });
    await expectAccepted({ template, subject: undefined, data });
    const wrapped = { name: { value: `Ada${bad}`, persistent: false } };
    await expectAccepted({ subject: "{{ data.name }}", data: wrapped });
    const subjects = t.db.sqlite
      .query<{ subject: string }, []>("SELECT subject FROM emails ORDER BY seq DESC LIMIT 3")
      .all();
    expect(subjects.map(({ subject }) => subject)).toEqual([rendered, `Hi ${rendered}`, rendered]);
  });

  test("other control characters, in the text of any header", async () => {
    for (const bad of ["\v", "\f", "\b", "\u001b", "\u0001"]) {
      const text = `A${bad}B`;
      const fields = {
        subject: text,
        headers: { "X-A": text },
      };
      const refused = ["subject", "headers.X-A"];
      await expectRefused(
        fields,
        refused.map((field) => [field, "invalid_format"]),
      );
    }
  });

  test("a header of the caller may have none of them, also where a name may", async () => {
    const named = { to: { email: "ada@example.com", name: "A\nB" }, name: "A\nB" };
    await expectRefused({ ...named, headers: { "X-A": "A\nB" } }, [
      ["headers.X-A", "invalid_format"],
    ]);
  });

  test("a body may have all of them except NUL", () =>
    expectAccepted({ body: "a\r\nb\n\t\u2028c" }));
});

describe("refuses as a header", () => {
  const owned = [
    "From",
    "To",
    "Cc",
    "Bcc",
    "Subject",
    "Date",
    "Message-ID",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
    "Content-Whatever",
    "DKIM-Signature",
    "Received",
    "Return-Path",
    "Sender",
    "ARC-Seal",
    "ARC-Message-Signature",
    "Authentication-Results",
  ];
  test("one that the service writes, in any letter case", async () => {
    for (const name of owned) {
      for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
        const errors = [[`headers.${spelled}`, "invalid_value"]] as const;
        await expectRefused({ headers: { [spelled]: "x" } }, errors);
      }
    }
  });

  test("a name that is given in two spellings", () =>
    expectRefused({ headers: { "X-A": "1", "x-a": "2" } }, [["headers.x-a", "invalid_value"]]));

  test("List-Unsubscribe fields that no mail program can use", async () => {
    await expectRefused({ headers: { "list-Unsubscribe": "" } }, [
      ["headers.list-Unsubscribe", "invalid_format"],
    ]);
    const list = "<mailto:off@acme.test>, <https://acme.test/off>";
    await expectRefused(
      { headers: { "List-Unsubscribe": list, "List-Unsubscribe-Post": "One-Click" } },
      [["headers.List-Unsubscribe-Post", "invalid_format"]],
    );
    const post = "List-Unsubscribe=One-Click";
    await expectAccepted({ headers: { "List-Unsubscribe": list, "List-Unsubscribe-Post": post } });
  });

  test("the 51st of 51 headers, but not 50 headers", async () => {
    const headers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, "x"]));
    await expectAccepted({ headers: headers(50) });
    await expectRefused({ headers: headers(51) }, [["headers", "too_big"]]);
  });

  test("a value of 999 octets, but not of 998", async () => {
    await expectAccepted({ headers: { "X-A": "x".repeat(998) } });
    await expectRefused({ headers: { "X-A": "x".repeat(999) } }, [["headers.X-A", "too_big"]]);
    await expectRefused({ headers: { "X-A": "ü".repeat(500) } }, [["headers.X-A", "too_big"]]);
  });

  test("a name that is no token", async () => {
    for (const name of ["", "X A", "X:A", "X-Ü", "X\tA"]) {
      await expectRefused({ headers: { [name]: "x" } }, [[`headers.${name}`, "invalid_format"]]);
    }
  });
});

describe("attachments", () => {
  const file = { filename: "a.bin", content: "QQ==" };
  const mebibyte = Buffer.alloc(1024 * 1024, 1);

  const sizes: [why: string, bytes: Buffer[]][] = [
    [
      "one of 10 MiB + 1",
      [Buffer.concat([...Array.from({ length: 10 }, () => mebibyte), Buffer.alloc(1)])],
    ],
    [
      "ten whose sum is 10 MiB + 1",
      [...Array.from({ length: 9 }, () => mebibyte), Buffer.alloc(mebibyte.length + 1)],
    ],
  ];
  test.each(sizes)("refuses %s", (_, bytes) => {
    const attachments = bytes.map((content) => ({ ...file, content: content.toString("base64") }));
    return expectRefused({ attachments }, [["attachments", "too_big"]]);
  });

  const bad = [
    "Q",
    "QQ",
    "QQ=",
    "QQ===",
    "Q===",
    "=",
    "====",
    "Q=Q=",
    "QQ==QQ==",
    "Q Q=",
    "QQ==\t",
    " QQ==",
    "Q_-=",
    "QÜ==",
    "😀",
    "data:text/plain;base64,QQ==",
  ];
  test("refuses text that is not base64", async () => {
    for (const content of bad) {
      const errors = [["attachments.0.content", "invalid_format"]] as const;
      await expectRefused({ attachments: [{ ...file, content }] }, errors);
    }
    for (const content of ["", "QQ==", "QUI=", "QUJD", "+/+/", "QUJD\r\nQQ==\r\n", "QQ==\n"]) {
      await expectAccepted({ attachments: [{ ...file, content }] });
    }
  });

  test("refuses an inline attachment without contentId, or with that of another one", async () => {
    const inline = { ...file, disposition: "inline" };
    await expectRefused({ attachments: [file, inline] }, [["attachments.1.contentId", "required"]]);
    await expectAccepted({ attachments: [{ ...inline, contentId: "a@b" }] });
    const twice = ["a@b", "c@d", "a@b"].map((contentId) => ({ ...inline, contentId }));
    await expectRefused({ attachments: twice }, [["attachments.2.contentId", "invalid_value"]]);
  });

  test("refuses what is no media type, and two that differ", async () => {
    const types = [
      "pdf",
      "text/",
      "/plain",
      "text plain",
      "text/plain; charset",
      "te xt/plain",
      "",
    ];
    for (const type of types) {
      for (const field of ["contentType", "type"]) {
        const errors = [[`attachments.0.${field}`, "invalid_format"]] as const;
        await expectRefused({ attachments: [{ ...file, [field]: type }] }, errors);
      }
    }
    const different = { ...file, contentType: "text/csv", type: "text/plain" };
    await expectRefused({ attachments: [different] }, [["attachments.0.type", "invalid_value"]]);
  });

  test("refuses what is no content id", async () => {
    for (const contentId of ["", "<a@b>", "a b", "ü", "x".repeat(256)]) {
      const body = { ...mail, attachments: [{ ...file, contentId }] };
      const answer = await t.call("POST", "/v1/send", body);
      const field = answer.at("error.errors.0.field");
      expect([answer.status, field]).toEqual([422, "attachments.0.contentId"]);
    }
  });
});

describe("recipients", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `r${i}@example.com`);

  test("refuses 1001 recipients", () => expectRefused({ to: many(1001) }, [["to", "too_big"]]));

  test("names two invalid addresses among 500 and sends nothing", async () => {
    const to: unknown[] = many(500);
    to[237] = "not an address";
    to[411] = { email: "r411@", name: "x" };
    await expectRefused({ to }, [
      ["to.237", "invalid_format"],
      ["to.411.email", "invalid_format"],
    ]);
  });

  test("sends nothing if the subject is invalid for one recipient among 500", async () => {
    const to = many(500);
    to[237] = "known@example.com";
    await expectRefused({ to, subject: "{{ line }}x" }, [["to.237", "too_big"]]);
  });

  test("names all recipients whose subject is empty, at most 100", async () => {
    const names = many(120).map((email) => ({ email, name: "Ada" }));
    const to = [...many(3), ...names];
    const answer = await t.call("POST", "/v1/send", { ...mail, to, subject: "{{ name }}" });
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [
        ["to.0", "too_small"],
        ["to.1", "too_small"],
        ["to.2", "too_small"],
      ],
    });
    expect(answer.at("error.errors.0.message")).toBe(
      "has a subject that is empty once it is rendered",
    );
    const reversed = { ...mail, to: [...names.slice(0, 1), ...many(120)], subject: "{{ name }}" };
    const longer = await t.call("POST", "/v1/send", reversed);
    expect(listAt(longer.body, "error.errors")).toHaveLength(100);
  });

  test("names the subject if it is at fault for all recipients alike", () =>
    expectRefused({ to: many(3), subject: "{{ name }}" }, [["subject", "too_small"]]));

  test("names each recipient if all have different faults", () =>
    expectRefused({ to: ["known@example.com", "a@example.com"], subject: "{{ line }}" }, [
      ["to.0", "too_big"],
      ["to.1", "too_small"],
    ]));
});

describe("the rendered subject", () => {
  const cases: [why: string, subject: string, data: object, code: string | null][] = [
    ["may have 998 characters", "{{ x }}", { x: "x".repeat(998) }, null],
    ["may not have 999 characters", "{{ x }}", { x: "x".repeat(999) }, "too_big"],
    [
      "may be short although its source is long",
      `${"{% comment %}x{% endcomment %}".repeat(100)}Hi`,
      {},
      null,
    ],
    ["may not be empty", "{{ nothing }}", {}, "too_small"],
  ];
  test.each(cases)("%s", (_, subject, data, code) =>
    code === null
      ? expectAccepted({ subject, data })
      : expectRefused({ subject, data }, [["subject", code]]),
  );
});

describe("templates that cannot be rendered", () => {
  test("a very long range is refused without being run", () =>
    expectRefused({ body: "{% for i in (1..99999999999) %}x{% endfor %}" }, [
      ["body", "invalid_value"],
    ]));

  test("a very long result is refused", () =>
    expectRefused(
      { body: "{% for i in (1..9000) %}{{ x }}{% endfor %}", data: { x: "x".repeat(1000) } },
      [["body", "invalid_value"]],
    ));

  test("a template that is too long for one recipient is sent to none", async () => {
    await t.create(
      "/contacts",
      { email: "heavy@example.com", data: { x: "x".repeat(60_000) } },
      "id",
    );
    const body = "{% for i in (1..200) %}{{ x }}{% endfor %}";
    await expectRefused({ to: ["a@example.com", "heavy@example.com"], body }, [
      ["to.1", "invalid_value"],
    ]);
  });
});

describe("a contact's data", () => {
  test("is refused beyond 64 KiB together with stored data, for all recipients", async () => {
    await t.create(
      "/contacts",
      { email: "full@example.com", data: { x: "x".repeat(60_000) } },
      "id",
    );
    const fields = { to: ["new@example.com", "full@example.com"], data: { y: "y".repeat(10_000) } };
    await expectRefused(fields, [["to.1", "too_big"]]);
    const answer = await t.call("POST", "/v1/send", { ...mail, ...fields });
    expect(answer.at("error.errors.0.message")).toBe(
      "has a contact whose data would take more than 64 KiB as JSON",
    );
    await expectRefused({ ...fields, to: "full@example.com" }, [["to", "too_big"]]);
  });

  test("is refused in the request if it alone takes more, whatever is stored", () =>
    expectRefused(
      { to: ["new@example.com", "full@example.com"], data: { y: "y".repeat(65_536) } },
      [["data", "too_big"]],
    ));

  test("does not include values that are not persistent", () =>
    expectAccepted({ data: { x: { value: "x".repeat(100_000), persistent: false } } }));
});

test("names all errors at once, at most 100 of them", async () => {
  const to = Array.from({ length: 1000 }, () => "nope");
  const answer = await t.call("POST", "/v1/send", { to });
  const errors = listAt(answer.body, "error.errors");
  expect(errors).toHaveLength(100);
  expect(valueAt(errors[99], "field")).toBe("to.99");
});
